import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { model } from "../../../../gateway/eks-auth/model.ts";
import { type EksAuthContext, eksAuthApi } from "../../../../gateway/eks-auth/service.ts";
import { StsError } from "../../../../gateway/sts/errors.ts";
import type { ServiceSession } from "../../../../gateway/sts/service-session.ts";
import { ACCOUNT, callsOf, place } from "../calls.ts";
import { clusterBody, type FakeEks, fakeEks, roleArn, stopWorkers } from "../eks/fakes.ts";

afterAll(stopWorkers);

const CLUSTER = `arn:aws:eks:us-east-1:${ACCOUNT}:cluster/hub`;
const AUDIENCE = "pods.eks.amazonaws.com";
const now = () => Math.floor(Date.now() / 1000);

let privateKey: Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];
let keySet: JSONWebKeySet;
beforeAll(async () => {
  const pair = await generateKeyPair("RS256", { extractable: true });
  privateKey = pair.privateKey;
  keySet = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "own", alg: "RS256" }] };
});

let eks: FakeEks;
/** The sessions that were asked for. */
let assumed: ServiceSession[];
/** Why the next ones are refused. */
let refusal: Error | undefined;
let calls: ReturnType<typeof callsOf>;
let associationId: string;
beforeEach(async () => {
  eks = await fakeEks();
  assumed = [];
  refusal = undefined;
  for (const name of ["hub", "other"]) await eks.finish("POST", "/clusters", clusterBody(name));
  const body = { namespace: "apps", serviceAccount: "app", roleArn: roleArn("pod") };
  const { association } = (await eks.call("POST", "/clusters/hub/pod-identity-associations", body)).body;
  associationId = association.associationId;
  const context: EksAuthContext = {
    ...place,
    store: eks.store,
    aws: eks.aws,
    keys: async () => keySet,
    awsTime: async () => new Date(),
    assume: async (session) => {
      if (refusal !== undefined) throw refusal;
      assumed.push(session);
      const role = { arn: `arn:aws:sts::${ACCOUNT}:assumed-role/pod/${session.sessionName}`, id: "AROA:x" };
      const keys = { accessKeyId: "ASIA", secretAccessKey: "secret", sessionToken: "token" };
      return { ...keys, expiration: new Date(1_800_000_000_000), role };
    },
  };
  calls = callsOf((request, by) => eksAuthApi(request, context, by));
});

const issuerOf = (cluster: string) => eks.store.get(cluster).cluster.identity.oidc?.issuer ?? "";
const pod = { name: "app-5d9c", uid: "b6f2" };

/** A token as kubelet projects it into a pod. */
const tokenOf = (over: JWTPayload = {}, serviceaccount = "app", cluster = "hub") =>
  new SignJWT({
    iss: issuerOf(cluster),
    sub: `system:serviceaccount:apps:${serviceaccount}`,
    aud: [AUDIENCE],
    iat: now() - 5,
    nbf: now() - 5,
    exp: now() + 600,
    "kubernetes.io": { namespace: "apps", serviceaccount: { name: serviceaccount, uid: "1" }, pod },
    ...over,
  })
    .setProtectedHeader({ alg: "RS256", kid: "own" })
    .sign(privateKey);

const ask = async (token: string | Promise<string>, cluster = "hub") =>
  calls.call("POST", `/clusters/${cluster}/assume-role-for-pod-identity`, { token: await token });

describe("AssumeRoleForPodIdentity", () => {
  test("gives the role of the association of the token's service account", async () => {
    const { status, body } = await ask(tokenOf());
    expect([status, body]).toEqual([
      200,
      {
        subject: { namespace: "apps", serviceAccount: "app" },
        audience: AUDIENCE,
        podIdentityAssociation: {
          associationArn: `arn:aws:eks:us-east-1:${ACCOUNT}:podidentityassociation/hub/${associationId}`,
          associationId,
        },
        assumedRoleUser: {
          arn: expect.stringContaining(":assumed-role/pod/eks-hub-app-5d9c-"),
          assumeRoleId: "AROA:x",
        },
        credentials: {
          accessKeyId: "ASIA",
          secretAccessKey: "secret",
          sessionToken: "token",
          expiration: 1_800_000_000,
        },
      },
    ]);
  });

  test("assumes it as pods.eks.amazonaws.com, with the six session tags, for this cluster", async () => {
    await ask(tokenOf());
    expect(assumed).toEqual([
      expect.objectContaining({
        service: AUDIENCE,
        roleArn: roleArn("pod"),
        tags: {
          "eks-cluster-arn": CLUSTER,
          "eks-cluster-name": "hub",
          "kubernetes-namespace": "apps",
          "kubernetes-service-account": "app",
          "kubernetes-pod-name": pod.name,
          "kubernetes-pod-uid": pod.uid,
        },
        context: { "aws:SourceArn": CLUSTER, "aws:SourceAccount": ACCOUNT },
      }),
    ]);
  });

  test("gives no session tags where the association disables them", async () => {
    await eks.call("POST", `/clusters/hub/pod-identity-associations/${associationId}`, { disableSessionTags: true });
    await ask(tokenOf());
    expect(assumed[0]?.tags).toEqual({});
  });

  test("names the session by cluster and pod, in the 64 characters that STS allows", async () => {
    const long = { ...pod, name: `app-${"x".repeat(80)}` };
    await ask(tokenOf({ "kubernetes.io": { namespace: "apps", serviceaccount: { name: "app" }, pod: long } }));
    expect(assumed[0]?.sessionName).toMatch(/^eks-hub-app-x+-[0-9a-f-]{36}$/);
    expect(assumed[0]?.sessionName).toHaveLength(64);
  });

  test.each<[string, () => string | Promise<string>, string]>([
    ["for STS", () => tokenOf({ aud: ["sts.amazonaws.com"] }), "InvalidTokenException"],
    ["of another cluster", () => tokenOf({}, "app", "other"), "InvalidTokenException"],
    ["that no pod has", () => tokenOf({ "kubernetes.io": { namespace: "apps" } }), "InvalidTokenException"],
    [
      "that is not signed by its cluster",
      async () => `${(await tokenOf()).slice(0, -8)}AAAAAAAA`,
      "InvalidTokenException",
    ],
    ["that has expired", () => tokenOf({ exp: now() - 1 }), "ExpiredTokenException"],
    ["of a service account without an association", () => tokenOf({}, "other"), "ResourceNotFoundException"],
  ])("refuses a token %s", async (_what, token, error) => {
    expect((await ask(token())).error).toBe(error);
    expect(assumed).toEqual([]);
  });

  test("knows no association of another cluster, though its name for the service account is the same", async () => {
    expect((await ask(tokenOf({}, "app", "other"), "other")).error).toBe("ResourceNotFoundException");
    expect((await ask(tokenOf(), "none")).error).toBe("ResourceNotFoundException");
  });

  test("says so when the role does not let it", async () => {
    refusal = new StsError("AccessDenied", "not authorized to perform: sts:TagSession", 403);
    const { error, body } = await ask(tokenOf());
    expect([error, body.message]).toEqual(["AccessDeniedException", expect.stringContaining("sts:TagSession")]);
  });

  test("says so when the role is gone, also while EKS has not heard of one that replaced it", async () => {
    eks.aws.role = async () => undefined;
    expect((await ask(tokenOf())).error).toBe("AccessDeniedException");
    expect(assumed).toEqual([]);
  });

  test("needs its right on the cluster, by the cluster's tags", async () => {
    await eks.call("POST", `/tags/${encodeURIComponent(CLUSTER)}`, { tags: { team: "a" } });
    calls.allows = () => false;
    expect((await ask(tokenOf())).status).toBe(403);
    expect(calls.asked).toMatchObject([
      { action: "AssumeRoleForPodIdentity", resource: CLUSTER, context: { "aws:ResourceTag/team": "a" } },
    ]);
    expect(assumed).toEqual([]);
  });
});

test("the model has the form that the SDK's modules have", async () => {
  const sdk = (await import("@aws-sdk/client-eks")) as unknown as Record<string, readonly unknown[]>;
  const shapeOf = (value: unknown): unknown =>
    Array.isArray(value) ? value.map((one) => (Array.isArray(one) ? "list" : typeof one)) : typeof value;
  expect(shapeOf(model.AssumeRoleForPodIdentity$.slice(0, 4))).toEqual(shapeOf(sdk["DescribeCluster$"]?.slice(0, 4)));
});
