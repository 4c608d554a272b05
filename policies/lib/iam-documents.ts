/** IAM policy documents, as AWS accepts them: a list may be a single value, and every part may be missing. */
import { glob, list, parseJson, record, text, texts } from "./values.ts";

export interface Statement {
  readonly sid: string;
  readonly allows: boolean;
  readonly actions: readonly string[];
  readonly notActions: readonly string[];
  readonly resources: readonly string[];
  readonly notResources: readonly string[];
  /** `*` for everybody, or values by kind: AWS, Federated, Service. */
  readonly principals: Readonly<Record<string, readonly string[]>>;
  /** Values by operator and condition key. */
  readonly conditions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

/** A policy document with the name that people know it by. */
export interface NamedDocument {
  readonly name: string;
  /** JSON text. */
  readonly document: unknown;
}

const byDocument = [
  "aws:iam/policy:Policy",
  "aws:iam/rolePolicy:RolePolicy",
  "aws:iam/userPolicy:UserPolicy",
  "aws:iam/groupPolicy:GroupPolicy",
];

/** Types of the resources that hold rights of identities. */
export const identityPolicyTypes = [...byDocument, "aws:iam/role:Role"];

/** The documents that give rights in a resource of {@link identityPolicyTypes}. Reading one may meet an unknown value. */
export function identityPolicies(type: string, props: Readonly<Record<string, unknown>>): (() => NamedDocument)[] {
  if (byDocument.includes(type)) return [() => ({ name: text(props["name"]), document: props["policy"] })];
  const inline = list(props["inlinePolicies"]);
  return Array.from({ length: inline.length }, (_, index) => () => {
    const { name, policy } = record(inline[index]);
    return { name: text(name), document: policy };
  });
}

/** The statements of a document; undefined when it is not a JSON object with statements. */
export function statements(document: unknown): Statement[] | undefined {
  const parsed = typeof document === "string" ? parseJson(document) : document;
  const found = list(record(parsed)["Statement"]);
  return found.length === 0 ? undefined : found.map(readStatement);
}

function readStatement(value: unknown): Statement {
  const statement = record(value);
  return {
    sid: text(statement["Sid"]),
    allows: statement["Effect"] === "Allow",
    actions: texts(statement["Action"]),
    notActions: texts(statement["NotAction"]),
    resources: texts(statement["Resource"]),
    notResources: texts(statement["NotResource"]),
    principals:
      typeof statement["Principal"] === "string"
        ? { AWS: texts(statement["Principal"]) }
        : lists(statement["Principal"]),
    conditions: Object.fromEntries(
      Object.entries(record(statement["Condition"])).map(([operator, keys]) => [operator, lists(keys)]),
    ),
  };
}

const lists = (value: unknown): Record<string, string[]> =>
  Object.fromEntries(Object.entries(record(value)).map(([key, members]) => [key, texts(members)]));

export const hasWildcard = (value: string): boolean => /[*?]/.test(value);

/** Whether a resource pattern names everything of a kind: `*`, `arn:…:role/*`, `arn:…:key/*`. A prefix of a name is narrow enough. */
export function isEverything(resource: string): boolean {
  const name = resource.startsWith("arn:") ? resource.split(":").slice(5).join(":") : resource;
  return /^([A-Za-z-]+[/:])?[*?]+$/.test(name);
}

/** Whether a statement covers an action, whatever its resources and conditions are. IAM ignores the case of actions. */
export function coversAction({ actions, notActions }: Statement, action: string): boolean {
  const matches = (pattern: string) => glob(pattern.toLowerCase())(action.toLowerCase());
  return notActions.length > 0 ? !notActions.some(matches) : actions.some(matches);
}

/** Whether a statement covers a resource. */
export function coversResource({ resources, notResources }: Statement, arn: string): boolean {
  const matches = (pattern: string) => glob(pattern)(arn);
  return notResources.length > 0 ? !notResources.some(matches) : resources.some(matches);
}

/** A service account as the subject of a web identity token. */
export const serviceAccountSubject = /^system:serviceaccount:([^:*?]+):([^:*?]+)$/;

/** An IAM OIDC provider that a statement trusts: its issuer, without `https://`. */
export function trustedIssuers({ allows, principals }: Statement): string[] {
  const federated = allows ? (principals["Federated"] ?? []) : [];
  return federated.flatMap((arn) => (arn.includes(":oidc-provider/") ? [arn.split(":oidc-provider/")[1] ?? ""] : []));
}
