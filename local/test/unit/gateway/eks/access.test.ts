import { describe, expect, test } from "vitest";
import { inScope } from "../../../../gateway/eks/cluster-objects/access.ts";
import { corefile } from "../../../../gateway/eks/cluster-objects/coredns.ts";
import { eks, roleArn, useEks, withCluster } from "./fakes.ts";

useEks(withCluster);

const ENTRY = `/clusters/hub/access-entries/${encodeURIComponent(roleArn("viewer"))}`;
const VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy";
const create = (over: object = {}) =>
  eks.call("POST", "/clusters/hub/access-entries", { principalArn: roleArn("viewer"), ...over });

describe("access entries", () => {
  test("have EKS's default user name, and keep the groups and names that they are given", async () => {
    expect((await create()).body.accessEntry).toMatchObject({
      type: "STANDARD",
      kubernetesGroups: [],
      username: "arn:aws:sts::000000000000:assumed-role/viewer/{{SessionName}}",
    });
    const { body } = await eks.call("POST", ENTRY, { kubernetesGroups: ["viewers"], username: "view:{{SessionName}}" });
    expect(body.accessEntry).toMatchObject({ kubernetesGroups: ["viewers"], username: "view:{{SessionName}}" });
    expect((await create()).error).toBe("ResourceInUseException");
    expect((await eks.call("DELETE", ENTRY)).status).toBe(200);
    expect((await eks.call("GET", ENTRY)).error).toBe("ResourceNotFoundException");
  });

  test.each([
    ["system:masters", { kubernetesGroups: ["system:masters"] }],
    [
      "a group that stands for an access policy",
      { kubernetesGroups: ["eks:access-policy:AmazonEKSClusterAdminPolicy:cluster"] },
    ],
    ["a reserved user name", { username: "system:admin" }],
    ["a principal that IAM doesn't have", { principalArn: roleArn("none") }],
    ["a type that is not served", { type: "FARGATE_LINUX" }],
    ["groups of a node's entry", { type: "EC2_LINUX", kubernetesGroups: ["a"] }],
  ])("refuse %s", async (_what, over) => {
    expect((await create(over)).error).toBe("InvalidParameterException");
  });

  test("remember the role that they are made for by its ID, as EKS does", async () => {
    await create();
    expect(eks.store.get("hub")?.accessEntries[roleArn("viewer")]?.roleId).toBe("AROA-viewer");
  });

  test("are authorized by their own ARN", async () => {
    const { accessEntryArn } = (await create()).body.accessEntry;
    await eks.call("GET", ENTRY);
    expect(eks.asked.at(-1)).toMatchObject({
      resource: accessEntryArn,
      context: { "eks:principalArn": roleArn("viewer") },
    });
  });
});

describe("access policies", () => {
  const associate = (accessScope: object, policyArn = VIEW) =>
    eks.call("POST", `${ENTRY}/access-policies`, { policyArn, accessScope });

  test("in namespaces become bindings there, which go with the association", async () => {
    await create();
    eks.clusters.objects.set("hub/Namespace//team-a", { metadata: { name: "team-a" } });
    await associate({ type: "namespace", namespaces: ["team-*"] });
    const bindings = () => [...eks.clusters.objects.keys()].filter((key) => key.startsWith("hub/RoleBinding/"));
    await expect.poll(bindings).toEqual([expect.stringMatching(/^hub\/RoleBinding\/team-a\/eks:access-policy:/)]);
    expect((await eks.get(`${ENTRY}/access-policies`)).associatedAccessPolicies).toMatchObject([
      { policyArn: VIEW, accessScope: { type: "namespace", namespaces: ["team-*"] } },
    ]);
    await eks.call("DELETE", `${ENTRY}/access-policies/${encodeURIComponent(VIEW)}`);
    await expect.poll(bindings).toEqual([]);
  });

  test("have the same role in a namespace as for the whole cluster, each its own", async () => {
    const roleRefs = (kind: string) =>
      [...eks.clusters.objects.entries()]
        .filter(([key]) => key.startsWith(`hub/${kind}/`) && key.includes("/eks:access-policy:"))
        .map(([, object]) => (object as unknown as { roleRef: { name: string } }).roleRef.name);
    const clusterWide = roleRefs("ClusterRoleBinding");
    expect(new Set(clusterWide).size).toBe(5);
    for (const role of clusterWide) expect(eks.clusters.objects.has(`hub/ClusterRole//${role}`), role).toBe(true);
    await create();
    await associate({ type: "namespace", namespaces: ["default"] });
    await expect.poll(() => roleRefs("RoleBinding")).toEqual(["eks:access-policy:amazoneksviewpolicy"]);
    expect(clusterWide).toContain("eks:access-policy:amazoneksviewpolicy");
  });

  test.each([
    ["an unknown policy", { type: "cluster" }, "arn:aws:eks::aws:cluster-access-policy/None"],
    ["namespaces with the scope cluster", { type: "cluster", namespaces: ["a"] }, VIEW],
    ["no namespace with the scope namespace", { type: "namespace" }, VIEW],
    ["an unknown scope", { type: "pod" }, VIEW],
  ])("refuse %s", async (_what, scope, policy) => {
    await create();
    expect((await associate(scope, policy)).error).toBe("InvalidParameterException");
  });
});

test("a namespace is in a scope by its whole name; only * stands for other characters", () => {
  expect(inScope("team-a", ["team-*"])).toBe(true);
  expect(inScope("my-team-a", ["team-*"])).toBe(false);
  expect(inScope("teamXa", ["team.a"])).toBe(false);
  expect(inScope("a", ["b", "a"])).toBe(true);
});

test("CoreDNS forwards nothing: names outside the cluster, AWS and fleet.internal do not exist", () => {
  const text = corefile("100.64.255.1");
  expect(text).not.toContain("forward");
  expect(text).toContain('answer "{{ .Name }} 60 IN A 100.64.255.1"');
  expect(text).toMatch(/\.:53 \{[^}]*template ANY ANY \{\s*rcode NXDOMAIN/);
});
