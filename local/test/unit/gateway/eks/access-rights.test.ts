import type { V1ClusterRole, V1ClusterRoleBinding } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { ACCESS_POLICIES, type AccessPolicyName } from "../../../../gateway/eks/access-policy-rules.ts";
import { standingAccessObjects } from "../../../../gateway/eks/cluster-objects/access.ts";

const objects = standingAccessObjects();
const roles = objects.filter(({ kind }) => kind === "ClusterRole") as V1ClusterRole[];
const bindings = objects.filter(({ kind }) => kind === "ClusterRoleBinding") as V1ClusterRoleBinding[];

/** The rules of the role that an association with the whole cluster gives. */
function rulesOf(policy: AccessPolicyName) {
  const binding = bindings.find(({ subjects }) => subjects?.[0]?.name === `eks:access-policy:${policy}:cluster`);
  return roles.find(({ metadata }) => metadata?.name === binding?.roleRef.name)?.rules ?? [];
}

const has = (list: readonly string[] | undefined, item: string) => list?.includes(item) || list?.includes("*");

/** Which of the verbs a policy allows for `resource` or `resource.group`. */
const allowed = (policy: AccessPolicyName, kind: string, verbs: readonly string[]): string[] => {
  const [resource = "", ...group] = kind.split(".");
  const rules = rulesOf(policy).filter((rule) => has(rule.apiGroups, group.join(".")) && has(rule.resources, resource));
  return verbs.filter((verb) => rules.some((rule) => has(rule.verbs, verb)));
};

const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const READ = VERBS.slice(0, 3);
const CHANGE = VERBS.slice(3);
const REMOVE = VERBS.slice(6);

const ROLES = "roles.rbac.authorization.k8s.io";
const BINDINGS = "rolebindings.rbac.authorization.k8s.io";

describe("access policies allow what AWS lists", () => {
  test.each<[AccessPolicyName, string, readonly string[]]>([
    ["AmazonEKSViewPolicy", "pods", READ],
    ["AmazonEKSViewPolicy", "pods/log", READ],
    ["AmazonEKSViewPolicy", "deployments.apps", READ],
    ["AmazonEKSViewPolicy", "networkpolicies.networking.k8s.io", READ],
    ["AmazonEKSViewPolicy", "secrets", []],
    ["AmazonEKSViewPolicy", ROLES, []],
    ["AmazonEKSEditPolicy", "secrets", VERBS],
    ["AmazonEKSEditPolicy", "pods/exec", VERBS],
    ["AmazonEKSEditPolicy", "networkpolicies.networking.k8s.io", VERBS],
    ["AmazonEKSEditPolicy", "endpoints", READ],
    ["AmazonEKSEditPolicy", "resourcequotas", READ],
    ["AmazonEKSEditPolicy", "namespaces", READ],
    ["AmazonEKSEditPolicy", ROLES, []],
    ["AmazonEKSAdminPolicy", "deployments.apps", VERBS],
    ["AmazonEKSAdminPolicy", "resourcequotas", READ],
    ["AmazonEKSAdminPolicy", "namespaces", READ],
    ["AmazonEKSAdminPolicy", "localsubjectaccessreviews.authorization.k8s.io", ["create"]],
    ["AmazonEKSAdminViewPolicy", "secrets", READ],
    ["AmazonEKSAdminViewPolicy", "nodes", READ],
    ["AmazonEKSClusterAdminPolicy", "nodes", VERBS],
  ])("%s for %s", (policy, kind, verbs) => {
    expect(allowed(policy, kind, VERBS)).toEqual(verbs);
  });

  // Counted in the tables of the user guide: verbs of each kind, each once.
  test.each<[AccessPolicyName, number]>([
    ["AmazonEKSViewPolicy", 168],
    ["AmazonEKSEditPolicy", 372],
    ["AmazonEKSAdminPolicy", 389],
  ])("%s: %i permissions in all", (policy, count) => {
    const permissions = ACCESS_POLICIES[policy].flatMap(({ apiGroups = [], resources = [], verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${apiGroups.join()}`)),
    );
    expect(new Set(permissions).size).toBe(count);
  });

  test("to act as a ServiceAccount with edit and admin only", () => {
    const impersonating = (policy: AccessPolicyName) => allowed(policy, "serviceaccounts", ["impersonate"]);
    expect(impersonating("AmazonEKSViewPolicy")).toEqual([]);
    expect(impersonating("AmazonEKSEditPolicy")).toEqual(["impersonate"]);
    expect(impersonating("AmazonEKSAdminPolicy")).toEqual(["impersonate"]);
    expect(allowed("AmazonEKSAdminPolicy", "users", ["impersonate"])).toEqual([]);
  });

  test.each(["create", "get"])("to evict no pod (%s), unlike Kubernetes' own edit and admin", (verb) => {
    expect(allowed("AmazonEKSAdminPolicy", "pods/eviction", [verb])).toEqual([]);
  });

  test("and URLs that are no resource with AmazonEKSClusterAdminPolicy only", () => {
    const withUrls = roles.filter(({ rules = [] }) =>
      rules.some(({ nonResourceURLs }) => nonResourceURLs !== undefined),
    );
    expect(withUrls).toEqual([expect.objectContaining({ rules: rulesOf("AmazonEKSClusterAdminPolicy") })]);
  });
});

test("kinds of other projects are known to the two policies with every kind only, whatever ClusterRoles aggregate", () => {
  const kind = "kustomizations.kustomize.toolkit.fluxcd.io";
  for (const policy of ["AmazonEKSViewPolicy", "AmazonEKSEditPolicy", "AmazonEKSAdminPolicy"] as const)
    expect(allowed(policy, kind, VERBS), policy).toEqual([]);
  expect(allowed("AmazonEKSAdminViewPolicy", kind, VERBS)).toEqual(READ);
  expect(allowed("AmazonEKSClusterAdminPolicy", kind, VERBS)).toEqual(VERBS);
});

test("an administrator of a namespace reads and removes Roles and RoleBindings, and hands out none, as the API server of EKS has it", () => {
  for (const kind of [ROLES, BINDINGS]) {
    expect(allowed("AmazonEKSAdminPolicy", kind, VERBS)).toEqual([...READ, ...REMOVE]);
    expect(allowed("AmazonEKSAdminPolicy", kind, ["bind", "escalate"])).toEqual([]);
    expect(allowed("AmazonEKSClusterAdminPolicy", kind, [...CHANGE, "bind", "escalate"])).toHaveLength(7);
  }
});
