import { describe, expect, test } from "vitest";
import { refusal } from "../calls.ts";
import {
  clusterBody,
  createSecond,
  eks,
  groupAt,
  requestSecond,
  roleArn,
  updateOf,
  useEks,
  withNodes,
} from "./fakes.ts";

useEks(withNodes);

const GROUP = "/clusters/hub/node-groups/main";
const group = () => groupAt(GROUP);

describe("a node group", () => {
  test("is ACTIVE when its nodes are Ready: named, labelled, zoned and admitted as on EKS", async () => {
    expect(await group()).toMatchObject({
      status: "ACTIVE",
      version: "1.34",
      scalingConfig: { minSize: 1, desiredSize: 1, maxSize: 3 },
    });
    expect([...eks.clusters.nodes.values()]).toMatchObject([
      {
        number: 0,
        nodeName: "ip-100-64-0-2.ec2.internal",
        zone: "us-east-1a",
        instanceType: "t3.medium",
        labels: { "eks.amazonaws.com/nodegroup": "main" },
      },
    ]);
    const entry = (await eks.call("GET", `/clusters/hub/access-entries/${encodeURIComponent(roleArn("node"))}`)).body
      .accessEntry;
    expect(entry).toMatchObject({
      type: "EC2_LINUX",
      username: "system:node:{{EC2PrivateDNSName}}",
      kubernetesGroups: ["system:nodes"],
    });
  });

  test("has an Auto Scaling group with EKS's tags, its sizes and its nodes, which is scaled with it and goes with it", async () => {
    const [{ name }] = (await group()).resources.autoScalingGroups;
    const instances = () => eks.aws.scaling.get(name)?.instances;
    const nodes = () => [...eks.clusters.nodes.values()].map(({ instanceId, zone }) => ({ id: instanceId, zone }));
    expect(eks.aws.scaling.get(name)).toEqual({
      // As instances of EC2, with the addresses of their pods.
      nodes: nodes().map(({ id, zone }) => ({
        ...{ id, zone, subnet: "subnet-a", address: "100.64.0.2", pods: "100.64.4.0/24", group: expect.any(String) },
      })),
      ...{ name, minSize: 1, desiredSize: 1, maxSize: 3, instances: nodes() },
      ...{ subnets: ["subnet-a", "subnet-b"], zones: ["us-east-1a", "us-east-1b"] },
      tags: {
        "eks:cluster-name": "hub",
        "eks:nodegroup-name": "main",
        "k8s.io/cluster-autoscaler/enabled": "true",
        "k8s.io/cluster-autoscaler/hub": "owned",
        "kubernetes.io/cluster/hub": "owned",
      },
    });
    await eks.finish("POST", `${GROUP}/update-config`, { scalingConfig: { desiredSize: 2 } });
    expect(eks.aws.scaling.get(name)).toMatchObject({ minSize: 1, desiredSize: 2, maxSize: 3 });
    expect(instances()).toHaveLength(2);
    expect(instances()).toEqual(nodes());
    await eks.finish("POST", `${GROUP}/update-config`, { scalingConfig: { desiredSize: 1 } });
    expect(instances()).toEqual(nodes());
    await eks.finish("DELETE", GROUP);
    expect([...eks.aws.scaling.keys()]).toEqual([]);
  });

  test("of a name that is taken is refused with the names of cluster and group, as EKS has them in its exception", async () => {
    expect(await requestSecond({ nodegroupName: "main" })).toMatchObject({
      status: 409,
      error: "ResourceInUseException",
      body: { clusterName: "hub", nodegroupName: "main" },
    });
  });

  test("asks IAM for iam:PassRole on the node role", async () => {
    expect(eks.asked.find(({ action }) => action === "CreateNodegroup")?.passRoles).toEqual([
      { arn: roleArn("node"), service: "eks.amazonaws.com" },
    ]);
  });

  test("scales up and down, with an update that ends Successful, and spreads its nodes over its subnets", async () => {
    const release = eks.clusters.hold();
    const { update } = (await eks.call("POST", `${GROUP}/update-config`, { scalingConfig: { desiredSize: 3 } })).body;
    expect((await group()).status).toBe("UPDATING");
    release();
    await eks.settle();
    expect((await updateOf(update.id)).status).toBe("Successful");
    expect([...eks.clusters.nodes.values()].map(({ number, zone }) => [number, zone])).toEqual([
      [0, "us-east-1a"],
      [1, "us-east-1b"],
      [2, "us-east-1a"],
    ]);
    await eks.finish("POST", `${GROUP}/update-config`, { scalingConfig: { desiredSize: 1 } });
    expect([...eks.clusters.nodes.keys()]).toEqual(["hub/0"]);
  });

  test("replaces every node, one after another, when its version follows the cluster's", async () => {
    await eks.finish("POST", `${GROUP}/update-config`, { scalingConfig: { desiredSize: 2 } });
    const before = [...eks.clusters.nodes.values()].map(({ instanceId }) => instanceId);
    await eks.finish("POST", "/clusters/hub/updates", { version: "1.35" });
    await eks.finish("POST", `${GROUP}/update-version`, { version: "1.35" });
    await expect.poll(async () => (await group()).status).toBe("ACTIVE");
    expect(await group()).toMatchObject({ version: "1.35", releaseVersion: "1.35.4-20261101" });
    const after = [...eks.clusters.nodes.values()].map(({ instanceId }) => instanceId);
    expect(after).toHaveLength(2);
    expect(after.filter((id) => before.includes(id))).toEqual([]);
  });

  const instances = () => [...eks.clusters.nodes.values()].map(({ instanceId }) => instanceId);
  const second = () => groupAt("/clusters/hub/node-groups/second");
  const update = async (name: string, body: object) => {
    const answer = await eks.finish("POST", `/clusters/hub/node-groups/${name}/update-version`, body);
    return answer;
  };

  test("stays on its release until it is asked for another one, and then gets other nodes, not another Kubernetes", async () => {
    await createSecond({ releaseVersion: "1.34.4-20261002" });
    await eks.finish("POST", "/clusters/hub/updates", { version: "1.35" });
    const before = instances();
    await update("second", { releaseVersion: "1.34.4-20261101" });
    await expect.poll(async () => (await second()).status).toBe("ACTIVE");
    expect(await second()).toMatchObject({ version: "1.34", releaseVersion: "1.34.4-20261101" });
    expect(instances().filter((id) => before.includes(id))).toHaveLength(1);
    const answer = await update("second", { releaseVersion: "1.34.4-20261002" });
    expect(answer).toMatchObject(
      refusal("InvalidParameterException", /can't be rolled back from release version 1\.34\.4-20261101/),
    );
  });

  test("gets other nodes for another version of its launch template, and keeps the template", async () => {
    const launchTemplate = { id: "lt-1", version: "1" };
    await createSecond({ launchTemplate });
    const before = instances();
    await update("second", { launchTemplate: { id: "lt-1", version: "2" } });
    await expect.poll(async () => (await second()).status).toBe("ACTIVE");
    expect(instances().filter((id) => before.includes(id))).toHaveLength(1);
    expect(await update("second", { launchTemplate: { id: "lt-2", version: "1" } })).toMatchObject(
      refusal("InvalidParameterException", 'launchTemplate.id: got "lt-2"'),
    );
  });

  test("starts its kubelets with its labels and taints", async () => {
    await createSecond({
      amiType: "BOTTLEROCKET_x86_64_NVIDIA",
      instanceTypes: ["g6.xlarge"],
      labels: { tier: "gpu" },
      taints: [{ key: "nvidia.com/gpu", value: "true", effect: "NO_SCHEDULE" }],
    });
    expect([...eks.clusters.nodes.values()].at(-1)).toMatchObject({
      labels: { tier: "gpu", "eks.amazonaws.com/nodegroup": "second" },
      taints: [{ key: "nvidia.com/gpu", value: "true", effect: "NoSchedule" }],
    });
  });

  test("puts changed labels on its live nodes", async () => {
    await eks.finish("POST", `${GROUP}/update-config`, { labels: { addOrUpdateLabels: { team: "a" } } });
    expect(eks.clusters.objects.get("hub/Node//ip-100-64-0-2.ec2.internal")?.metadata?.labels).toEqual({ team: "a" });
  });

  test("goes with its nodes and with the access entry that came with it", async () => {
    expect((await eks.finish("DELETE", GROUP)).body.nodegroup.status).toBe("DELETING");
    expect((await eks.call("GET", GROUP)).error).toBe("ResourceNotFoundException");
    expect(eks.clusters.nodes.size).toBe(0);
    expect((await eks.get("/clusters/hub/access-entries")).accessEntries).not.toContain(roleArn("node"));
  });

  test("leaves its role's access entry to another group of that role", async () => {
    await createSecond({ scalingConfig: { minSize: 0, desiredSize: 0, maxSize: 1 } });
    await eks.finish("DELETE", GROUP);
    expect((await eks.get("/clusters/hub/access-entries")).accessEntries).toContain(roleArn("node"));
    await eks.finish("DELETE", "/clusters/hub/node-groups/second");
    expect((await eks.get("/clusters/hub/access-entries")).accessEntries).not.toContain(roleArn("node"));
  });

  test.each<[string, object, RegExp, string?]>([
    [
      "more nodes than the machine holds",
      { scalingConfig: { minSize: 1, desiredSize: 4, maxSize: 4 } },
      /would have 5 nodes.* at most 4/,
      "ResourceLimitExceededException",
    ],
    [
      "a desired size above the most",
      { scalingConfig: { minSize: 1, desiredSize: 3, maxSize: 2 } },
      /greater than max size/,
    ],
    ["a role that EC2 can't assume", { nodeRole: roleArn("cluster") }, /ec2\.amazonaws\.com/],
    ["a subnet of another VPC", { subnets: ["subnet-other"] }, /cluster's VPC/],
    ["an AMI type that is not served", { amiType: "WINDOWS_CORE_2022_x86_64" }, /allowed are AL2023_x86_64_STANDARD/],
    [
      "an instance type that EC2 does not have",
      { instanceTypes: ["m7g.gigantic", "t3.large"] },
      /The following supplied instance types do not exist: \[m7g\.gigantic\]/,
    ],
    [
      "an instance type of another processor than its AMI",
      { instanceTypes: ["t3.large", "m7g.large"] },
      /\[m7g\.large\] is not a valid instance type for requested amiType AL2023_x86_64_STANDARD/,
    ],
    [
      "a release of another version",
      { releaseVersion: "1.35.4-20261101" },
      /Requested release version 1\.35\.4-20261101 is not valid for kubernetes version 1\.34/,
    ],
    [
      "a disk beside a launch template",
      { launchTemplate: { id: "lt-1", version: "1" }, diskSize: 50 },
      /Disk size must be specified within the launch template/,
    ],
    ["a version above the cluster's", { version: "1.35" }, /1\.34/],
    ["a taint without a known effect", { taints: [{ key: "a", effect: "NoSchedule" }] }, /NO_SCHEDULE/],
    [
      "a label that kubelets may not register with",
      { labels: { "node-role.kubernetes.io/worker": "true" } },
      /Label cannot contain reserved prefixes/,
    ],
    ["a label without a value", { labels: { tier: "" } }, /1 to 63/],
    [
      "more taints than a group can have",
      { taints: Array.from({ length: 51 }, (_, index) => ({ key: `a${index}`, effect: "NO_SCHEDULE" })) },
      /50/,
    ],
    ["remote access", { remoteAccess: { ec2SshKey: "k" } }, /remoteAccess is not served/],
  ])("with %s is refused", async (_what, over, message, error = "InvalidParameterException") => {
    expect(await requestSecond(over)).toMatchObject(refusal(error, message));
  });

  test.each([
    ["AL2023_ARM_64_STANDARD", ["m7g.large", "a1.large", "c6gn.xlarge", "x2gd.large"]],
    ["AL2023_x86_64_STANDARD", ["m6i.large", "g5.xlarge", "m7i-flex.large", "z1d.large"]],
  ])("with the AMI %s takes types of its processor", async (amiType, instanceTypes) => {
    const { body } = await requestSecond({ amiType, instanceTypes });
    expect(body.nodegroup).toMatchObject({ amiType, instanceTypes });
  });

  test("needs an active cluster", async () => {
    await eks.worker.stop();
    await eks.call("POST", "/clusters", clusterBody("new"));
    expect(
      await eks.call("POST", "/clusters/new/node-groups", {
        nodegroupName: "n",
        nodeRole: roleArn("node"),
        subnets: ["subnet-a"],
      }),
    ).toMatchObject(refusal("InvalidRequestException", "CREATING"));
  });
});
