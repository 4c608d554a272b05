import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { VpcConfigRequest } from "@aws-sdk/client-eks";
import { describe, expect, test } from "vitest";
import { MACHINE } from "../../gateway/eks/endpoint-access.ts";
import { run } from "../../instance/index.ts";
import { supervisorOf } from "../../supervisor/client.ts";
import { ensureToolchain } from "../../toolchain/index.ts";
import { deployed, nodeGroupsOf, removed, watchAvailability } from "../support/drained-app.ts";
import {
  adminApi,
  allow,
  arnOf,
  type Clients,
  cliEnvironment,
  cloud,
  createNodeGroup,
  createNodeRole,
  ec2,
  eks,
  iam,
  outcome,
  trustOf,
  useGatewayCloud,
  wait,
} from "../support/gateway.ts";
import { networkAt, nodeOf, nodePath } from "../support/pod-network.ts";
import { killHard } from "../support/processes.ts";

const main = { clusterName: "one", nodegroupName: "main" };
let kubectl: string;
let aws: string;
let viewer: Clients;

useGatewayCloud(async () => {
  const toolchain = await ensureToolchain();
  kubectl = toolchain.bin("kubectl");
  aws = toolchain.bin("aws");
  await Promise.all([cloud.cluster("one"), cloud.cluster("two")]);
  viewer = await cloud.roleWith("viewer", allow({ Action: "eks:DescribeCluster" }));
});

const environment = (by: Clients) => ({
  ...cliEnvironment(aws, by),
  KUBECONFIG: join(cloud.instance.dir, "test-kubeconfig"),
});

const tokenOf = async (cluster: string, by: Clients): Promise<string> =>
  JSON.parse(await run([aws, "eks", "get-token", "--cluster-name", cluster], { env: environment(by) })).status.token;

/** The user name that a cluster knows a token by, or the status with which it refuses it. */
async function whoIs(cluster: string, token: string): Promise<string> {
  const { cluster: found } = await eks.describeCluster({ name: cluster });
  const ca = join(cloud.instance.paths.clusters, cluster, "pki", "ca.crt");
  const args = [
    "auth",
    "whoami",
    "-o",
    "json",
    `--server=${found?.endpoint ?? ""}`,
    `--certificate-authority=${ca}`,
    `--token=${token}`,
  ];
  try {
    return JSON.parse(await run([kubectl, ...args, "--kubeconfig=/dev/null"])).status.userInfo.username;
  } catch (error) {
    return /Unauthorized|must be logged in/.test((error as Error).message) ? "Unauthorized" : String(error);
  }
}

describe("the aws CLI and kubectl", () => {
  test("reach a cluster as on EKS: update-kubeconfig, then kubectl with a token of get-token", async () => {
    const env = environment(cloud.deployer);
    await run([aws, "eks", "update-kubeconfig", "--name", "one", "--alias", "one"], { env });
    expect(await readFile(env.KUBECONFIG, "utf8")).not.toMatch(/token:/);
    expect(await run([kubectl, "get", "namespaces", "-o", "name"], { env })).toContain("namespace/default");
  });
});

describe("a token of aws eks get-token", () => {
  test("is its IAM user, by the access entry that the cluster's creator has", async () => {
    expect(await whoIs("one", await tokenOf("one", cloud.deployer))).toBe(arnOf("user/deployer"));
  });

  test("is refused without an access entry, and a session of its role with one", async () => {
    expect(await whoIs("one", await tokenOf("one", viewer))).toBe("Unauthorized");
    await eks.createAccessEntry({ clusterName: "one", principalArn: arnOf("role/viewer") });
    expect(await whoIs("one", await tokenOf("one", viewer))).toBe("arn:aws:sts::000000000000:assumed-role/viewer/test");
  });

  test("is refused by another cluster than the one it was made for", async () => {
    expect(await whoIs("two", await tokenOf("two", cloud.deployer))).toBe(arnOf("user/deployer"));
    expect(await whoIs("two", await tokenOf("one", cloud.deployer))).toBe("Unauthorized");
  });

  test("is refused when its signature, its time or its host was changed", async () => {
    const token = await tokenOf("one", cloud.deployer);
    const url = Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString();
    const changed = (edit: (text: string) => string) =>
      whoIs("one", `k8s-aws-v1.${Buffer.from(edit(url)).toString("base64url")}`);
    expect(await changed((text) => text)).toBe(arnOf("user/deployer"));
    expect(await changed((text) => text.replace(/Signature=[0-9a-f]{4}/, "Signature=0000"))).toBe("Unauthorized");
    expect(await changed((text) => text.replace(/Date=\d{4}/, "Date=2020"))).toBe("Unauthorized");
    expect(await changed((text) => text.replace(/\/\/[^/]+\//, "//sts.example.com/"))).toBe("Unauthorized");
    expect(await changed((text) => text.replace("GetCallerIdentity", "GetSessionToken"))).toBe("Unauthorized");
  });
});

describe("access policies", () => {
  const can = async (...what: string[]) => {
    const env = environment(viewer);
    await run([aws, "eks", "update-kubeconfig", "--name", "one", "--alias", "viewer", "--user-alias", "viewer"], {
      env,
    });
    return (await run([kubectl, "auth", "can-i", ...what], { env }).catch((error: Error) => error.message)).trim();
  };

  test("an entry alone gives no rights; a policy in one namespace gives them there, also in one made later, and nowhere else", async () => {
    expect(await can("list", "pods", "-n", "default")).not.toBe("yes");
    const associate = (namespaces: string[]) =>
      eks.associateAccessPolicy({
        clusterName: "one",
        principalArn: arnOf("role/viewer"),
        policyArn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
        accessScope: { type: "namespace", namespaces },
      });
    await associate(["team-*"]);
    await adminApi(cloud.instance, "one").createNamespace({ body: { metadata: { name: "team-a" } } });
    await expect.poll(() => can("list", "pods", "-n", "team-a"), { timeout: 30_000, interval: 1000 }).toBe("yes");
    expect(await can("delete", "pods", "-n", "team-a")).not.toBe("yes");
    expect(await can("list", "pods", "-n", "default")).not.toBe("yes");
    await associate(["default"]);
    await expect.poll(() => can("list", "pods", "-n", "default"), { timeout: 30_000, interval: 1000 }).toBe("yes");
    expect(await can("list", "pods", "-n", "team-a")).not.toBe("yes");
  });

  test("nobody gets into system:masters or a reserved group by an access entry", async () => {
    const entry = (group: string) =>
      outcome(
        eks.createAccessEntry({ clusterName: "two", principalArn: arnOf("role/viewer"), kubernetesGroups: [group] }),
      );
    expect(await entry("system:masters")).toBe("InvalidParameterException");
    expect(await entry("eks:access-policy:AmazonEKSClusterAdminPolicy:cluster")).toBe("InvalidParameterException");
    expect(await entry("viewers")).toBe("allowed");
  });
});

describe("nodes", () => {
  const scale = (minSize: number, desiredSize: number) =>
    eks.updateNodegroupConfig({ ...main, scalingConfig: { minSize, desiredSize, maxSize: 4 } });
  const nodes = async () =>
    (await adminApi(cloud.instance, "one").listNode()).items.map(
      (node) => node.metadata?.labels?.["eks.amazonaws.com/nodegroup"],
    );

  test("a node group starts real nodes, scales them and refuses more than the machine has room for", async () => {
    await createNodeRole();
    await createNodeGroup(main, { scalingConfig: { minSize: 1, desiredSize: 1, maxSize: 4 } });
    expect(await nodes()).toEqual(["main"]);
    const { accessEntry } = await eks.describeAccessEntry({ clusterName: "one", principalArn: arnOf("role/node") });
    expect(accessEntry?.type).toBe("EC2_LINUX");
    await scale(1, 2);
    await eks.waitUntilNodegroupActive(main, wait);
    expect(await nodes()).toEqual(["main", "main"]);
    await scale(1, 1);
    await eks.waitUntilNodegroupActive(main, wait);
    expect(await nodes()).toEqual(["main"]);
    const scalingConfig = { minSize: 4, desiredSize: 4, maxSize: 4 };
    const more = createNodeGroup({ ...main, nodegroupName: "big" }, { scalingConfig });
    await expect(more).rejects.toThrow("would have 5 nodes, a cluster of the embedded cloud has at most 4");
  });

  test("an application with a budget stays available while its node group goes, for which EKS drains the nodes", async () => {
    const group = { clusterName: "one", nodegroupName: "former" };
    await createNodeGroup(group);
    const { namespace, name } = await deployed(cloud.instance, "one", "former");
    const nodesOfPods = () => nodeGroupsOf(cloud.instance, "one", namespace);
    expect(await nodesOfPods()).toEqual(["former", "former"]);

    const availability = watchAvailability(cloud.instance, "one", namespace, name);
    await eks.deleteNodegroup(group);
    await eks.waitUntilNodegroupDeleted(group, wait);
    const seen = await availability.stop();
    expect(await nodesOfPods()).toEqual(["main", "main"]);
    expect(Math.min(...seen), `replicas that were available: ${seen.join(", ")}`).toBeGreaterThanOrEqual(1);
    expect(await nodes()).toEqual(["main"]);
    // Its budget would hold the last node group, too.
    await removed(cloud.instance, "one", namespace);
  });

  test("labels and taints of a node group arrive at the kubelets of its nodes", async () => {
    const group = { clusterName: "one", nodegroupName: "tainted" };
    await createNodeGroup(group, {
      amiType: "BOTTLEROCKET_x86_64",
      labels: { "example.com/tier": "batch" },
      taints: [{ key: "dedicated", value: "batch", effect: "NO_SCHEDULE" }],
    });
    const { items } = await adminApi(cloud.instance, "one").listNode({ labelSelector: "example.com/tier=batch" });
    expect(
      items.map(({ metadata, spec }) => [metadata?.labels?.["eks.amazonaws.com/nodegroup"], spec?.taints]),
    ).toEqual([["tainted", [{ key: "dedicated", value: "batch", effect: "NoSchedule" }]]]);
    await eks.deleteNodegroup(group);
    await eks.waitUntilNodegroupDeleted(group, wait);
    expect(await nodes()).toEqual(["main"]);
  });

  test("CoreDNS answers AWS's names and those of the local hosts with the gateway, the cluster's own itself, others not at all", async () => {
    const addon = { clusterName: "one", addonName: "coredns" };
    await eks.createAddon(addon);
    await eks.waitUntilAddonActive(addon, wait);
    const api = adminApi(cloud.instance, "one");
    const { spec } = await api.readNamespacedService({ name: "kube-dns", namespace: "kube-system" });
    const resolver = new Resolver();
    resolver.setServers([spec?.clusterIP ?? ""]);
    for (const name of [
      "sts.us-east-1.amazonaws.com",
      "secretsmanager.us-east-1.amazonaws.com",
      "eks.us-east-1.api.aws",
      "git.fleet.internal",
    ])
      expect(await resolver.resolve4(name)).toEqual([cloud.instance.gatewayAddress]);
    expect(await resolver.resolve4("kube-dns.kube-system.svc.cluster.local")).toEqual([spec?.clusterIP]);
    await expect(resolver.resolve4("example.com")).rejects.toThrow("ENOTFOUND");
  });

  test("a pod whose service account carries a role gets it, in init containers too; another pod does not", async () => {
    const api = adminApi(cloud.instance, "one");
    const namespace = "default";
    await api.createNamespacedServiceAccount({
      namespace,
      body: { metadata: { name: "app", annotations: { "eks.amazonaws.com/role-arn": arnOf("role/app") } } },
    });
    await api.createNamespacedServiceAccount({ namespace, body: { metadata: { name: "plain" } } });
    const container = { name: "app", image: "registry.k8s.io/pause:3.10" };
    const create = (serviceAccountName: string) =>
      api.createNamespacedPod({
        namespace,
        body: {
          metadata: { name: serviceAccountName },
          spec: { serviceAccountName, initContainers: [{ ...container, name: "init" }], containers: [container] },
        },
      });
    const { spec } = await create("app");
    for (const { env = [], volumeMounts = [] } of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]) {
      expect(Object.fromEntries(env.map(({ name, value }) => [name, value]))).toEqual({
        AWS_STS_REGIONAL_ENDPOINTS: "regional",
        AWS_DEFAULT_REGION: "us-east-1",
        AWS_REGION: "us-east-1",
        AWS_ROLE_ARN: arnOf("role/app"),
        AWS_WEB_IDENTITY_TOKEN_FILE: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
      });
      expect(volumeMounts.map(({ name }) => name)).toContain("aws-iam-token");
    }
    const plain = await create("plain");
    expect(plain.spec?.containers[0]?.env).toBeUndefined();
  });
});

describe("updates", () => {
  test("the control plane goes up by one minor, really restarted, and by no other step", async () => {
    const to = (version: string) => eks.updateClusterVersion({ name: "two", version });
    expect(await outcome(to("1.36"))).toBe("InvalidParameterException");
    expect(await outcome(to("1.33"))).toBe("InvalidParameterException");
    const { update } = await to("1.35");
    await expect
      .poll(async () => (await eks.describeUpdate({ name: "two", updateId: update?.id })).update?.status, {
        timeout: 180_000,
        interval: 500,
      })
      .toBe("Successful");
    const { cluster } = await eks.describeCluster({ name: "two" });
    expect([cluster?.status, cluster?.version]).toEqual(["ACTIVE", "1.35"]);
    const version = await run([
      kubectl,
      "--kubeconfig",
      join(cloud.instance.paths.clusters, "two", "admin.kubeconfig"),
      "get",
      "--raw",
      "/version",
    ]).catch(String);
    expect(JSON.parse(version)).toMatchObject({ emulationMinor: "35" });
  });

  test("a cluster under deletion protection, or with node groups, can't be deleted", async () => {
    const remove = (name: string) => outcome(eks.deleteCluster({ name }));
    await eks.updateClusterConfig({ name: "two", deletionProtection: true });
    await eks.waitUntilClusterActive({ name: "two" }, wait);
    expect(await remove("two")).toBe("InvalidRequestException");
    expect(await remove("one")).toBe("ResourceInUseException");
    await eks.updateClusterConfig({ name: "two", deletionProtection: false });
    await eks.waitUntilClusterActive({ name: "two" }, wait);
    expect(await remove("two")).toBe("allowed");
    await eks.waitUntilClusterDeleted({ name: "two" }, wait);
  });
});

describe("the endpoint of a cluster", () => {
  /** Whether this machine and the cluster's node connect. */
  const reached = async () => {
    const { cluster } = await eks.describeCluster({ name: "one" });
    const host = new URL(cluster?.endpoint ?? "").hostname;
    const node = networkAt(nodePath(await nodeOf(cloud.instance, "one", 0)));
    const machine = networkAt("/proc/self/ns/net");
    return { machine: await machine.connect(host, 443), node: await node.connect(host, 443) };
  };
  const access = async (resourcesVpcConfig: VpcConfigRequest) => {
    await eks.updateClusterConfig({ name: "one", resourcesVpcConfig });
    await eks.waitUntilClusterActive({ name: "one" }, wait);
  };
  const NO_ANSWER = "ETIMEDOUT";

  test("answers whom its access settings admit, and nobody else", async () => {
    expect(await reached()).toEqual({ machine: "open", node: "open" });
    await access({ endpointPrivateAccess: true, publicAccessCidrs: ["5.6.7.0/24"] });
    expect(await reached()).toEqual({ machine: NO_ANSWER, node: "open" });
    await access({ publicAccessCidrs: [`${MACHINE.publicAddress}/32`] });
    expect(await reached()).toEqual({ machine: "open", node: "open" });
    await access({ endpointPrivateAccess: false });
    expect(await reached()).toEqual({ machine: "open", node: NO_ANSWER });
  });

  test("that is private is reached from a connected network that its security group lets in", async () => {
    const port = { IpProtocol: "tcp", FromPort: 443, ToPort: 443, IpRanges: [{ CidrIp: "10.255.0.0/16" }] };
    const other = await ec2.createSecurityGroup({ GroupName: "other", Description: "not the cluster's" });
    await ec2.authorizeSecurityGroupIngress({ GroupId: other.GroupId, IpPermissions: [port] });
    await access({ endpointPrivateAccess: true, endpointPublicAccess: false });
    expect(await reached(), "by a rule of another group").toEqual({ machine: NO_ANSWER, node: "open" });
    await ec2.deleteSecurityGroup({ GroupId: other.GroupId });
    const { cluster } = await eks.describeCluster({ name: "one" });
    const rule = { GroupId: cluster?.resourcesVpcConfig?.clusterSecurityGroupId, IpPermissions: [port] };
    await ec2.authorizeSecurityGroupIngress(rule);
    await expect.poll(reached, { timeout: 60_000, interval: 200 }).toEqual({ machine: "open", node: "open" });
    await ec2.revokeSecurityGroupIngress(rule);
    await expect.poll(reached, { timeout: 60_000, interval: 200 }).toEqual({ machine: NO_ANSWER, node: "open" });
    await access({ endpointPublicAccess: true, publicAccessCidrs: ["0.0.0.0/0"] });
    expect(await reached()).toEqual({ machine: "open", node: "open" });
  });
});

describe("after a kill", () => {
  const kill = async (id: string) => {
    const status = (await supervisorOf(cloud.instance).list()).find((process) => process.id === id);
    killHard(status?.pid);
  };

  test("of ministack nothing that was answered is lost, sessions too", async () => {
    const AssumeRolePolicyDocument = trustOf({ Service: "eks.amazonaws.com" });
    const create = () => iam.createRole({ RoleName: "made-before", AssumeRolePolicyDocument });
    await create();
    await kill("ministack");
    await sleep(100);
    expect(await outcome(create())).toBe("EntityAlreadyExistsException");
    expect(await outcome(viewer.eks.describeCluster({ name: "one" }))).toBe("allowed");
  });

  test("of the gateway a creation and a deletion that were under way come to their end", async () => {
    await eks.createCluster({
      name: "three",
      roleArn: arnOf("role/one-cluster"),
      resourcesVpcConfig: { subnetIds: await cloud.subnets() },
      accessConfig: { authenticationMode: "API" },
      bootstrapSelfManagedAddons: false,
    });
    await sleep(300);
    await kill("gateway");
    await expect
      .poll(async () => (await eks.describeCluster({ name: "three" })).cluster?.status, {
        timeout: 180_000,
        interval: 500,
      })
      .toBe("ACTIVE");
    await eks.deleteCluster({ name: "three" });
    await sleep(200);
    await kill("gateway");
    await expect
      .poll(() => outcome(eks.describeCluster({ name: "three" })), { timeout: 180_000, interval: 500 })
      .toBe("ResourceNotFoundException");
  });

  test("node groups and clusters go, and leave nothing of theirs in the account", async () => {
    await eks.deleteNodegroup(main);
    await eks.waitUntilNodegroupDeleted(main, wait);
    expect((await eks.listNodegroups({ clusterName: "one" })).nodegroups).toEqual([]);
    expect(await outcome(eks.describeAccessEntry({ clusterName: "one", principalArn: arnOf("role/node") }))).toBe(
      "ResourceNotFoundException",
    );
    await eks.deleteCluster({ name: "one" });
    await eks.waitUntilClusterDeleted({ name: "one" }, wait);
    const { SecurityGroups = [] } = await ec2.describeSecurityGroups({});
    expect(SecurityGroups.map(({ GroupName }) => GroupName).filter((name) => name !== "default")).toEqual([]);
  });
});
