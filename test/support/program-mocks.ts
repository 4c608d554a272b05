/** What the providers of a mocked run answer the program. */

// biome-ignore lint/suspicious/noExplicitAny: resource inputs have any shape, and tests read them by path
export type Properties = Record<string, any>;

const issuer = "oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF";
const account = "222222222222";

/** Outputs that a provider would compute and that the program reads. */
export function computed(type: string, name: string, inputs: Properties): Record<string, unknown> {
  const physical = inputs["name"] ?? name;
  switch (type) {
    case "eks:index:Cluster": {
      const arn = `arn:aws:eks:eu-central-1:${account}:cluster/${physical}`;
      const eksCluster = {
        name: physical,
        arn,
        endpoint: "https://hub.example",
        certificateAuthority: { data: "Q0E=" },
        vpcConfig: { clusterSecurityGroupId: "sg-cluster" },
      };
      return {
        eksCluster,
        oidcIssuer: issuer,
        oidcProviderUrl: `https://${issuer}`,
        kubeconfigJson: JSON.stringify({ users: [{ name: "aws", user: { exec: { args: ["eks", "get-token"] } } }] }),
      };
    }
    case "aws:iam/openIdConnectProvider:OpenIdConnectProvider":
      return {
        arn: `arn:aws:iam::${account}:oidc-provider/${String(inputs["url"] ?? issuer).replace("https://", "")}`,
      };
    case "eks:index:ManagedNodeGroup":
      return { nodeGroup: { nodeGroupName: inputs["nodeGroupName"] } };
    case "aws:eks/cluster:Cluster":
      return {
        arn: `arn:aws:eks:eu-central-1:${account}:cluster/${physical}`,
        endpoint: "https://hub.example",
        certificateAuthority: { data: "Q0E=" },
        identities: [{ oidcs: [{ issuer: `https://${issuer}` }] }],
        vpcConfig: { ...inputs["vpcConfig"], clusterSecurityGroupId: "sg-eks" },
      };
    case "aws:iam/role:Role":
      return { arn: `arn:aws:iam::${account}:role${inputs["path"] ?? "/"}${physical}` };
    case "aws:iam/policy:Policy":
      return { arn: `arn:aws:iam::${account}:policy/${physical}` };
    case "aws:kms/key:Key":
      return { arn: `arn:aws:kms:eu-central-1:${account}:key/${name}`, keyId: name };
    case "aws:amp/workspace:Workspace":
      return {
        arn: `arn:aws:aps:eu-central-1:${account}:workspace/ws-${name}`,
        prometheusEndpoint: `https://aps-workspaces.eu-central-1.amazonaws.com/workspaces/ws-${name}/`,
      };
    case "aws:grafana/workspace:Workspace":
      return {
        arn: `arn:aws:grafana:eu-central-1:${account}:/workspaces/g-0a1b2c3d4e`,
        endpoint: "g-0a1b2c3d4e.grafana-workspace.eu-central-1.amazonaws.com",
      };
    case "aws:secretsmanager/secret:Secret":
      return { arn: `arn:aws:secretsmanager:eu-central-1:${account}:secret:${physical}-AbCdEf` };
    case "aws:ec2/eip:Eip":
      return { publicIp: "198.51.100.7" };
    case "aws:ec2/launchTemplate:LaunchTemplate":
      return { latestVersion: 1 };
    case "tls:index/privateKey:PrivateKey":
      return {
        privateKeyPem: `PEM ${name}`,
        privateKeyOpenssh: `OPENSSH ${name}`,
        publicKeyOpenssh: `ssh-ed25519 ${name}\n`,
      };
    case "random:index/randomPassword:RandomPassword":
      return { result: `TOKEN ${name} ${inputs["keepers"]?.generation}` };
    case "tls:index/selfSignedCert:SelfSignedCert":
      return { certPem: `CERTIFICATE ${name}`, validityEndTime: "2036-01-31T00:00:00Z" };
    default:
      return {};
  }
}

let existingServices: string | undefined;

/** Lets EKS have the hub, with a block of Services, while `run` asks for it. */
export async function withServices<T>(serviceIpv4Cidr: string, run: () => Promise<T>): Promise<T> {
  existingServices = serviceIpv4Cidr;
  try {
    return await run();
  } finally {
    existingServices = undefined;
  }
}

/** What a provider answers. */
export function invoked(token: string, inputs: Properties): Record<string, unknown> {
  switch (token) {
    case "aws:index/getCallerIdentity:getCallerIdentity":
      return { accountId: account };
    case "aws:index/getPartition:getPartition":
      return { partition: "aws", dnsSuffix: "amazonaws.com" };
    case "aws:index/getRegion:getRegion":
      return { region: "eu-central-1" };
    case "aws:index/getAvailabilityZones:getAvailabilityZones":
      return { names: ["eu-central-1a", "eu-central-1b", "eu-central-1c"] };
    case "aws:ec2/getVpc:getVpc":
      return { id: inputs["id"], cidrBlock: "10.99.0.0/16" };
    case "aws:eks/getClusters:getClusters":
      return { names: existingServices ? ["fleet-dev-hub"] : [] };
    case "aws:eks/getCluster:getCluster":
      return { name: inputs["name"], kubernetesNetworkConfigs: [{ serviceIpv4Cidr: existingServices }] };
    case "aws:eks/getAddonVersion:getAddonVersion":
      return { version: `${inputs["addonName"]}-for-${inputs["kubernetesVersion"]}` };
    default:
      throw new Error(`unexpected invoke ${token}`);
  }
}
