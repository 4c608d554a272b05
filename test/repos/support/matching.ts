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
}

interface Selector {
  readonly matchExpressions?: readonly { readonly key: string; readonly operator?: string }[];
}

const among = (values: readonly string[] = [], value: string): boolean =>
  values.some((each) => each === "*" || each === value);

function isSelected(selector: Selector, labels: Readonly<Record<string, string>>): boolean {
  const { matchExpressions = [] } = selector;
  return matchExpressions.every(({ key, operator }) => {
    if (operator !== "Exists") throw new Error(`the operator ${operator} of a selector is not known here`);
    return key in labels;
  });
}

/** Whether the policy judges this operation on the object, in a namespace with these labels. */
export function isJudged(
  { spec }: Manifest,
  object: Pick<Manifest, "apiVersion" | "kind">,
  operation: AdmissionOperation,
  namespaceLabels: Readonly<Record<string, string>>,
): boolean {
  const { namespaceSelector = {}, resourceRules = [] } = spec.matchConstraints;
  const version = object.apiVersion.split("/").at(-1) as string;
  const isNamed = (resourceRules as Rule[]).some(
    ({ apiGroups, apiVersions, operations, resources }) =>
      among(apiGroups, groupOf(object)) &&
      among(apiVersions, version) &&
      among(operations, operation) &&
      among(resources, pluralOf(object.kind)),
  );
  return isNamed && isSelected(namespaceSelector, namespaceLabels);
}
