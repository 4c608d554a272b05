/** Roles, service accounts and secrets of a whole stack. */
import type { PolicyResource } from "@pulumi/policy";
import {
  coversAction,
  coversResource,
  identityPolicies,
  type Statement,
  serviceAccountSubject,
  statements,
  trustedIssuers,
} from "./iam-documents.ts";
import { known } from "./rule.ts";
import { list, record, text } from "./values.ts";

export const ofType = (resources: readonly PolicyResource[], type: string): PolicyResource[] =>
  resources.filter((resource) => resource.type === type);

/** The statements by which web identities assume a role; empty for another role. */
const webTrust = (role: PolicyResource): Statement[] =>
  (statements(role.props["assumeRolePolicy"]) ?? []).filter((statement) => trustedIssuers(statement).length > 0);

/** Service accounts, `namespace/name`, that may assume a role; undefined when the role is for no web identity. */
export function trustedAccounts(role: PolicyResource): string[] | undefined {
  const trust = webTrust(role);
  if (trust.length === 0) return undefined;
  const keys = trust.flatMap(({ conditions }) =>
    Object.values(conditions).flatMap((condition) => Object.entries(condition)),
  );
  const subjects = keys.flatMap(([key, values]) => (key.endsWith(":sub") ? values : []));
  return [...new Set(subjects)].flatMap((subject) => {
    const [, namespace, name] = serviceAccountSubject.exec(subject) ?? [];
    return namespace && name ? [`${namespace}/${name}`] : [];
  });
}

/** A place where a service account is bound to a role. */
export interface Binding {
  readonly account: string;
  readonly roleArn: string;
  readonly at: PolicyResource;
}

const serviceAccount = "kubernetes:core/v1:ServiceAccount";
const roleSuffix = "_iam_role_arn";

/** All bindings: annotations of service accounts, and the add-ons in cluster secrets. `complete` is false while some are not known. */
export function bindings(resources: readonly PolicyResource[]): { found: Binding[]; complete: boolean } {
  const binders = [...ofType(resources, serviceAccount), ...ofType(resources, "kubernetes:core/v1:Secret")];
  const read = binders.map((resource) => known(() => bindingsIn(resource))?.value);
  return { found: read.flatMap((some) => some ?? []), complete: !read.includes(undefined) };
}

function bindingsIn(at: PolicyResource): Binding[] | undefined {
  // A preview may know nothing at all of an object in a cluster that does not exist yet.
  if (at.props["metadata"] === undefined) return undefined;
  const { namespace, name, annotations } = record(at.props["metadata"]);
  if (at.type === serviceAccount) {
    const roleArn = text(record(annotations)["eks.amazonaws.com/role-arn"]);
    return roleArn ? [{ account: `${text(namespace)}/${text(name)}`, roleArn, at }] : [];
  }
  const data = record(at.props["data"]);
  const member = (key: string) => Buffer.from(text(data[key]), "base64").toString("utf8");
  const addons = Object.keys(data).filter((key) => key.endsWith(roleSuffix));
  return addons
    .map((key) => key.slice(0, -roleSuffix.length))
    .map((addon) => ({
      account: `${member(`${addon}_namespace`)}/${member(`${addon}_service_account`)}`,
      roleArn: member(`${addon}${roleSuffix}`),
      at,
    }));
}

/** Everything that a role may do: its inline policies, and those of the stack that are attached to it. */
function rightsOf(role: PolicyResource, resources: readonly PolicyResource[]): Statement[] {
  const name = text(role.props["name"]);
  const inline = ofType(resources, "aws:iam/rolePolicy:RolePolicy").filter(({ props }) => props["role"] === name);
  const attachments = ofType(resources, "aws:iam/rolePolicyAttachment:RolePolicyAttachment").filter(
    ({ props }) => props["role"] === name,
  );
  const attached = ofType(resources, "aws:iam/policy:Policy").filter((policy) =>
    attachments.some(({ props }) => props["policyArn"] === policy.props["arn"]),
  );
  return [role, ...inline, ...attached]
    .flatMap(({ type, props }) => identityPolicies(type, props))
    .flatMap((read) => statements(read().document) ?? [])
    .filter(({ allows }) => allows);
}

/** Whether a role may read the value of a secret, whatever the conditions are. */
export function mayRead(role: PolicyResource, secret: PolicyResource, resources: readonly PolicyResource[]): boolean {
  const arn = text(secret.props["arn"]);
  return rightsOf(role, resources).some(
    (statement) => coversAction(statement, "secretsmanager:GetSecretValue") && coversResource(statement, arn),
  );
}

/** An ExternalSecret that reads a secret as a service account. */
export interface Reading {
  /** Name or ARN of the secret. */
  readonly secret: string;
  /** `namespace/name`; undefined when the store names none. */
  readonly account: string | undefined;
  readonly at: PolicyResource;
}

const externalSecrets = /^kubernetes:external-secrets\.io\/[^:]+:(ExternalSecret|SecretStore|ClusterSecretStore)$/;

/** What the ExternalSecrets of a stack read. `complete` is false while some of it is not known. */
export function readings(resources: readonly PolicyResource[]): { found: Reading[]; complete: boolean } {
  const objects = resources.filter(({ type }) => externalSecrets.test(type));
  const read = objects
    .filter(({ type }) => type.endsWith(":ExternalSecret"))
    .map((at) => known(() => readingsOf(at, objects))?.value);
  return { found: read.flatMap((some) => some ?? []), complete: !read.includes(undefined) };
}

function readingsOf(at: PolicyResource, objects: readonly PolicyResource[]): Reading[] | undefined {
  if (objects.some(({ props }) => props["metadata"] === undefined)) return undefined;
  const spec = record(at.props["spec"]);
  const keys = [
    ...list(spec["dataFrom"]).map((source) => record(record(source)["extract"])["key"]),
    ...list(spec["data"]).map((member) => record(record(member)["remoteRef"])["key"]),
  ];
  const account = storeAccount(
    record(spec["secretStoreRef"]),
    text(record(at.props["metadata"])["namespace"]),
    objects,
  );
  return [...new Set(keys.map(text))].filter((secret) => secret !== "").map((secret) => ({ secret, account, at }));
}

/** The service account with which a store reads. */
function storeAccount(
  reference: Readonly<Record<string, unknown>>,
  namespace: string,
  objects: readonly PolicyResource[],
): string | undefined {
  const kind = text(reference["kind"]) || "SecretStore";
  const store = objects.find(({ type, props }) => {
    const metadata = record(props["metadata"]);
    const near = kind === "ClusterSecretStore" || metadata["namespace"] === namespace;
    return type.endsWith(`:${kind}`) && metadata["name"] === reference["name"] && near;
  });
  const aws = record(record(record(store?.props["spec"])["provider"])["aws"]);
  const { name, namespace: own } = record(record(record(aws["auth"])["jwt"])["serviceAccountRef"]);
  return name === undefined ? undefined : `${text(own) || namespace}/${text(name)}`;
}
