import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { Crossplane } from "../../components/crossplane.ts";
import { EncryptionKey } from "../../components/encryption-key.ts";
import { ExternalSecrets } from "../../components/external-secrets.ts";
import { fleetSizes } from "../../components/fleet-size.ts";
import { Flux } from "../../components/flux.ts";
import { GitCredentials } from "../../components/git-credentials.ts";
import { HelmAddon } from "../../components/helm-addon.ts";
import { HubCluster, type HubClusterArgs } from "../../components/hub-cluster.ts";
import { HubNodes } from "../../components/hub-nodes.ts";
import { IrsaRole } from "../../components/irsa-role.ts";
import { Network } from "../../components/network.ts";
import { SealingKeys } from "../../components/sealing-keys.ts";
import { SecretStore } from "../../components/secret-store.ts";
import { ServiceRole } from "../../components/service-role.ts";
import { policy, policyText } from "../../lib/iam/policy.ts";
import { podIdentityTrust, serviceAccountTrust, serviceTrust } from "../../lib/iam/trust.ts";
import { type Registered, recorded } from "../support/program.ts";

/** What Pulumi.yaml gives a stack that says nothing. */
const { config } = parse(readFileSync(new URL("../../Pulumi.yaml", import.meta.url), "utf8")) as {
  config: Record<string, { default: unknown }>;
};
const given = (key: string) => config[key]?.default;

const made = async (load: () => unknown) => (await recorded("test", async () => load())).resources;
const one = (resources: readonly Registered[], type: string): Registered => {
  const found = resources.filter((resource) => resource.type.endsWith(`:${type}`));
  expect(found, type).toHaveLength(1);
  return found[0] as Registered;
};

const admins = ["arn:aws:iam::222222222222:role/platform"];
const existing = {
  vpcId: "vpc-1",
  publicSubnetIds: [],
  privateSubnetIds: ["subnet-1", "subnet-2"],
  nodeSubnetIds: ["subnet-1", "subnet-2"],
};
const cluster = (change: Partial<HubClusterArgs> = {}, opts: pulumi.ComponentResourceOptions = {}) =>
  made(() => new HubCluster("shop", { network: existing, version: "1.35", admins, ...change }, opts));

describe("a network alone", () => {
  test("is what a stack gets that says nothing of its network", async () => {
    const resources = await made(() => new Network("shop"));
    const count = (type: string) => resources.filter((resource) => resource.type.endsWith(`:${type}`)).length;
    expect(one(resources, "Vpc").inputs["cidrBlock"]).toBe(given("vpcCidr"));
    expect(count("Subnet")).toBe(2 * Number(given("zones")));
    expect([given("natGateways"), count("NatGateway")]).toEqual(["single", 1]);
  });
});

describe("a cluster alone", () => {
  test("is called after its component, and everything that belongs to it after the cluster", async () => {
    const resources = await cluster();
    expect(one(resources, "index:Cluster").inputs).toMatchObject({ name: "shop", version: "1.35", vpcId: "vpc-1" });
    expect(one(resources, "LogGroup").inputs["name"]).toBe("/aws/eks/shop/cluster");
    expect(one(resources, "Alias").inputs["name"]).toBe("alias/shop-cluster");
    expect(one(resources, "Role").inputs["name"]).toBe("shop-cluster");
    expect(one(resources, "AccessEntry").inputs["principalArn"]).toBe(admins[0]);
  });

  test("gives viewers an access policy that reads everything, and no more", async () => {
    const viewers = { preview: "arn:aws:iam::222222222222:role/preview" };
    const resources = await cluster({ viewers });
    const entries = resources.filter(({ type }) => type.endsWith(":AccessEntry"));
    expect(entries.map(({ inputs }) => inputs["principalArn"])).toEqual([...admins, viewers.preview]);
    const policies = resources.filter(({ type }) => type.endsWith(":AccessPolicyAssociation"));
    expect(policies.map(({ name, inputs }) => [name, inputs["policyArn"], inputs["accessScope"]])).toEqual([
      [
        expect.stringMatching(/-admin$/),
        "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
        { type: "cluster" },
      ],
      ["shop-preview-view", "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAdminViewPolicy", { type: "cluster" }],
    ]);
  });

  test.each(["platform team", "", "-platform", "a".repeat(61)])(
    "takes no administrator by the name '%s'",
    async (name) => {
      const named = { [name]: "arn:aws:iam::222222222222:role/platform" };
      await expect(cluster({ admins: named })).rejects.toThrow(
        `admins: got the name ${JSON.stringify(name)}; a name has 1 to 60 letters, digits and hyphens`,
      );
    },
  );

  test("has the defaults of Pulumi.yaml, but no public endpoint as long as nobody says for whom", async () => {
    const resources = await cluster();
    const { inputs, protect } = one(resources, "index:Cluster");
    expect(inputs).toMatchObject({
      endpointPublicAccess: false,
      endpointPrivateAccess: given("endpointPrivateAccess"),
      enabledClusterLogTypes: given("logTypes"),
      deletionProtection: given("deletionProtection"),
    });
    expect(inputs).not.toHaveProperty("publicAccessCidrs");
    expect(protect).toBe(given("protect"));
    expect(one(resources, "LogGroup").inputs["retentionInDays"]).toBe(given("logRetentionDays"));
    expect(one(resources, "Key").inputs["deletionWindowInDays"]).toBe(given("kmsDeletionWindowDays"));
  });

  test("encrypts its logs with the given key, and without one with a key that AWS owns", async () => {
    const logKey = "arn:aws:kms:eu-central-1:222222222222:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    expect(one(await cluster({ logKey }), "LogGroup").inputs["kmsKeyId"]).toBe(logKey);
    expect(one(await cluster(), "LogGroup").inputs).not.toHaveProperty("kmsKeyId");
  });

  test("has no tags of its own but names: those of the AWS provider are its owner's to choose", async () => {
    for (const { inputs } of [...(await cluster()), ...(await made(() => new Network("shop")))])
      expect(Object.keys(inputs["tags"] ?? {}).filter((key) => key !== "Name" && !key.includes("/role/"))).toEqual([]);
  });

  test("is protected with all that it consists of by the component's own option", async () => {
    const resources = await cluster({}, { protect: true });
    const open = resources.filter(({ protect }) => !protect).map(({ type }) => type.split(":").at(-1));
    expect(open.sort()).toEqual(["AccessEntry", "AccessPolicyAssociation"]);
  });

  test.each([
    [{ endpointPublicAccess: true }, /^endpointPublicAccessCidrs: got none/],
    [{ endpointPrivateAccess: false }, /^endpointPrivateAccess: got false without endpointPublicAccess/],
  ])("is refused with %j, before anything is made for it", async (change, message) => {
    await expect(cluster(change)).rejects.toThrow(message);
  });

  test("brings its nodes name, version and subnets", async () => {
    const resources = await made(() => {
      const cluster = new HubCluster("shop", { network: existing, version: "1.35", admins });
      new HubNodes("nodes", { cluster });
    });
    expect(one(resources, "ManagedNodeGroup").inputs).toMatchObject({
      nodeGroupName: expect.stringMatching(/^shop-nodes-[0-9a-f]{8}$/),
      version: "1.35",
      subnetIds: existing.nodeSubnetIds,
      instanceTypes: given("nodeInstanceTypes"),
      capacityType: given("nodeCapacityType"),
      amiType: given("nodeAmiType"),
      scalingConfig: { minSize: given("nodeMin"), desiredSize: given("nodeDesired"), maxSize: given("nodeMax") },
    });
    const template = one(resources, "LaunchTemplate").inputs;
    expect(template["name"]).toBe("shop-nodes");
    expect(template["blockDeviceMappings"][0].ebs.volumeSize).toBe(given("nodeDiskSize"));
    expect(resources.find(({ name }) => name === "nodes-node-role")?.inputs["name"]).toBe("shop-node");
  });
});

describe("keys and secrets alone", () => {
  test("are called after their component and can be restored as long as Pulumi.yaml says", async () => {
    const resources = await made(() => {
      const { arn: keyArn } = new EncryptionKey("shop", { description: "Secrets of the shop" });
      new SealingKeys("sealing", { keys: [{ scope: "dev", generation: "1", active: true }], keyArn });
      new GitCredentials("git", { authentication: { method: "deploy-key", knownHosts: "host key" }, keyArn });
    });
    expect(one(resources, "Alias").inputs["name"]).toBe("alias/shop");
    expect(one(resources, "Key").inputs["deletionWindowInDays"]).toBe(given("kmsDeletionWindowDays"));
    const secrets = resources.filter(({ type }) => type.endsWith("/secret:Secret")).map(({ inputs }) => inputs);
    expect(secrets.map(({ name }) => name).sort()).toEqual([
      "git/gitops-system",
      "git/gitops-workloads",
      "sealing/dev/1",
    ]);
    for (const { recoveryWindowInDays } of secrets)
      expect(recoveryWindowInDays).toBe(given("secretRecoveryWindowDays"));
  });
});

describe("a role alone", () => {
  const document = policy({ Effect: "Allow", Action: ["sqs:SendMessage"], Resource: ["*"] });

  test("is called after its component, and trusts the one service account", async () => {
    const oidc = {
      issuer: "oidc.example/id/1",
      providerArn: "arn:aws:iam::222222222222:oidc-provider/oidc.example/id/1",
    };
    const subject = { namespace: "shop", serviceAccount: "orders" };
    const args = { description: "Orders of the shop", oidc, subject, policy: document };
    const role = one(await made(() => new IrsaRole("shop-orders", args)), "Role");
    expect(role.inputs["name"]).toBe("shop-orders");
    expect(JSON.parse(role.inputs["assumeRolePolicy"])).toEqual(serviceAccountTrust(oidc, subject));
  });

  test("of pods by EKS Pod Identity trusts them and the OIDC provider, and is known when it is associated", async () => {
    const oidc = {
      issuer: "oidc.example/id/1",
      providerArn: "arn:aws:iam::222222222222:oidc-provider/oidc.example/id/1",
    };
    const subject = { namespace: "shop", serviceAccount: "orders" };
    const podIdentity = { clusterName: "shop", clusterArn: "arn:aws:eks:eu-central-1:222222222222:cluster/shop" };
    const args = { description: "Orders of the shop", oidc, subject, podIdentity, policy: document };
    const resources = await made(() => {
      const { arn } = new IrsaRole("shop-orders", args);
      new SecretStore("user", { subject, roleArn: arn, region: "eu-central-1" });
    });
    expect(one(resources, "ServiceAccount").dependencies).toContain(
      "aws:eks/podIdentityAssociation:PodIdentityAssociation::shop-orders-pods",
    );
    expect(JSON.parse(one(resources, "Role").inputs["assumeRolePolicy"]).Statement).toEqual([
      ...podIdentityTrust(podIdentity.clusterArn, subject).Statement,
      ...serviceAccountTrust(oidc, subject).Statement,
    ]);
    expect(one(resources, "PodIdentityAssociation").inputs).toEqual({
      clusterName: "shop",
      ...subject,
      roleArn: "arn:aws:iam::222222222222:role/shop-orders",
    });
  });

  test("has further policies under its name, attached before its own one changes", async () => {
    const args = { description: "Orders of the shop", trust: serviceTrust("ec2.amazonaws.com"), policy: document };
    const resources = await made(
      () => new ServiceRole("shop-orders", { ...args, roleName: "shop", furtherPolicies: { queues: document } }),
    );
    const { name, policy: text } = one(resources, "iam/policy:Policy").inputs;
    expect({ name, text }).toEqual({ name: "shop-queues", text: policyText(document) });
    expect(one(resources, "RolePolicy").dependencies).toContain(
      "aws:iam/rolePolicyAttachment:RolePolicyAttachment::shop-orders-queues",
    );
  });
});

describe("add-ons alone", () => {
  const chart = { name: "podinfo", version: "6.9.2", repository: "https://charts.example" };

  test("know their namespace in the preview of a change, in which the release's status is unknown", async () => {
    const newResource = ({ name, inputs }: pulumi.runtime.MockResourceArgs) => ({ id: name, state: inputs });
    await pulumi.runtime.setMocks({ newResource, call: () => ({}) }, "fleet", "test", true);
    const { namespace } = new HelmAddon("shop", { chart });
    expect(await (namespace as pulumi.Output<string> & { readonly isKnown: Promise<boolean> }).isKnown).toBe(true);
  });

  test("are a release and a namespace of the component's name, restricted, with the chart's own values", async () => {
    const resources = await made(() => new HelmAddon("shop", { chart }));
    expect(one(resources, "Release").inputs).toMatchObject({ name: "shop", namespace: "shop", values: {} });
    expect(one(resources, "Namespace").inputs["metadata"]).toMatchObject({
      name: "shop",
      labels: { "pod-security.kubernetes.io/enforce": "restricted" },
    });
  });

  test("are of the size and log level of Pulumi.yaml, from upstream", async () => {
    const sized = { registries: {}, logLevel: String(given("controllerLogLevel")), size: fleetSizes.small };
    expect(given("fleetSize")).toBe("small");
    for (const Addon of [Flux, Crossplane, ExternalSecrets])
      expect(await made(() => new Addon("addon"))).toEqual(await made(() => new Addon("addon", sized)));
  });
});
