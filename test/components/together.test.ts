import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import {
  type ClusterNetwork,
  EncryptionKey,
  FleetBoundary,
  FluxSync,
  GitCredentials,
  HelmAddon,
  HubCluster,
  HubNodes,
  IrsaRole,
  Network,
  policy,
  RegistryCredentialsSecret,
  RemainingSpokesGuard,
  RootKustomizationGuard,
  ServiceRole,
  serviceTrust,
} from "eks-gitops-fleet/components";
import { describe, expect, test } from "vitest";
import { recorded } from "../support/program.ts";

const made = async (load: () => unknown) => (await recorded("test", async () => load())).resources;
const value = <T>(output: pulumi.Output<T>): Promise<T> => new Promise((resolve) => void output.apply(resolve));
const subject = { namespace: "shop", serviceAccount: "orders" };
const document = policy({ Effect: "Allow", Action: ["sqs:*"], Resource: ["*"] });
/** What another stack or a data source knows: a list that is an output as a whole. */
const existing: ClusterNetwork = {
  vpcId: pulumi.output("vpc-1"),
  privateSubnetIds: pulumi.output(["subnet-1", "subnet-2"]),
  publicSubnetIds: pulumi.output([]),
  nodeSubnetIds: pulumi.output(["subnet-1", "subnet-2"]),
};

describe("components of one program", () => {
  test("take a boundary and administrators that the program makes itself, and subnets that are an output", async () => {
    const resources = await made(() => {
      const { arn: permissionsBoundary } = new FleetBoundary("shop-boundary", { description: "Roles", document });
      const trust = serviceTrust("ec2.amazonaws.com");
      const role = new ServiceRole("platform", { description: "Platform team", trust, permissionsBoundary });
      const admins = { "platform-team": role.arn };
      const cluster = new HubCluster("shop", { network: existing, version: "1.35", admins, permissionsBoundary });
      new HubNodes("nodes", { cluster, permissionsBoundary });
      new IrsaRole("orders", {
        description: "Orders",
        oidc: cluster.oidc,
        subject,
        policy: document,
        permissionsBoundary,
      });
    });
    const roles = resources.filter(({ type }) => type.endsWith("/role:Role"));
    expect(roles.map(({ name }) => name).sort()).toEqual([
      "nodes-node-role",
      "orders-role",
      "platform-role",
      "shop-control-plane-role",
    ]);
    for (const { inputs } of roles)
      expect(inputs["permissionsBoundary"]).toBe("arn:aws:iam::222222222222:policy/shop-boundary");
    expect(resources.find(({ name }) => name === "shop-platform-team")?.inputs["principalArn"]).toBe(
      "arn:aws:iam::222222222222:role/platform",
    );
    expect(resources.find(({ type }) => type.endsWith(":ManagedNodeGroup"))?.inputs["subnetIds"]).toEqual([
      "subnet-1",
      "subnet-2",
    ]);
  });

  test("give pods their roles by EKS Pod Identity once the agent is on the nodes; without it by the OIDC provider alone", async () => {
    const roles = (podIdentityAgent: boolean) =>
      made(() => {
        const cluster = new HubCluster("shop", { network: existing, version: "1.35" });
        const { podIdentity } = new HubNodes("nodes", { cluster, podIdentityAgent });
        new IrsaRole("orders", { description: "Orders", oidc: cluster.oidc, podIdentity, subject, policy: document });
      });
    const ofType = (all: Awaited<ReturnType<typeof made>>, kind: string) =>
      all.filter(({ type }) => type.endsWith(kind));
    const [association, ...more] = ofType(await roles(true), ":PodIdentityAssociation");
    expect(more).toEqual([]);
    expect(association).toMatchObject({
      inputs: { clusterName: "shop", ...subject },
      dependencies: expect.arrayContaining(["aws:eks/addon:Addon::nodes-pod-identity-agent"]),
    });
    const without = await roles(false);
    expect(ofType(without, ":PodIdentityAssociation")).toEqual([]);
    expect(ofType(without, ":Addon").map(({ inputs }) => inputs["addonName"])).toEqual(["coredns"]);
  });

  test("hand on what further resources need: roles, route tables, names of a key and of a node group", async () => {
    const { result } = await recorded("test", async () => {
      const network = new Network("shop");
      const cluster = new HubCluster("shop", { network, version: "1.35" });
      const labels = { team: "shop" };
      const taints = [{ key: "dedicated", value: "shop", effect: "NO_SCHEDULE" }];
      const nodes = new HubNodes("nodes", { cluster, labels, taints });
      new aws.iam.RolePolicyAttachment("ssm", { role: nodes.role.name, policyArn: "arn:aws:iam::aws:policy/SSM" });
      const key = new EncryptionKey("shop", { description: "Secrets of the shop" });
      return { network, nodes, key };
    });
    const { network, nodes, key } = result;
    expect(network.cidr).toBe("10.0.0.0/16");
    expect(await value(pulumi.all(network.privateRouteTableIds))).toEqual(["shop-private-0-id", "shop-private-1-id"]);
    expect(await value(network.publicRouteTableId)).toBe("shop-public-id");
    expect(await value(nodes.roleArn)).toBe("arn:aws:iam::222222222222:role/shop-node");
    expect(await value(nodes.nodeGroupName)).toMatch(/^shop-nodes-[0-9a-f]{8}$/);
    expect(await value(pulumi.all([key.keyId, key.alias]))).toEqual(["shop-key", "alias/shop"]);
  });

  test("give a node group the labels and taints that it is asked for, and none otherwise", async () => {
    const labels = { team: "shop" };
    const taints = [{ key: "dedicated", value: "shop", effect: "NO_SCHEDULE" }];
    const group = async (more: object) => {
      const resources = await made(() => {
        const cluster = new HubCluster("shop", { network: existing, version: "1.35" });
        new HubNodes("nodes", { cluster, ...more });
      });
      return resources.find(({ type }) => type.endsWith(":ManagedNodeGroup"))?.inputs;
    };
    expect(await group({ labels, taints })).toMatchObject({ labels, taints });
    const plain = await group({});
    expect(plain).not.toHaveProperty("labels");
    expect(plain).not.toHaveProperty("taints");
  });

  test("agree on the names that Git relies on, when nobody chooses others", async () => {
    const { resources, result } = await recorded("test", async () => {
      const source = { url: "ssh://git@git.example/a.git", revision: "main" };
      const names = { storeName: "store", remoteSecret: "git/gitops-system", clusterSecret: "cluster-hub" };
      new RootKustomizationGuard("guard");
      new RemainingSpokesGuard("spokes");
      return new FluxSync("sync", { source, path: "./clusters/shop/hub", ...names });
    });
    expect(await value(pulumi.all([result.repository, result.kustomizationName]))).toEqual(["gitops-system", "hub"]);
    const policy = resources.find(({ name }) => name === "guard-policy")?.inputs["spec"]["matchConstraints"];
    expect(policy).toMatchObject({
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "flux-system" } },
      resourceRules: [{ resourceNames: ["hub"] }],
    });
    expect(resources.find(({ name }) => name === "spokes-object")?.inputs["metadata"]["namespace"]).toBe("flux-system");
  });

  test("keep credentials secret in the state that a program hands over in plain text", async () => {
    const resources = await made(() => {
      const chart = { name: "podinfo", version: "6.9.2", repository: "https://charts.example" };
      const registries = { chartsCredential: { username: "fleet", password: "t0ps3cret" }, pullSecret: "{}" };
      new HelmAddon("shop", { chart, registries });
      new RegistryCredentialsSecret("registries", { credentials: { chartsPassword: "t0ps3cret" } });
      const authentication = { method: "token", username: "git", token: "t0ps3cret" } as const;
      new GitCredentials("git", { authentication, keyArn: "arn:key" });
    });
    const secrets = (name: string) => resources.find((resource) => resource.name === name)?.secrets;
    expect(secrets("shop-release")).toEqual(["repositoryOpts.password"]);
    expect(secrets("shop-pull-secret")).toEqual(["data"]);
    expect(secrets("registries-secret")).toEqual(["data"]);
    expect(secrets("git-gitops-system-version")).toEqual(["secretString"]);
  });
});
