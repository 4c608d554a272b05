import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";

interface Registered {
  readonly type: string;
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: inputs have any shape, and tests read them by path
  readonly inputs: any;
}

const registered: Registered[] = [];
const issuer = "https://oidc.eks.eu-central-1.amazonaws.com/id/ABC";

const outputsOf: Record<string, object> = {
  "aws:eks/cluster:Cluster": {
    name: "fleet-hub",
    arn: "arn:aws:eks:eu-central-1:111122223333:cluster/fleet-hub",
    endpoint: "https://100.64.254.1",
    certificateAuthority: { data: "Q0E=" },
    identities: [{ oidcs: [{ issuer }] }],
    version: "1.35",
  },
};

beforeAll(() =>
  pulumi.runtime.setMocks({
    newResource: ({ type, name, inputs }) => {
      registered.push({ type, name, inputs });
      const vpcConfig = inputs.vpcConfig && { vpcConfig: { ...inputs.vpcConfig, clusterSecurityGroupId: "sg-eks" } };
      return { id: `${name}-id`, state: { arn: `arn:${name}`, ...inputs, ...vpcConfig, ...outputsOf[type] } };
    },
    call: ({ inputs }) => inputs,
  }),
);

/** The value of an output, as a program sees it. */
const value = <T>(output: pulumi.Input<T>): Promise<T> =>
  new Promise((resolve) => void pulumi.output(output).apply((v) => resolve(v as T)));

async function settled(): Promise<void> {
  for (let last = -1; registered.length !== last; ) {
    last = registered.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The components, loaded after the mocks are set; what they register. */
async function cluster(name: string, given: object) {
  registered.length = 0;
  const { Cluster } = await import("../../../../pulumi/eks/cluster.ts");
  const made = new Cluster(name, given as never, {});
  await settled();
  return made;
}
async function nodeGroup(name: string, given: object) {
  registered.length = 0;
  const { ManagedNodeGroup } = await import("../../../../pulumi/eks/managed-node-group.ts");
  new ManagedNodeGroup(name, given as never, {});
  await settled();
}

/** What @pulumi/eks adds to the options of each add-on (types/input.js). */
const sdkDefaults = { resolveConflictsOnCreate: "OVERWRITE", resolveConflictsOnUpdate: "OVERWRITE" } as const;

const args = {
  name: "fleet-hub",
  version: "1.35",
  authenticationMode: "API" as const,
  vpcId: "vpc-1",
  publicSubnetIds: ["subnet-a"],
  privateSubnetIds: ["subnet-b"],
  skipDefaultNodeGroup: true,
  skipDefaultSecurityGroups: true,
  providerCredentialOpts: {},
  encryptionConfigKeyArn: "arn:key",
  enabledClusterLogTypes: ["api"],
  endpointPublicAccess: false,
  endpointPrivateAccess: true,
  deletionProtection: true,
  kubeProxyAddonOptions: { version: "v1.35.0-eksbuild.1", ...sdkDefaults },
  vpcCniOptions: { addonVersion: "v1.22.4-eksbuild.3", enableNetworkPolicy: true, ...sdkDefaults },
  corednsAddonOptions: { enabled: false, ...sdkDefaults },
  serviceRole: { arn: "arn:role" } as never,
  tags: { team: "platform" },
};

const children = () => registered.map(({ type, name }) => `${type} ${name}`).sort();
const inputsOf = (name: string) => registered.find((r) => r.name === name && !r.type.startsWith("eks:"))?.inputs;

describe("eks:index:Cluster", () => {
  test("makes the children of the real component under their names", async () => {
    const { outputs } = await cluster("hub", args);
    expect(children()).toEqual([
      "aws:eks/addon:Addon hub-kube-proxy",
      "aws:eks/addon:Addon hub-vpc-cni",
      "aws:eks/cluster:Cluster hub-eksCluster",
      "eks:index:Cluster hub",
      "eks:index:VpcCniAddon hub-vpc-cni",
      "pulumi:providers:kubernetes hub-eks-k8s",
    ]);
    expect(inputsOf("hub-eksCluster")).toMatchObject({
      name: "fleet-hub",
      version: "1.35",
      roleArn: "arn:role",
      accessConfig: { authenticationMode: "API", bootstrapClusterCreatorAdminPermissions: true },
      bootstrapSelfManagedAddons: true,
      deletionProtection: true,
      enabledClusterLogTypes: ["api"],
      encryptionConfig: { provider: { keyArn: "arn:key" }, resources: ["secrets"] },
      tags: { Name: "hub-eksCluster", team: "platform" },
      vpcConfig: { subnetIds: ["subnet-a", "subnet-b"], endpointPublicAccess: false, endpointPrivateAccess: true },
    });
    expect(inputsOf("hub-kube-proxy")).toMatchObject({ addonVersion: "v1.35.0-eksbuild.1", preserve: true });
    expect(inputsOf("hub-vpc-cni").addonVersion).toBe("v1.22.4-eksbuild.3");
    await expect(value(outputs["oidcIssuer"])).resolves.toBe("oidc.eks.eu-central-1.amazonaws.com/id/ABC");
    await expect(value(outputs["oidcProviderUrl"])).resolves.toBe(issuer);
    await expect(value(outputs["clusterSecurityGroupId"])).resolves.toBe("sg-eks");
    const kubeconfig = JSON.parse(await value<string>(outputs["kubeconfigJson"]));
    expect(kubeconfig.clusters[0].cluster).toEqual({
      server: "https://100.64.254.1",
      "certificate-authority-data": "Q0E=",
    });
    expect(kubeconfig.users[0].user).toEqual({ exec: expect.objectContaining({ command: "aws" }) });
    expect(kubeconfig.users[0].user.exec.args).toEqual(
      "--region eu-central-1 eks get-token --cluster-name fleet-hub --output json".split(" "),
    );
  });

  test("has the profile of the environment or the stack in its own provider, as the real one, unless credentials are given", async () => {
    const flags = async (name: string, given: object) => {
      const { providerCredentialOpts: _, ...rest } = args;
      await cluster(name, { ...rest, ...given });
      const config = JSON.parse(inputsOf(`${name}-eks-k8s`).kubeconfig);
      return config.users[0].user.exec.args.slice(8);
    };
    onTestFinished(() => {
      pulumi.runtime.setAllConfig({});
      vi.unstubAllEnvs();
    });
    vi.stubEnv("AWS_PROFILE", "mine");
    expect(await flags("ambient", {})).toEqual(["--profile", "mine"]);
    expect(await flags("given", { providerCredentialOpts: {} })).toEqual([]);
    vi.stubEnv("AWS_PROFILE", undefined);
    pulumi.runtime.setAllConfig({ "aws:profile": "of-the-stack" });
    expect(await flags("stack", {})).toEqual(["--profile", "of-the-stack"]);
  });

  test("merges environment variables of the VPC CNI into the component's own, sorted, as the real one", async () => {
    const configurationValues = { env: { ADDITIONAL_ENI_TAGS: "{}" } };
    await cluster("hub", { ...args, vpcCniOptions: { ...args.vpcCniOptions, configurationValues } });
    const { env, ...others } = JSON.parse(inputsOf("hub-vpc-cni").configurationValues);
    expect(env).toMatchObject({ ADDITIONAL_ENI_TAGS: "{}", WARM_ENI_TARGET: "1" });
    expect(Object.keys(env)).toEqual(Object.keys(env).toSorted());
    expect(others).toEqual({ enableNetworkPolicy: "true", init: { env: { DISABLE_TCP_EARLY_DEMUX: "false" } } });
  });

  test("refuses all arguments that it cannot honour at once, each with what to do", async () => {
    const { Cluster } = await import("../../../../pulumi/eks/cluster.ts");
    const wrong = {
      fargate: true,
      kubeProxyAddonOptions: { nonsense: 1 },
      corednsAddonOptions: { enabled: true, resolveConflictsOnUpdate: "NONE" },
      providerCredentialOpts: { roleArn: "arn:role" },
      subnetIds: ["a"],
    };
    const make = () => new Cluster("hub", wrong as never, {});
    for (const part of [
      "fargate: not implemented by the stand-in",
      'authenticationMode: got nothing (CONFIG_MAP); the stand-in has no aws-auth ConfigMap, only "API"',
      "skipDefaultNodeGroup: must be true",
      "skipDefaultSecurityGroups: must be true",
      "serviceRole: is missing",
      "vpcId: is missing",
      "subnetIds: not implemented",
      "privateSubnetIds: is missing",
      "kubeProxyAddonOptions.version: is missing",
      "vpcCniOptions.addonVersion: is missing",
      "corednsAddonOptions.enabled: must be false",
      "corednsAddonOptions.resolveConflictsOnUpdate: must be OVERWRITE",
      "providerCredentialOpts.roleArn: not implemented by the stand-in; implemented: no member",
      "kubeProxyAddonOptions.nonsense: not implemented",
    ])
      expect(make).toThrow(part);
  });
});

describe("eks:index:ManagedNodeGroup", () => {
  const core = {
    cluster: { name: "fleet-hub", version: "1.35" },
    subnetIds: ["a", "b"],
    privateSubnetIds: ["b"],
    publicSubnetIds: ["a"],
  };
  const nodes = {
    cluster: { core } as never,
    nodeRoleArn: "arn:node",
    scalingConfig: { minSize: 1, maxSize: 3, desiredSize: 2 },
  };

  test("makes a node group of the cluster's version in its subnets, under its own name", async () => {
    await nodeGroup("nodes", { ...nodes, labels: { role: "system" } });
    expect(children()).toEqual(["aws:eks/nodeGroup:NodeGroup nodes", "eks:index:ManagedNodeGroup nodes"]);
    expect(inputsOf("nodes")).toMatchObject({
      clusterName: "fleet-hub",
      version: "1.35",
      subnetIds: ["a", "b"],
      nodeRoleArn: "arn:node",
      scalingConfig: { minSize: 1, maxSize: 3, desiredSize: 2 },
      labels: { role: "system" },
    });
  });

  test("leaves the version to a given launch template", async () => {
    await nodeGroup("own", { ...nodes, launchTemplate: { id: "lt-1", version: "1" } });
    expect(inputsOf("own")).not.toHaveProperty("version");
  });

  test("refuses what it cannot honour and what excludes each other", async () => {
    const { ManagedNodeGroup } = await import("../../../../pulumi/eks/managed-node-group.ts");
    const make = () =>
      new ManagedNodeGroup("nodes", { cluster: {}, userData: "x", nodeRole: {}, nodeRoleArn: "arn" } as never, {});
    expect(make).toThrow("userData: not implemented by the stand-in");
    expect(make).toThrow("nodeRole: excludes nodeRoleArn");
  });
});

test("the VPC CNI has the component's defaults, in the order in which it writes them", async () => {
  await cluster("hub", args);
  const text: string = inputsOf("hub-vpc-cni").configurationValues;
  const { env, init, ...values } = JSON.parse(text);
  expect(values).toEqual({ enableNetworkPolicy: "true" });
  expect(env).toMatchObject({ WARM_ENI_TARGET: "1", AWS_VPC_K8S_CNI_LOGLEVEL: "DEBUG", ENABLE_POD_ENI: "false" });
  expect(init).toEqual({ env: { DISABLE_TCP_EARLY_DEMUX: "false" } });
  const names = [...text.matchAll(/"([A-Z_0-9]+)":/g)].map(([, name]) => name);
  expect(names.slice(0, -1)).toEqual(Object.keys(env).sort());
});
