import { readFile } from "node:fs/promises";
import { Agent } from "node:https";
import { CreateRoleCommand } from "@aws-sdk/client-iam";
import { KMS } from "@aws-sdk/client-kms";
import { SQS } from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, it, test } from "vitest";
import { clearFaults, setFaults } from "../../gateway/faults/faults.ts";
import { supervisorOf } from "../../supervisor/client.ts";
import { keepsExiting } from "../../supervisor/exits.ts";
import {
  adminApi,
  allow,
  arnOf,
  assume,
  type Clients,
  cloud,
  configOf,
  createNodeGroup,
  createNodeRole,
  eks,
  iam,
  outcome,
  serviceAccountToken,
  trustOf,
  useGatewayCloud,
  wait,
} from "../support/gateway.ts";

/** Longer than the calls of a test take. */
const LONG = 600;
let issuer: string;
const client = (by?: Clients) => ({ ...configOf(by), maxAttempts: 1 });

useGatewayCloud(async () => {
  issuer = await cloud.cluster("one");
});
afterEach(() => clearFaults(cloud.instance));

test("a service with a rate answers so many requests and throttles the others; other services go on", async () => {
  await setFaults(cloud.instance, { requestsPerSecond: { sqs: 0.01 } });
  const sqs = new SQS(client());
  const calls = [1, 2, 3].map(() => outcome(sqs.listQueues()));
  expect((await Promise.all(calls)).sort()).toEqual(["ThrottlingException", "ThrottlingException", "allowed"]);
  await iam.createRole({ RoleName: "unthrottled", AssumeRolePolicyDocument: trustOf({ AWS: "*" }) });
  await clearFaults(cloud.instance);
  expect(await outcome(sqs.listQueues())).toBe("allowed");
});

test("the answer to the first request for an action is held, although AWS has carried it out", async () => {
  await setFaults(cloud.instance, { heldAnswers: ["iam:CreateRole"] });
  const stop = new AbortController();
  const create = (RoleName: string, options = {}) =>
    outcome(iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: trustOf({ AWS: "*" }) }), options));
  const held = create("held", { abortSignal: stop.signal });
  const exists = () => outcome(iam.getRole({ RoleName: "held" }));
  await expect.poll(exists, { timeout: 20_000 }).toBe("allowed");
  expect(await create("other")).toBe("allowed");
  stop.abort();
  expect(await held).toBe("AbortError");
  for (const RoleName of ["held", "other"]) await iam.deleteRole({ RoleName });
});

test("a service control policy denies what is created without a company's tags, and admits it with them", async () => {
  await setFaults(cloud.instance, { requiredTags: ["cost-center"] });
  const kms = new KMS(client());
  const principalArn = arnOf("role/SomeRole");
  const role = (RoleName: string, Tags: { Key: string; Value: string }[]) =>
    iam.createRole({ RoleName, AssumeRolePolicyDocument: trustOf({ AWS: "*" }), Tags });
  const tags = { "cost-center": "4711" };
  await expect(role("untagged", [{ Key: "owner", Value: "platform" }])).rejects.toThrow(
    /not authorized to perform: iam:CreateRole .* with an explicit deny in a service control policy/,
  );
  await role("SomeRole", [{ Key: "cost-center", Value: "4711" }]);
  expect(await outcome(kms.createKey({}))).toBe("AccessDeniedException");
  expect(await outcome(kms.createKey({ Tags: [{ TagKey: "cost-center", TagValue: "4711" }] }))).toBe("allowed");
  const entry = { clusterName: "one", principalArn };
  expect(await outcome(eks.createAccessEntry(entry))).toBe("AccessDeniedException");
  expect(await outcome(eks.createAccessEntry({ ...entry, tags }))).toBe("allowed");
  await iam.deleteRole({ RoleName: "SomeRole" });
});

test("a service control policy requires a boundary and a path of every role, of session and user alike", async () => {
  const boundary = arnOf("policy/company/limits");
  await iam.createPolicy({
    PolicyName: "limits",
    Path: "/company/",
    PolicyDocument: JSON.stringify(allow({ Action: "*" })),
  });
  await iam.createRole({ RoleName: "maker", AssumeRolePolicyDocument: trustOf({ AWS: arnOf("user/deployer") }) });
  const everything = JSON.stringify(allow({ Action: "*" }));
  await iam.putRolePolicy({ RoleName: "maker", PolicyName: "all", PolicyDocument: everything });
  const maker = cloud.as(await assume(cloud.deployer, "maker"));
  await setFaults(cloud.instance, {
    serviceControlPolicy: [
      {
        Effect: "Deny",
        Action: ["iam:CreateRole", "iam:PutRolePermissionsBoundary"],
        Resource: "*",
        Condition: { StringNotLike: { "iam:PermissionsBoundary": arnOf("policy/company/*", "*") } },
      },
      { Effect: "Deny", Action: "iam:CreateRole", NotResource: "arn:aws:iam::*:role/company/*" },
    ],
  });
  const make = (by: Clients, PermissionsBoundary?: string, Path?: string) =>
    by.iam.createRole({
      RoleName: "bounded",
      AssumeRolePolicyDocument: trustOf({ AWS: "*" }),
      PermissionsBoundary,
      Path,
    });
  for (const by of [cloud.deployer, maker]) {
    await expect(make(by, undefined, "/company/")).rejects.toThrow(/with an explicit deny in a service control policy/);
    expect(await outcome(make(by, arnOf("policy/limits"), "/company/"))).toBe("AccessDenied");
    expect(await outcome(make(by, boundary))).toBe("AccessDenied");
    expect(await outcome(make(by, boundary, "/company/teams/"))).toBe("allowed");
    expect(await outcome(by.iam.deleteRole({ RoleName: "bounded" }))).toBe("allowed");
  }
  await clearFaults(cloud.instance);
  await iam.deleteRolePolicy({ RoleName: "maker", PolicyName: "all" });
  await iam.deleteRole({ RoleName: "maker" });
  await iam.deletePolicy({ PolicyArn: boundary });
});

test("a new role is there for IAM, and for EKS and service accounts' tokens only later", async () => {
  const host = issuer.replace("https://", "");
  await iam.createOpenIDConnectProvider({ Url: issuer, ClientIDList: ["sts.amazonaws.com"] });
  const api = adminApi(cloud.instance, "one");
  await api.createNamespacedServiceAccount({ namespace: "default", body: { metadata: { name: "reader" } } });
  await setFaults(cloud.instance, { newRolesUnknownSeconds: LONG });
  const trust = {
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Principal: { Federated: arnOf(`oidc-provider/${host}`) },
        Action: "sts:AssumeRoleWithWebIdentity",
        Condition: { StringEquals: { [`${host}:sub`]: "system:serviceaccount:default:reader" } },
      },
    ],
  };
  const RoleName = "fresh";
  const create = () => iam.createRole({ RoleName, AssumeRolePolicyDocument: JSON.stringify(trust) });
  await create();
  expect(await outcome(create())).toBe("EntityAlreadyExistsException");
  const WebIdentityToken = await serviceAccountToken(cloud.instance, "one", "reader", "sts.amazonaws.com");
  const RoleArn = arnOf(`role/${RoleName}`);
  const assumed = () =>
    outcome(cloud.as(undefined).sts.assumeRoleWithWebIdentity({ RoleArn, RoleSessionName: "pod", WebIdentityToken }));
  const entered = () => outcome(eks.createAccessEntry({ clusterName: "one", principalArn: RoleArn }));
  expect([await assumed(), await entered()]).toEqual(["AccessDenied", "InvalidParameterException"]);
  await setFaults(cloud.instance, { newRolesUnknownSeconds: 0.001 });
  expect([await assumed(), await entered()]).toEqual(["allowed", "allowed"]);
  await iam.deleteRole({ RoleName });
});

test("tags of a KMS key count for conditions only later", async () => {
  const { KeyMetadata } = await new KMS(client()).createKey({ Tags: [{ TagKey: "team", TagValue: "a" }] });
  const ofTeam = { Action: "kms:DescribeKey", Condition: { StringEquals: { "aws:ResourceTag/team": "a" } } };
  const kms = new KMS(client(await cloud.roleWith("of-team", allow(ofTeam))));
  const described = () => outcome(kms.describeKey({ KeyId: KeyMetadata?.Arn }));
  await setFaults(cloud.instance, { tagsUncountedSeconds: { kms: LONG } });
  expect(await described()).toBe("AccessDeniedException");
  await setFaults(cloud.instance, { tagsUncountedSeconds: { kms: 0.001 } });
  expect(await described()).toBe("allowed");
});

test("certificates of AWS's names have expired: a client with an open connection notices it too, until they are renewed", async () => {
  const ca = await readFile(cloud.instance.paths.caCertificate);
  const agent = new Agent({
    ca,
    keepAlive: true,
    lookup: (_name, _options, done) => done(null, [{ address: cloud.instance.gatewayAddress, family: 4 }]),
  });
  const { endpoint: _, ...named } = client();
  const sqs = new SQS({ ...named, requestHandler: { httpsAgent: agent } });
  const listed = () =>
    sqs.listQueues().then(
      () => "allowed",
      (error: NodeJS.ErrnoException) => error.code,
    );
  expect(await listed()).toBe("allowed");
  await setFaults(cloud.instance, { certificatesExpired: true });
  expect(await listed()).toBe("ECONNRESET");
  expect(await listed()).toBe("CERT_HAS_EXPIRED");
  await clearFaults(cloud.instance);
  expect(await listed()).toBe("allowed");
  agent.destroy();
});

test("AWS's clock is ahead: an SDK corrects its own, sessions and service accounts' tokens have expired until it is right again", async () => {
  const issuedTo = arnOf("role/on-time");
  const onTime = await cloud.roleWith("on-time", allow({ Action: "sqs:ListQueues" }));
  const WebIdentityToken = await serviceAccountToken(cloud.instance, "one", "reader", "sts.amazonaws.com");
  const ofSession = new SQS(client(onTime));
  const ofUser = new SQS(client());
  const listed = (sqs: SQS) => outcome(sqs.listQueues());
  const assumed = () =>
    outcome(
      cloud
        .as(undefined)
        .sts.assumeRoleWithWebIdentity({ RoleArn: issuedTo, RoleSessionName: "pod", WebIdentityToken }),
    );
  await setFaults(cloud.instance, { clockAheadSeconds: 2 * 3600 });
  expect([await listed(ofUser), await listed(ofUser)]).toEqual(["SignatureDoesNotMatch", "allowed"]);
  expect([await listed(ofSession), await listed(ofSession)]).toEqual(["SignatureDoesNotMatch", "ExpiredToken"]);
  expect(await assumed()).toBe("ExpiredTokenException");
  await clearFaults(cloud.instance);
  expect([await listed(ofUser), await listed(ofUser)]).toEqual(["SignatureDoesNotMatch", "allowed"]);
  expect(await listed(ofSession)).toBe("SignatureDoesNotMatch");
  expect(await listed(ofSession)).toBe("allowed");
  expect(await assumed()).not.toBe("ExpiredTokenException");
});

describe("a node whose kubelet can't start", () => {
  const group = { clusterName: "one", nodegroupName: "main" };

  it("fails its node group with NodeCreationFailure, the instance and the last error of the kubelet", async () => {
    await createNodeRole();
    await setFaults(cloud.instance, { kubeletConfig: { maxPods: "many" } });
    await expect(createNodeGroup(group)).rejects.toThrow(/CREATE_FAILED/);
    const { nodegroup } = await eks.describeNodegroup(group);
    expect(nodegroup).toMatchObject({
      status: "CREATE_FAILED",
      health: { issues: [{ code: "NodeCreationFailure", resourceIds: [expect.stringMatching(/^i-[0-9a-f]{17}$/)] }] },
    });
    const message = nodegroup?.health?.issues?.[0]?.message ?? "";
    expect(message).toMatch(
      /^Instances failed to join the kubernetes cluster\. process one\.0\.kubelet .*\(exit code 1\)/,
    );
    expect(message).toContain(`Log: ${cloud.instance.paths.logs}/one.0.kubelet.log: `);
    expect(message).toContain("maxPods");
    const kubelet = (await supervisorOf(cloud.instance).list()).find(({ id }) => id === "one.0.kubelet");
    expect(kubelet && keepsExiting(kubelet)).toBe(true);
  });

  it("joins after the node group is deleted and created again without the cause", async () => {
    await eks.deleteNodegroup(group);
    await eks.waitUntilNodegroupDeleted(group, wait);
    await createNodeGroup(group);
  });
});
