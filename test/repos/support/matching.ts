import { groupOf } from "../../../cli/render/files.ts";
import { pluralOf } from "../../../functions/spoke/kinds.ts";
import type { Manifest } from "./kustomize.ts";

/** Which requests an API server shows to an admission policy (Kubernetes documentation, "Matching requests: matchConstraints"). */

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE";

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator?: string }[];
}

const among = (values: readonly string[] = [], value: string): boolean =>
  values.some((each) => each === "*" || each === value);

function isSelected(selector: Selector, labels: Readonly<Record<string, string>>): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (!Object.entries(matchLabels).every(([key, value]) => labels[key] === value)) return false;
  return matchExpressions.every(({ key, operator }) => {
    if (operator !== "Exists") throw new Error(`the operator ${operator} of a selector is not known here`);
    return key in labels;
  });
}

/** Whether the policy judges this operation on the object, in a namespace with these labels. */
export function isJudged(
  { spec }: Manifest,
  object: Pick<Manifest, "apiVersion" | "kind"> & { readonly metadata?: { readonly name?: string } },
  operation: AdmissionOperation,
  namespaceLabels: Readonly<Record<string, string>>,
): boolean {
  const { namespaceSelector = {}, resourceRules = [] } = spec.matchConstraints;
  const version = object.apiVersion.split("/").at(-1) as string;
  // A subresource: requests go to the kind whose token it is.
  const isToken = object.kind === "TokenRequest";
  const isNamed = (resourceRules as Rule[]).some(
    ({ apiGroups, apiVersions, operations, resources, resourceNames }) =>
      among(apiGroups, isToken ? "" : groupOf(object)) &&
      among(apiVersions, version) &&
      among(operations, operation) &&
      among(resources, isToken ? "serviceaccounts/token" : pluralOf(object.kind)) &&
      (resourceNames === undefined || resourceNames.includes(object.metadata?.name ?? "")),
  );
  return isNamed && isSelected(namespaceSelector, namespaceLabels);
}
