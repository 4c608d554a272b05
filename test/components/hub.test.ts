import { generateKeyPairSync } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { Crossplane } from "../../components/crossplane.ts";
import { FluxSync } from "../../components/flux-sync.ts";
import { HelmAddon, type Registries } from "../../components/helm-addon.ts";
import type { HubCluster } from "../../components/hub-cluster.ts";
import { HubNodes, type HubNodesArgs } from "../../components/hub-nodes.ts";
import { sameServices } from "../../components/service-block.ts";
import { charts, kubernetesVersions } from "../../components/versions.ts";
import { outsideOfServices } from "../../infra/network.ts";
import { type FixedNodeFields, nodeDigest } from "../../lib/node-groups.ts";
import { project, type Run, recorded, runProgram, runStack, stackConfig } from "../support/program.ts";
import { withServices } from "../support/program-mocks.ts";

const own = (key: string) => `${project}:${key}`;

async function made(registries: Registries) {
  const args = { chart: charts.crossplane, registries, releaseName: "crossplane", namespace: "x" };
  return (await recorded("test", async () => new HelmAddon("x", args))).resources;
}

const ofType = (resources: Awaited<ReturnType<typeof made>>, kind: string) =>
  resources.find(({ type }) => type.endsWith(`:${kind}`));
const release = async (mirror: string) => ofType(await made({ charts: mirror }), "Release")?.inputs;

describe("charts", () => {
  it("come from their upstream repository, an HTTPS mirror or an OCI mirror, always in the pinned version", async () => {
    const pinned = { version: charts.crossplane.version, name: "crossplane", atomic: true };
    expect(await release("")).toMatchObject({
      ...pinned,
      chart: "crossplane",
      repositoryOpts: { repo: charts.crossplane.repository },
    });
    expect(await release("https://charts.example/x")).toMatchObject({
      ...pinned,
      chart: "crossplane",
      repositoryOpts: { repo: "https://charts.example/x" },
    });
    const oci = await release("oci://registry.example/charts");
    expect(oci).toMatchObject({ ...pinned, chart: "oci://registry.example/charts/crossplane" });
    expect(oci).not.toHaveProperty("repositoryOpts");
  });

  it("come from a private mirror with its credential, at https:// and oci:// alike, whose password is secret in the state", async () => {
    const chartsCredential = { username: "fleet", password: pulumi.secret("t0ps3cret") };
    const found = ofType(await made({ charts: "https://charts.example", chartsCredential }), "Release");
    expect(found?.inputs["repositoryOpts"]).toEqual({
      repo: "https://charts.example",
      username: "fleet",
      password: "t0ps3cret",
    });
    expect(found?.secrets).toEqual(["repositoryOpts.password"]);
    const oci = ofType(await made({ charts: "oci://registry.example/charts", chartsCredential }), "Release");
    expect(oci?.inputs["repositoryOpts"]).toEqual({ username: "fleet", password: "t0ps3cret" });
    expect(oci?.secrets).toEqual(["repositoryOpts.password"]);
  });

  it("have a pull secret in their namespace before their release, where there is one", async () => {
    const config = '{"auths":{"registry.example":{"auth":"ZmxlZXQ6eA=="}}}';
    const resources = await made({ pullSecret: pulumi.secret(config) });
    const secret = ofType(resources, "Secret");
    expect(secret?.inputs).toMatchObject({
      type: "kubernetes.io/dockerconfigjson",
      metadata: { name: "pull-secret", namespace: "x" },
      data: { ".dockerconfigjson": Buffer.from(config).toString("base64") },
    });
    expect(secret?.secrets).toEqual(["data"]);
    expect(ofType(resources, "Release")?.dependencies).toContain("kubernetes:core/v1:Secret::x-pull-secret");
    expect(ofType(await made({}), "Secret")).toBeUndefined();
  });

  it("are pinned to exact versions, and Kubernetes versions are listed oldest first", () => {
    for (const { version } of Object.values(charts)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect([...kubernetesVersions].sort((a, b) => Number(a.split(".")[1]) - Number(b.split(".")[1]))).toEqual([
      ...kubernetesVersions,
    ]);
  });

  it("a log level reaches Crossplane as its debug flag", async () => {
    const values = async (logLevel: string) =>
      (await recorded("test", async () => new Crossplane("x", { logLevel }))).resources.find(({ type }) =>
        type.endsWith(":Release"),
      )?.inputs["values"];
    expect(await values("debug")).toMatchObject({ args: expect.arrayContaining(["--debug"]) });
    expect(await values("info")).toMatchObject({ args: expect.not.arrayContaining(["--debug"]) });
  });
});

describe("the root of Git on the hub", () => {
  it("is applied with the cluster secret's values, pruned, and removed only when everything below is gone", async () => {
    const args = {
      namespace: "flux-system",
      repository: "gitops-system",
      source: { url: "ssh://git@git.example/a.git", revision: "main" },
      provider: "generic" as const,
      interval: "1m",
      path: "./clusters/hub",
      kustomizationName: "hub",
      storeName: "store",
      remoteSecret: "fleet/git/gitops-system",
      clusterSecret: "cluster-hub",
    };
    const { resources } = await recorded("test", async () => new FluxSync("sync", args));
    const spec = (kind: string) => resources.find(({ type }) => type.endsWith(`:${kind}`))?.inputs["spec"];
    expect(spec("Kustomization")).toMatchObject({
      path: "./clusters/hub",
      prune: true,
      wait: true,
      deletionPolicy: "WaitForTermination",
      postBuild: { substituteFrom: [{ kind: "Secret", name: "cluster-hub" }] },
    });
    expect(spec("GitRepository")).toMatchObject({
      url: args.source.url,
      ref: { branch: "main" },
      secretRef: { name: "gitops-system" },
    });
    expect(spec("ExternalSecret")).toMatchObject({
      target: { name: "gitops-system" },
      dataFrom: [{ extract: expect.objectContaining({ key: "fleet/git/gitops-system" }) }],
    });
    expect(resources.find(({ type }) => type.endsWith(":Kustomization"))?.deleteTimeout).toBe("60m");
  });
});

describe("the hub's node group", () => {
  const fields = {
    instanceTypes: ["m7g.large"],
    amiType: "AL2023_ARM_64_STANDARD",
    capacityType: "ON_DEMAND" as const,
    subnetIds: ["subnet-b", "subnet-a"],
  };
  const cluster = {
    cluster: { name: "fleet-hub" },
    clusterName: "fleet-hub",
    version: "1.35",
    name: pulumi.output("fleet-hub"),
    addonVersion: () => pulumi.output("v1"),
  } as unknown as HubCluster;
  const nameWith = async (change: Partial<HubNodesArgs> = {}) => {
    const { resources } = await recorded("test", async () => new HubNodes("nodes", { cluster, ...fields, ...change }));
    return resources.find(({ type }) => type === "eks:index:ManagedNodeGroup")?.inputs["nodeGroupName"];
  };
  const digested = (change: Partial<FixedNodeFields> = {}) => `fleet-hub-nodes-${nodeDigest({ ...fields, ...change })}`;

  it("has a name that follows from what EKS can't change of it", async () => {
    expect(await nameWith()).toBe(digested());
    for (const change of [
      { instanceTypes: ["m7g.xlarge", "m7g.large"] },
      { capacityType: "SPOT" as const },
      { subnetIds: ["subnet-a", "subnet-b", "subnet-c"] },
    ]) {
      expect(await nameWith(change)).toBe(digested(change));
      expect(digested(change)).not.toBe(digested());
    }
    const upgraded = { cluster: { ...cluster, version: "1.34" } as HubCluster };
    for (const change of [{ diskSize: 100 }, upgraded, { subnetIds: ["subnet-a", "subnet-b"] }])
      expect(await nameWith(change)).toBe(digested());
  });

  it("has nodes with shells by Session Manager only when the stack sets it", async () => {
    const policies = async (change: Partial<HubNodesArgs>) => {
      const { resources } = await recorded(
        "test",
        async () => new HubNodes("nodes", { cluster, ...fields, ...change }),
      );
      return resources.flatMap(({ inputs, type }) =>
        type.endsWith("RolePolicyAttachment") ? [inputs["policyArn"]] : [],
      );
    };
    const ofSessions = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore";
    expect(await policies({})).not.toContain(ofSessions);
    expect(await policies({ sessionManager: true })).toContain(ofSessions);
  });
});

describe("the block of Services", () => {
  const range = async (config: Record<string, string>) => {
    const { resources } = await runProgram("dev", { ...stackConfig("dev"), ...config });
    return resources.find(({ type }) => type === "eks:index:Cluster")?.inputs["kubernetesServiceIpAddressRange"];
  };
  const wanted = { [own("serviceIpv4Cidr")]: "172.21.0.0/16" };

  it("is the stack's for a new hub, and EKS's choice without one", async () => {
    expect(await range({})).toBeUndefined();
    expect(await range(wanted)).toBe("172.21.0.0/16");
  });

  it("is compared with that of a hub that exists", async () => {
    expect(await withServices("172.21.0.0/16", () => range(wanted))).toBe("172.21.0.0/16");
  });

  it("is not changed, which would replace the hub", () => {
    expect(sameServices("fleet-hub", "172.21.0.0/16", undefined)).toBe("172.21.0.0/16");
    expect(() => sameServices("fleet-hub", "172.21.0.0/16", "172.20.0.0/16")).toThrow(
      "serviceIpv4Cidr: got 172.21.0.0/16, but the EKS cluster fleet-hub has 172.20.0.0/16, which EKS can't change",
    );
  });

  it("is outside of an existing VPC", () => {
    expect(outsideOfServices("10.99.0.0/16", "")).toBe("10.99.0.0/16");
    expect(outsideOfServices("10.99.0.0/16", "10.98.0.0/16")).toBe("10.99.0.0/16");
    expect(() => outsideOfServices("10.99.0.0/16", "10.99.128.0/20")).toThrow(
      "serviceIpv4Cidr: got 10.99.128.0/20, which overlaps 10.99.0.0/16",
    );
  });
});

describe("alternatives by configuration", () => {
  it("the Kubernetes API is asked with the profile of the stack, and nothing in the state says who ran Pulumi", async () => {
    const { AWS_PROFILE } = process.env;
    process.env["AWS_PROFILE"] = "somebodys-own";
    try {
      const args = async (config: Record<string, string>) => {
        const { resources, outputs } = await runProgram("dev", { ...stackConfig("dev"), ...config });
        expect(JSON.stringify([resources, outputs])).not.toContain("somebodys-own");
        expect(outputs["kubeconfig"]).not.toContain("--profile");
        expect(resources.find(({ type }) => type === "eks:index:Cluster")?.inputs["providerCredentialOpts"]).toEqual(
          {},
        );
        const provider = resources.find(({ type }) => type === "pulumi:providers:kubernetes")?.inputs["kubeconfig"];
        return (JSON.parse(provider) as { users: { user: { exec: { args: string[] } } }[] }).users[0]?.user.exec.args;
      };
      expect(await args({})).toEqual(["eks", "get-token"]);
      expect(await args({ "aws:profile": "fleet" })).toEqual(["eks", "get-token", "--profile", "fleet"]);
    } finally {
      delete process.env["AWS_PROFILE"];
      if (AWS_PROFILE !== undefined) process.env["AWS_PROFILE"] = AWS_PROFILE;
    }
  });

  it("the hub's OIDC provider carries the fleet's tags and no thumbprint, and is protected with the cluster", async () => {
    const { resources } = await runStack("prod");
    const provider = resources.find(({ type }) => type === "aws:iam/openIdConnectProvider:OpenIdConnectProvider");
    expect(provider).toMatchObject({
      name: "hub-oidcProvider",
      protect: true,
      inputs: { clientIdLists: ["sts.amazonaws.com"], url: expect.stringMatching(/^https:\/\/oidc\.eks\./) },
    });
    expect(provider?.inputs["tags"]).toMatchObject({ "fleet.internal/fleet": "fleet-prod" });
    expect(provider?.inputs).not.toHaveProperty("thumbprintLists");
  });

  it("an existing VPC is used as it is: no network is made", async () => {
    const subnets = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"];
    const { resources, outputs } = await runStack("dev", {
      [own("vpcId")]: "vpc-0123456789abcdef0",
      [own("privateSubnetIds")]: JSON.stringify(subnets),
      [own("egressCidrs")]: '["5.6.7.9/32"]',
    });
    const network = /^aws:ec2\/(vpc|subnet|natGateway|eip|route|internetGateway)/;
    expect(resources.filter(({ type }) => network.test(type))).toEqual([]);
    const cluster = resources.find(({ type }) => type === "eks:index:Cluster");
    expect(cluster?.inputs).toMatchObject({
      vpcId: "vpc-0123456789abcdef0",
      privateSubnetIds: subnets,
      publicSubnetIds: [],
    });
    expect(outputs["bridgeData"]).toMatchObject({
      aws_vpc_id: "vpc-0123456789abcdef0",
      aws_vpc_cidr: "10.99.0.0/16",
      hub_egress_cidrs: "5.6.7.9/32",
    });
  });

  it("connected networks may use the private endpoint", async () => {
    const { resources } = await runStack("dev", { [own("endpointPrivateAccessCidrs")]: '["10.20.0.0/16"]' });
    const rules = resources.filter(({ type }) => type === "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule");
    expect(rules.map(({ name, inputs }) => ({ name, inputs }))).toEqual([
      {
        name: "hub-api-from-10-20-0-0-16",
        inputs: expect.objectContaining({
          securityGroupId: "sg-cluster",
          ipProtocol: "tcp",
          fromPort: 443,
          toPort: 443,
          cidrIpv4: "10.20.0.0/16",
        }),
      },
    ]);
  });

  it("an Argo CD cluster secret has the same values, and its role an access entry where it administers the hub", async () => {
    const roleArn = "arn:aws:iam::111111111111:role/argocd";
    const { resources, outputs } = await runStack("dev", {
      [own("argocdClusterSecret")]: "true",
      [own("argocdRoleArn")]: roleArn,
      [own("argocdHubAdmin")]: "true",
    });
    const secret = resources.find(({ name }) => name === "cluster-secret-argocd");
    expect(secret?.inputs["metadata"]).toMatchObject({ namespace: "argocd", annotations: outputs["bridgeData"] });
    const config = JSON.parse(Buffer.from(secret?.inputs["data"].config, "base64").toString());
    expect(config.awsAuthConfig).toEqual({ clusterName: "fleet-dev-hub", roleARN: roleArn });
    const entries = resources.filter(({ type }) => type === "aws:eks/accessEntry:AccessEntry");
    expect(entries.map(({ name }) => name).sort()).toEqual([
      "hub-111111111111-role-argocd",
      "hub-111111111111-role-platform-team",
    ]);
  });

  it("a GitHub App makes Flux use the GitHub provider, on the hub and on spokes", async () => {
    const appKey = generateKeyPairSync("rsa", { modulusLength: 2048 })
      .privateKey.export({ format: "pem", type: "pkcs8" })
      .toString();
    const secretKeys = [own("githubAppPrivateKey")];
    const { resources, outputs } = await runStack(
      "dev",
      {
        [own("gitAuthentication")]: "github-app",
        [own("gitopsSystemRepoUrl")]: "https://github.com/example/gitops-system.git",
        [own("gitopsWorkloadsRepoUrl")]: "https://github.com/example/gitops-workloads.git",
        [own("githubAppId")]: "1",
        [own("githubAppInstallationId")]: "2",
        [own("githubAppPrivateKey")]: appKey,
      },
      secretKeys,
    );
    expect(resources.find(({ type }) => type.endsWith(":GitRepository"))?.inputs["spec"]).toMatchObject({
      provider: "github",
    });
    expect(outputs["bridgeData"]).toMatchObject({ git_provider: "github" });
    const plain = resources.filter(
      ({ inputs, secrets }) =>
        JSON.stringify(inputs).includes(JSON.stringify(appKey).slice(1, -1)) && secrets.length === 0,
    );
    expect(plain).toEqual([]);
  });

  it("a problem in the configuration ends the program before anything is registered", async () => {
    const run = runStack("dev", { [own("vpcCidr")]: "10.0.0.1/16", [own("kubernetesVersion")]: "1.20" });
    await expect(run).rejects.toThrow("2 problems in the configuration of stack dev, nothing was changed:");
  });
});

describe("the cluster secret", () => {
  it("enables the add-on kyverno on the hub when the stack asks for it", async () => {
    const bridge = ({ resources }: Run) => resources.find(({ name }) => name === "cluster-secret-bridge")?.inputs;
    const addons = (data: { addons: string }) => JSON.parse(Buffer.from(data.addons, "base64").toString());
    const enabled = bridge(await runStack("dev", { [own("kyverno")]: "true" }));
    expect(enabled?.["metadata"].labels).toMatchObject({ enable_kyverno: "true" });
    expect(addons(enabled?.["data"])).toContain("kyverno");
    const plain = bridge(await runStack("dev"));
    expect(plain?.["metadata"].labels).not.toHaveProperty("enable_kyverno");
    expect(addons(plain?.["data"])).not.toContain("kyverno");
  });

  it("is written as data, so that a key that is no longer emitted goes", async () => {
    const { resources } = await runStack("dev");
    const secret = resources.find(({ name }) => name === "cluster-secret-bridge");
    expect(secret?.inputs).not.toHaveProperty("stringData");
    expect(secret?.inputs["metadata"]).toMatchObject({
      name: "cluster-hub",
      namespace: "flux-system",
      labels: { "reconcile.fluxcd.io/watch": "Enabled" },
    });
    expect(Buffer.from(secret?.inputs["data"].cluster_name, "base64").toString()).toBe("hub");
    expect(
      Object.keys(secret?.inputs["data"]).filter((key) =>
        /token|password|kubeconfig|private_key|secret_key|access_key/.test(key),
      ),
    ).toEqual([]);
  });
});
