import type { Said } from "./kubectl.ts";

/** What `kubectl auth can-i --list` is made of: SelfSubjectRulesReviews by impersonation. */

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Each permission on a line of its own: `<verb> <resource>.<group>[/<name>]`. */
export const flat = (rules: readonly Rule[]): string[] => [
  ...new Set(
    rules
      .flatMap(({ apiGroups, resources, resourceNames = [], verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((each) =>
            verbs.flatMap((verb) =>
              resourceNames.length === 0
                ? `${verb} ${each}.${group}`
                : resourceNames.map((name) => `${verb} ${each}.${group}/${name}`),
            ),
          ),
        ),
      )
      .sort(),
  ),
];

/** The same by resource, for a record that people read. */
export function byResource(rights: readonly string[]): Record<string, string> {
  const verbs = new Map<string, string[]>();
  for (const right of rights) {
    const [verb = "", resource = ""] = right.split(" ");
    verbs.set(resource, [...(verbs.get(resource) ?? []), verb]);
  }
  return Object.fromEntries([...verbs].sort().map(([resource, each]) => [resource, each.sort().join(" ")]));
}

const reviews = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

export const rightsOf = ({ run }: { run: (args: readonly string[], input?: object) => Said }) => ({
  /** Everything that a service account may do in a namespace, on resources. */
  of(user: string, namespace: string): string[] {
    const [, , own = ""] = user.split(":");
    const groups = ["system:authenticated", "system:serviceaccounts", `system:serviceaccounts:${own}`];
    const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } };
    const as = [`--as=${user}`, ...groups.map((group) => `--as-group=${group}`)];
    const { ok, text } = run(["create", "--raw", reviews, ...as, "--filename", "-"], review);
    if (!ok) throw new Error(text);
    const { resourceRules, incomplete } = JSON.parse(text).status;
    if (incomplete) throw new Error(`the rules of ${user} are incomplete: ${text}`);
    return flat(resourceRules);
  },
});
