import { join } from "node:path";
import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import { AssumeRoleCommand } from "@aws-sdk/client-sts";
import type { KubernetesObject, V1Pod } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ACCOUNT, REGION } from "../../gateway/ministack.ts";
import { supervisorOf } from "../../supervisor/client.ts";
import { allow, arnOf, type Credentials, outcome, serviceAccountToken, wait } from "../support/gateway.ts";
import { CLUSTER, type Place, type PolicyCluster, startPolicyCluster } from "../support/policy-cluster.ts";
import { signedCalls } from "../support/signed-call.ts";

const poll = { timeout: 60_000, interval: 500 };
const SERVICE = "pods.eks.amazonaws.com";
const AGENT = "http://169.254.170.23/v1/credentials";
const ADDON = { clusterName: CLUSTER, addonName: "eks-pod-identity-agent" };
const WORKER = { RoleName: "node", PolicyArn: "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy" };
const CLUSTER_ARN = `arn:aws:eks:${REGION}:${ACCOUNT}:cluster/${CLUSTER}`;

let cluster: PolicyCluster;
/** A pod of an associated service account, one of another, and one that was there before there was an association. */
let app: Place;
let stranger: Place;
let former: Place;
let associationId = "";

/** Who may assume the role: pods of this service account on this cluster. */
const trust = (serviceAccount: string): string =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Principal: { Service: SERVICE },
        Action: ["sts:AssumeRole", "sts:TagSession"],
        Condition: {
          StringEquals: {
            "aws:RequestTag/kubernetes-namespace": "default",
            "aws:RequestTag/kubernetes-service-account": serviceAccount,
            "aws:SourceAccount": ACCOUNT,
          },
          ArnEquals: { "aws:SourceArn": CLUSTER_ARN },
        },
      },
    ],
  });

/** A session reads the secrets that are tagged with its own service account. */
const own = allow({
  Action: "secretsmanager:GetSecretValue",
  Condition: {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a policy variable
    StringEquals: { "aws:ResourceTag/kubernetes-service-account": "${aws:PrincipalTag/kubernetes-service-account}" },
  },
});

const podOf = (name: string, serviceAccountName: string) =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { serviceAccountName, containers: [{ name: "app", image: "registry.k8s.io/pause:3.10" }] },
  }) as KubernetesObject;

const podNamed = async (name: string) =>
  (await cluster.kube.find<V1Pod & KubernetesObject>("v1", "Pod", name, "default")) as V1Pod;

/** The token that kubelet projects into a pod, on the machine. */
async function projected(name: string): Promise<string> {
  const { metadata } = await podNamed(name);
  const volumes = join(cluster.node.run, "kubelet", "pods", metadata?.uid ?? "", "volumes");
  return join(volumes, "kubernetes.io~projected", "eks-pod-identity-token", "eks-pod-identity-token");
}

/** What a pod is answered that asks the agent, with its own token or that of another pod. */
const asks = async (from: Place, tokenOf: string) => from.network.get(AGENT, await projected(tokenOf));

async function credentialsOf(from: Place, tokenOf: string): Promise<Credentials> {
  const { status, body } = await asks(from, tokenOf);
  if (status !== 200) throw new Error(`the agent answered ${status}: ${body}`);
  const { AccessKeyId, SecretAccessKey, Token } = JSON.parse(body) as Record<string, string>;
  return { accessKeyId: AccessKeyId ?? "", secretAccessKey: SecretAccessKey ?? "", sessionToken: Token ?? "" };
}

const reads = (credentials: Credentials, SecretId: string) =>
  outcome(
    new SecretsManager({ endpoint: cluster.cloud.instance.awsEndpoint, region: REGION, credentials }).getSecretValue({
      SecretId,
    }),
  );

const associate = (serviceAccount: string, role: string) =>
  cluster.cloud.deployer.eks.createPodIdentityAssociation({
    clusterName: CLUSTER,
    namespace: "default",
    serviceAccount,
    roleArn: arnOf(`role/${role}`),
  });

beforeAll(async () => {
  cluster = await startPolicyCluster();
  const { deployer, instance } = cluster.cloud;
  const { iam, eks } = deployer;
  const secrets = new SecretsManager({
    endpoint: instance.awsEndpoint,
    region: REGION,
    ...(deployer.credentials && { credentials: deployer.credentials }),
  });
  for (const name of ["app", "other"]) {
    const Tags = [{ Key: "kubernetes-service-account", Value: name }];
    await secrets.createSecret({ Name: name, SecretString: name, Tags });
  }
  await iam.createRole({ RoleName: "app", AssumeRolePolicyDocument: trust("app") });
  await iam.putRolePolicy({ RoleName: "app", PolicyName: "own", PolicyDocument: JSON.stringify(own) });
  for (const name of ["app", "stranger"])
    await cluster.kube.apply([{ apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "default" } }]);
  await cluster.kube.apply([podOf("former", "app"), podOf("stranger", "stranger")]);
  former = await cluster.pod("default", "former");
  stranger = await cluster.pod("default", "stranger");
  associationId = (await associate("app", "app")).association?.associationId ?? "";
  await cluster.kube.apply([podOf("app", "app")]);
  app = await cluster.pod("default", "app");
  await eks.createAddon(ADDON);
  await eks.waitUntilAddonActive(ADDON, wait);
});
afterAll(() => cluster?.cloud.remove());

describe("a pod of an associated service account", () => {
  test("is told where its credentials are, when it starts after the association was made, and no other is", async () => {
    const variables = async (name: string) =>
      ((await podNamed(name)).spec?.containers[0]?.env ?? []).map((variable) => variable.name);
    expect(await variables("app")).toContain("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    expect([await variables("former"), await variables("stranger")]).toEqual([[], []]);
  });

  test("gets nothing while its node's role may not ask EKS Auth, and says which right is missing", async () => {
    const { status, body } = await asks(app, "app");
    expect([status, body]).toEqual([403, expect.stringContaining("eks-auth:AssumeRoleForPodIdentity")]);
    await cluster.cloud.deployer.iam.attachRolePolicy(WORKER);
    expect((await asks(app, "app")).status).toBe(200);
  });

  test("has its role's rights, and its session's tags count in them", async () => {
    const credentials = await credentialsOf(app, "app");
    const { Arn } = await cluster.cloud.as(credentials).sts.getCallerIdentity();
    expect(Arn).toMatch(new RegExp(`^arn:aws:sts::${ACCOUNT}:assumed-role/app/eks-${CLUSTER}-app-`));
    expect([await reads(credentials, "app"), await reads(credentials, "other")]).toEqual([
      "allowed",
      "AccessDeniedException",
    ]);
  });

  test("keeps its credentials when the agent is killed: it is started again, and asks anew", async () => {
    const supervisor = supervisorOf(cluster.cloud.instance);
    const agent = async () => (await supervisor.list()).find(({ id }) => id === `${CLUSTER}.0.pod-identity-agent`);
    process.kill((await agent())?.pid ?? 0, "SIGKILL");
    await expect.poll(agent, poll).toMatchObject({ state: "ready", restarts: 1 });
    expect(await reads(await credentialsOf(app, "app"), "app")).toBe("allowed");
  });
});

describe("the trust policy of the role", () => {
  test("decides for which service account: an association alone gives another one nothing", async () => {
    await associate("stranger", "app");
    await cluster.kube.apply([podOf("associated-stranger", "stranger")]);
    const place = await cluster.pod("default", "associated-stranger");
    const { status, body } = await asks(place, "associated-stranger");
    expect([status, body]).toEqual([400, expect.stringContaining("AccessDeniedException")]);
    const { iam } = cluster.cloud.deployer;
    await iam.updateAssumeRolePolicy({ RoleName: "app", PolicyDocument: trust("stranger") });
    const credentials = await credentialsOf(place, "associated-stranger");
    expect(await reads(credentials, "app"), "the tags of its own session").toBe("AccessDeniedException");
    await iam.updateAssumeRolePolicy({ RoleName: "app", PolicyDocument: trust("app") });
  });

  test("of a further role, and the rights of the first, must let tags in: those of the pod go on to it", async () => {
    const { iam } = cluster.cloud.deployer;
    const root = { AWS: arnOf("root") };
    const trusting = (...actions: string[]) =>
      JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", Principal: root, Action: actions }] });
    await iam.createRole({ RoleName: "next", AssumeRolePolicyDocument: trusting("sts:AssumeRole") });
    const may = (...Action: string[]) => ({
      RoleName: "app",
      PolicyName: "next",
      PolicyDocument: JSON.stringify(allow({ Action })),
    });
    await iam.putRolePolicy(may("sts:AssumeRole", "sts:TagSession"));
    const pod = cluster.cloud.as(await credentialsOf(app, "app"));
    const next = () => pod.sts.assumeRole({ RoleArn: arnOf("role/next"), RoleSessionName: "next" });
    await expect(next()).rejects.toThrow("sts:TagSession");
    const tagged = trusting("sts:AssumeRole", "sts:TagSession");
    await iam.updateAssumeRolePolicy({ RoleName: "next", PolicyDocument: tagged });
    const { AccessKeyId = "", SecretAccessKey = "", SessionToken = "" } = (await next()).Credentials ?? {};
    await iam.putRolePolicy({ RoleName: "next", PolicyName: "own", PolicyDocument: JSON.stringify(own) });
    const chained = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
    expect([await reads(chained, "app"), await reads(chained, "other")]).toEqual(["allowed", "AccessDeniedException"]);
    await iam.putRolePolicy(may("sts:AssumeRole"));
    await expect(next()).rejects.toThrow("sts:TagSession");
  });

  test("lets no IAM principal in, not even an administrator: it names a service", async () => {
    const call = new AssumeRoleCommand({ RoleArn: arnOf("role/app"), RoleSessionName: "admin" });
    expect(await outcome(cluster.cloud.deployer.sts.send(call))).toBe("AccessDenied");
  });
});

describe("EKS Auth", () => {
  const call = () => signedCalls(cluster.cloud, `eks-auth.${REGION}.api.aws`, { service: "eks-auth", region: REGION });
  const path = `/clusters/${CLUSTER}/assume-role-for-pod-identity`;
  const ask = async (token: string) =>
    call()(cluster.cloud.deployer, { method: "POST", path, body: JSON.stringify({ token }) });

  test("takes no token that is not bound to a pod, and none for STS", async () => {
    for (const audience of [SERVICE, "sts.amazonaws.com"]) {
      const token = await serviceAccountToken(cluster.cloud.instance, CLUSTER, "app", audience);
      expect((await ask(token)).status).toBe(400);
    }
  });

  test("is closed to pods themselves: their role has no right to it", async () => {
    const credentials = cluster.cloud.as(await credentialsOf(app, "app"));
    expect((await call()(credentials, { method: "POST", path, body: '{"token":"a.b.c"}' })).status).toBe(403);
  });
});

describe("an association", () => {
  test("is made and given another role only by who may pass that role to EKS Pod Identity", async () => {
    const { deployer } = cluster.cloud;
    const right = { Action: ["eks:*PodIdentityAssociation"] };
    const passes = {
      Action: "iam:PassRole",
      Resource: arnOf("role/app"),
      Condition: { StringEquals: { "iam:PassedToService": SERVICE } },
    };
    const without = await cluster.cloud.roleWith("associates", allow(right));
    const change = (by: typeof deployer) =>
      outcome(by.eks.updatePodIdentityAssociation({ clusterName: CLUSTER, associationId, roleArn: arnOf("role/app") }));
    expect(await change(without)).toBe("AccessDeniedException");
    expect(await change(await cluster.cloud.roleWith("associates-and-passes", allow(right, passes)))).toBe("allowed");
  });

  test("that is deleted gives new pods nothing, while what the agent has given out stays good", async () => {
    const { deployer } = cluster.cloud;
    const before = await credentialsOf(app, "app");
    await deployer.eks.deletePodIdentityAssociation({ clusterName: CLUSTER, associationId });
    await cluster.kube.apply([podOf("later", "app")]);
    await cluster.pod("default", "later");
    expect((await podNamed("later")).spec?.containers[0]?.env ?? []).toEqual([]);
    expect(await reads(before, "app")).toBe("allowed");
  });
});

test("NetworkPolicies hold for the agent, as for everything that is no pod", async () => {
  const policy = (ports: object[]) =>
    ({
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "agent", namespace: "default" },
      spec: { podSelector: {}, policyTypes: ["Egress"], egress: ports },
    }) as KubernetesObject;
  await cluster.kube.apply([policy([{ ports: [{ port: 53, protocol: "TCP" }] }])]);
  await cluster.vpcCni({ enableNetworkPolicy: "true" });
  expect(await former.network.connect("169.254.170.23", 80)).toBe("ECONNREFUSED");
  const to = [{ ipBlock: { cidr: "169.254.170.23/32" } }];
  await cluster.kube.apply([policy([{ to, ports: [{ port: 80, protocol: "TCP" }] }])]);
  await expect.poll(() => former.network.connect("169.254.170.23", 80), poll).toBe("open");
});

test("without the add-on nobody answers", async () => {
  const { eks } = cluster.cloud.deployer;
  await eks.deleteAddon(ADDON);
  await expect.poll(() => outcome(eks.describeAddon(ADDON)), poll).toBe("ResourceNotFoundException");
  expect(await stranger.network.connect("169.254.170.23", 80)).toBe("ECONNREFUSED");
});
