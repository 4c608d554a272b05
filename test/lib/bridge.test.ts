import { describe, expect, it } from "vitest";
import { argocdClusterSecret } from "../../lib/argocd.ts";
import { fromBase64, inBase64 } from "../../lib/base64.ts";
import {
  bridgeData,
  bridgeLabels,
  type ClusterMetadata,
  clusterSecretName,
  exampleMetadata,
  expectForms,
  readBridgeData,
} from "../../lib/bridge.ts";
import { bridgeKeys } from "../../lib/bridge-keys.ts";

const metadata: ClusterMetadata = {
  ...exampleMetadata,
  name: "hub",
  role: "hub",
  environment: "prod",
  tenant: "platform",
  fleet: "fleet",
  aws: {
    accountId: "000000000000",
    region: "us-east-1",
    rolePath: "/",
    partition: "aws",
    vpcId: "vpc-1",
    vpcCidr: "10.0.0.0/16",
    clusterName: "fleet-hub",
    clusterArn: "arn:aws:eks:us-east-1:000000000000:cluster/fleet-hub",
    loadBalancerCidrs: [],
    nodeRole: "fleet-hub-node",
  },
  kubernetesVersion: "1.35",
  oidc: { provider: "oidc.example/id/1", providerArn: "arn:aws:iam::000000000000:oidc-provider/oidc.example/id/1" },
  identities: {
    helm_controller: {
      roleArn: "arn:aws:iam::000000000000:role/helm",
      namespace: "flux-system",
      serviceAccount: "helm-controller",
    },
  },
  repositories: {
    gitopsSystem: { url: "ssh://a", revision: "main" },
    gitopsWorkloads: { url: "ssh://b", revision: "prod" },
  },
  chartsRegistry: "",
  fleetSize: "small",
  gitProvider: "generic",
  functionPackage: "ghcr.io/example/function-spoke",
  imagesRegistry: "registry.example.com/mirror",
  packagesRegistry: "",
  pullSecrets: ["pull-secret"],
  chartsCredential: true,
  sealingScope: "prod",
  secretsKeyArn: "arn:aws:kms:us-east-1:000000000000:key/1",
  permissionsBoundaryArn: "arn:aws:iam::000000000000:policy/boundary",
  tenantBoundaryArn: "arn:aws:iam::000000000000:policy/tenant-boundary",
  addonBoundaryArn: "arn:aws:iam::000000000000:policy/addon-boundary",
  spokePrefix: "fleet-spoke-",
  spokeCidrPool: "10.64.0.0/10",
  hubEgressCidrs: ["198.51.100.1/32", "198.51.100.2/32"],
  hubAvailabilityZones: ["us-east-1a", "us-east-1b", "us-east-1c"],
  addons: ["flux"],
};

describe("bridgeData", () => {
  it.each([
    ["aws_vpc_id", { aws: { ...metadata.aws, vpcId: 'vpc-1"\rdata: {"images_prefix": "evil.example/"}' } }],
    ["aws_vpc_id", { aws: { ...metadata.aws, vpcId: "hub" } }],
    ["cluster_arn", { aws: { ...metadata.aws, clusterArn: "arn:aws:eks:us-east-1:000000000000:cluster/a\\rb" } }],
    ["oidc_provider", { oidc: { ...metadata.oidc, provider: 'oidc.example/id/1"' } }],
    ["cluster_arn", { aws: { ...metadata.aws, clusterArn: "arn:aws:eks:us-east-1:000000000000:cluster/a\u0085b" } }],
    ["company_tags", { tags: { owner: "a\u2028b" } }],
    ["argocd_iam_role_arn", { identities: { argocd: { roleArn: "", namespace: "argocd", serviceAccount: "argocd" } } }],
  ])("refuses what %s can't be, which Flux would substitute as an administrator", (key, change) => {
    expect(() => expectForms(bridgeData({ ...metadata, ...change }))).toThrow(`the fact ${key} can't be "`);
  });

  it("emits every documented key, and three for each identity, all as text", () => {
    const data = bridgeData(metadata);
    expect(Object.keys(data).sort()).toEqual(
      [
        ...Object.keys(bridgeKeys),
        "helm_controller_iam_role_arn",
        "helm_controller_namespace",
        "helm_controller_service_account",
      ].sort(),
    );
    expect(Object.values(data).every((value) => typeof value === "string")).toBe(true);
    expect(data).toMatchObject({
      cluster_name: "hub",
      kubernetes_version: "1.35",
      hub_egress_cidrs: "198.51.100.1/32,198.51.100.2/32",
      hub_availability_zones: "us-east-1a,us-east-1b,us-east-1c",
      images_prefix: "registry.example.com/mirror/",
      packages_prefix: "",
      pull_secrets: '[{"name":"pull-secret"}]',
      pull_secret_names: '["pull-secret"]',
      charts_components: '["credential"]',
    });
  });

  it.each([
    ["", "default"],
    ["https://charts.example.com", "default"],
    ["oci://registry.example.com/charts", "oci"],
  ])("tells of the chart mirror %j that its HelmRepositories are of type %s", (chartsRegistry, type) => {
    expect(bridgeData({ ...metadata, chartsRegistry })).toMatchObject({ charts_registry_type: type });
  });

  it.each([
    [["10.0.192.0/20", "10.0.208.0/20"], '[{"ipBlock":{"cidr":"10.0.192.0/20"}},{"ipBlock":{"cidr":"10.0.208.0/20"}}]'],
    // An empty list in a NetworkPolicy would admit everybody.
    [[], '[{"ipBlock":{"cidr":"255.255.255.255/32"}}]'],
  ])("tells NetworkPolicies to admit the load balancers in %j, and nobody where there are none", (cidrs, peers) => {
    const aws = { ...metadata.aws, loadBalancerCidrs: cidrs };
    expect(bridgeData({ ...metadata, aws })).toMatchObject({ load_balancer_peers: peers });
  });

  it("uses only keys that Flux can substitute", () => {
    expect(Object.keys(bridgeData(metadata)).filter((key) => !/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(key))).toEqual([]);
  });

  it("refuses an add-on whose keys Flux could not substitute", () => {
    const identities = { "helm-controller": { roleArn: "r", namespace: "n", serviceAccount: "s" } };
    expect(() => bridgeData({ ...metadata, identities })).toThrow('add-on "helm-controller" is not in snake_case');
  });

  it("an identity can't take the place of a documented key", () => {
    expect(Object.keys(bridgeKeys).filter((key) => /_(iam_role_arn|namespace|service_account)$/.test(key))).toEqual([]);
  });
});

describe("readBridgeData", () => {
  it("gives back what bridgeData wrote", () => {
    expect(readBridgeData(bridgeData(metadata))).toEqual(metadata);
    const bare = { ...metadata, hubEgressCidrs: [], addons: [] };
    expect(readBridgeData(fromBase64(inBase64(bridgeData(bare))))).toEqual(bare);
  });

  it("gives the examples of the contract back as they stand there", () => {
    const examples = Object.entries(bridgeKeys).map(([key, { form }]) => [key, form.example]);
    expect(bridgeData(exampleMetadata)).toEqual(Object.fromEntries(examples));
  });

  it("names every key that an older program did not write", () => {
    const { aws_vpc_cidr: _, fleet: __, ...older } = bridgeData(metadata);
    expect(() => readBridgeData(older)).toThrow("the cluster secret lacks fleet, aws_vpc_cidr: run pulumi up");
  });
});

describe("bridgeLabels", () => {
  it("names the cluster, its role, environment, tenant and add-ons, and makes Flux react at once", () => {
    expect(bridgeLabels(metadata)).toEqual({
      "fleet.internal/cluster": "hub",
      "fleet.internal/role": "hub",
      "fleet.internal/environment": "prod",
      "fleet.internal/tenant": "platform",
      enable_flux: "true",
      "reconcile.fluxcd.io/watch": "Enabled",
    });
    expect(clusterSecretName("hub")).toBe("cluster-hub");
  });
});

describe("argocdClusterSecret", () => {
  it("carries the same labels and values, marked for Argo CD", () => {
    const secret = argocdClusterSecret(metadata, { kind: "in-cluster" });
    expect(secret.labels).toEqual({
      ...bridgeLabels(metadata),
      "argocd.argoproj.io/secret-type": "cluster",
      cluster_name: "hub",
      environment: "prod",
      kubernetes_version: "1.35",
      tenant: "platform",
    });
    expect(secret.annotations).toEqual(bridgeData(metadata));
    expect(secret.data.server).toBe("https://kubernetes.default.svc");
    expect(JSON.parse(secret.data.config)).toEqual({ tlsClientConfig: { insecure: false } });
  });

  it("reaches a cluster from outside as an IAM role, never with a token", () => {
    const access = {
      kind: "role",
      roleArn: "arn:argocd",
      endpoint: "https://hub",
      certificateAuthority: "Q0E=",
    } as const;
    const { data } = argocdClusterSecret(metadata, access);
    expect(data.server).toBe("https://hub");
    expect(JSON.parse(data.config)).toEqual({
      awsAuthConfig: { clusterName: "fleet-hub", roleARN: "arn:argocd" },
      tlsClientConfig: { insecure: false, caData: "Q0E=" },
    });
  });
});
