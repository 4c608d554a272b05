import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { EC2 } from "@aws-sdk/client-ec2";
import { type CreateNodegroupCommandInput, EKS } from "@aws-sdk/client-eks";
import { IAM } from "@aws-sdk/client-iam";
import { STS } from "@aws-sdk/client-sts";
import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { afterAll, beforeAll } from "vitest";
import { profileOf } from "../../cli/aws.ts";
import { adminKubeconfig, removeAll } from "../../clusters/index.ts";
import { ensureInstanceCa } from "../../gateway/ca.ts";
import { ensureAccount, ensureDeployer } from "../../gateway/deployer.ts";
import { ensureGatewayKey, rootCredentials } from "../../gateway/key.ts";
import { ACCOUNT, MINISTACK_PORT, ministackProcess, REGION } from "../../gateway/ministack.ts";
import { gatewayProcess } from "../../gateway/process.ts";
import { type Instance, openInstance, releaseInstance } from "../../instance/index.ts";
import { type ProcessSpec, supervisorOf } from "../../supervisor/client.ts";
import { ensureToolchain } from "../../toolchain/index.ts";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** AWS clients of one principal. */
export interface Clients {
  readonly credentials: Credentials | undefined;
  readonly iam: IAM;
  readonly eks: EKS;
  readonly ec2: EC2;
  readonly sts: STS;
}

/** An AWS API of its own, without the program: gateway and ministack as `npm start` runs them. */
export interface GatewayCloud {
  readonly instance: Instance;
  readonly python: string;
  /** An administrator. */
  readonly deployer: Clients;
  as(credentials: Credentials | undefined): Clients;
  /** The deployer of another account: its administrator, or with exactly these policies. */
  account(id: string, policies?: Readonly<Record<string, object>>): Promise<Clients>;
  /** The root of an account. */
  root(account: string): Promise<Clients>;
  /** Makes a role that the deployer may assume, with this policy, and assumes it. */
  roleWith(name: string, policy: object): Promise<Clients>;
  /** Subnets of one VPC in two zones. */
  subnets(): Promise<string[]>;
  /** Creates a cluster without nodes and waits until it is active; gives its issuer. */
  cluster(name: string, version?: string): Promise<string>;
  remove(): Promise<void>;
}

/** `allowed`, or the name of the error that a call to AWS ended with. */
export const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "allowed",
    (error: Error) => error.name,
  );

export const arnOf = (resource: string, account = ACCOUNT): string => `arn:aws:iam::${account}:${resource}`;

export const allow = (...statements: object[]): object => ({
  Version: "2012-10-17",
  Statement: statements.map((statement) => ({ Effect: "Allow", Resource: "*", ...statement })),
});

export const trustOf = (principal: object): string =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Principal: principal, Action: "sts:AssumeRole" }],
  });

/** How long waiters of the SDK wait, and how often they look. */
export const wait = { maxWaitTime: 240, minDelay: 1, maxDelay: 1 };

/** The cloud of a test file, and its deployer's clients. {@link useGatewayCloud} sets them. */
export let cloud: GatewayCloud;
export let ec2: EC2;
export let eks: EKS;
export let iam: IAM;
export let sts: STS;

/** Starts a cloud before the tests of a file, prepares it, and removes it after them. */
export function useGatewayCloud(prepare?: () => Promise<unknown>): void {
  beforeAll(async () => {
    cloud = await startGatewayCloud();
    ({ ec2, eks, iam, sts } = cloud.deployer);
    await prepare?.();
  });
  afterAll(() => cloud.remove());
}

/** The settings of a client that calls as this principal. */
export const configOf = ({ credentials }: Pick<Clients, "credentials"> = cloud.deployer) => ({
  endpoint: cloud.instance.awsEndpoint,
  region: REGION,
  ...(credentials && { credentials }),
});

export async function startGatewayCloud(): Promise<GatewayCloud> {
  const toolchain = await ensureToolchain();
  const dir = await mkdtemp(join(tmpdir(), "fleet-gateway-"));
  const instance = await openInstance(dir);
  await ensureGatewayKey(instance);
  await ensureInstanceCa(instance);
  const supervisor = supervisorOf(instance);
  const ministack = ministackProcess(instance, join(toolchain.python, "bin", "python"));
  await supervisor.start({
    ...ministack,
    ready: { tcp: { host: instance.loopbackAddress, port: MINISTACK_PORT } },
  } as ProcessSpec);
  const { healthUrl, ...gateway } = gatewayProcess(instance);
  await supervisor.start({ ...gateway, ready: { http: { url: healthUrl } } } as ProcessSpec);
  await ensureDeployer(instance);
  const deployerKey = profileOf(await readFile(instance.paths.awsCredentials, "utf8"), "default");
  const as = (credentials: Credentials | undefined): Clients => {
    const config = {
      endpoint: instance.awsEndpoint,
      region: REGION,
      ...(credentials === undefined ? {} : { credentials }),
    };
    return { credentials, iam: new IAM(config), eks: new EKS(config), ec2: new EC2(config), sts: new STS(config) };
  };
  const deployer = as(deployerKey);
  let vpc: Promise<string[]> | undefined;
  const cloud: GatewayCloud = {
    instance,
    python: toolchain.python,
    deployer,
    as,
    account: async (id, policies) =>
      as(profileOf(await readFile(await ensureAccount(instance, id, policies), "utf8"), "default")),
    root: async (account) => as(rootCredentials(await ensureGatewayKey(instance), account)),
    roleWith: async (name, policy) => {
      await deployer.iam.createRole({
        RoleName: name,
        AssumeRolePolicyDocument: trustOf({ AWS: arnOf("user/deployer") }),
      });
      await deployer.iam.putRolePolicy({
        RoleName: name,
        PolicyName: "policy",
        PolicyDocument: JSON.stringify(policy),
      });
      return as(await assume(deployer, name));
    },
    subnets: () => {
      vpc ??= makeSubnets(deployer.ec2);
      return vpc;
    },
    cluster: (name, version = "1.34") => makeCluster(cloud, name, version),
    remove: async () => {
      await supervisor.stop("gateway");
      await removeAll(instance);
      await supervisor.shutdown();
      await releaseInstance(instance);
      await rm(dir, { recursive: true });
    },
  };
  return cloud;
}

/** Credentials of a role of the hub's account, or of the one with this ARN. */
export async function assume(
  by: Clients,
  role: string,
  tags: Readonly<Record<string, string>> = {},
  policy?: object,
): Promise<Credentials> {
  const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  const RoleArn = role.startsWith("arn:") ? role : arnOf(`role/${role}`);
  const Policy = policy && JSON.stringify(policy);
  const { Credentials: found } = await by.sts.assumeRole({ RoleArn, RoleSessionName: "test", Tags, Policy });
  return {
    accessKeyId: found?.AccessKeyId ?? "",
    secretAccessKey: found?.SecretAccessKey ?? "",
    sessionToken: found?.SessionToken ?? "",
  };
}

async function makeSubnets(ec2: EC2): Promise<string[]> {
  const { Vpc } = await ec2.createVpc({ CidrBlock: "10.0.0.0/16" });
  const made = ["a", "b"].map((zone, at) =>
    ec2.createSubnet({ VpcId: Vpc?.VpcId, CidrBlock: `10.0.${at}.0/24`, AvailabilityZone: `${REGION}${zone}` }),
  );
  return (await Promise.all(made)).map(({ Subnet }) => Subnet?.SubnetId ?? "");
}

async function makeCluster(cloud: GatewayCloud, name: string, version: string): Promise<string> {
  const { iam, eks } = cloud.deployer;
  await iam.createRole({
    RoleName: `${name}-cluster`,
    AssumeRolePolicyDocument: trustOf({ Service: "eks.amazonaws.com" }),
  });
  await eks.createCluster({
    name,
    version,
    roleArn: arnOf(`role/${name}-cluster`),
    resourcesVpcConfig: { subnetIds: await cloud.subnets() },
    accessConfig: { authenticationMode: "API" },
    bootstrapSelfManagedAddons: false,
  });
  const { reason } = await eks.waitUntilClusterActive({ name }, wait);
  return (reason as { cluster: { identity: { oidc: { issuer: string } } } }).cluster.identity.oidc.issuer;
}

/** The role of nodes, which node groups need. */
export const createNodeRole = (by: Clients = cloud.deployer) =>
  by.iam.createRole({ RoleName: "node", AssumeRolePolicyDocument: trustOf({ Service: "ec2.amazonaws.com" }) });

/** Creates a node group of one node, or with these settings, and waits until it is active. */
export async function createNodeGroup(
  group: { readonly clusterName: string; readonly nodegroupName: string },
  over: Partial<CreateNodegroupCommandInput> = {},
  on: GatewayCloud = cloud,
) {
  const scalingConfig = { minSize: 1, desiredSize: 1, maxSize: 1 };
  const subnets = await on.subnets();
  await on.deployer.eks.createNodegroup({ nodeRole: arnOf("role/node"), subnets, scalingConfig, ...over, ...group });
  return on.deployer.eks.waitUntilNodegroupActive(group, wait);
}

/** The environment in which the aws CLI calls the cloud as this principal. */
export const cliEnvironment = (aws: string, { credentials }: Clients) => ({
  PATH: `${dirname(aws)}:${process.env["PATH"] ?? ""}`,
  HOME: cloud.instance.dir,
  AWS_ENDPOINT_URL: cloud.instance.awsEndpoint,
  AWS_DEFAULT_REGION: REGION,
  AWS_ACCESS_KEY_ID: credentials?.accessKeyId ?? "",
  AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? "",
  ...(credentials?.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: credentials.sessionToken }),
});

/** The API of a cluster as its administrator, past every access entry. */
export function adminApi(instance: Instance, cluster: string): CoreV1Api {
  const config = new KubeConfig();
  config.loadFromFile(adminKubeconfig(instance, cluster));
  return config.makeApiClient(CoreV1Api);
}

/** A real service account token of a cluster, as the kubelet projects it. */
export async function serviceAccountToken(
  instance: Instance,
  cluster: string,
  name: string,
  audience: string,
): Promise<string> {
  const { status } = await adminApi(instance, cluster).createNamespacedServiceAccountToken({
    name,
    namespace: "default",
    body: { spec: { audiences: [audience], expirationSeconds: 3600 } },
  });
  return status?.token ?? "";
}
