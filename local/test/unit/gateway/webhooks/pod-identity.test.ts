import { describe, expect, test } from "vitest";
import { type Account, admitPod, type Pod, podPatch } from "../../../../gateway/webhooks/pod-identity.ts";

const ROLE = "arn:aws:iam::000000000000:role/app";
const account = (annotations: Record<string, string> = {}, associated = false): Account => ({
  serviceAccount: { metadata: { annotations: { "eks.amazonaws.com/role-arn": ROLE, ...annotations } } },
  associated,
});
const none: Account = { serviceAccount: undefined, associated: false };
const pod = (over: Partial<Pod["spec"]> = {}, annotations: Record<string, string> = {}): Pod => ({
  metadata: { annotations },
  spec: { containers: [{ name: "app" }], ...over },
});
// biome-ignore lint/suspicious/noExplicitAny: patch values are of many shapes.
const valueAt = (patch: readonly { path: string; value: unknown }[], path: string): any =>
  patch.find((operation) => operation.path === path)?.value;
const token = (patch: ReturnType<typeof podPatch>) =>
  valueAt(patch, "/spec/volumes").at(-1).projected.sources[0].serviceAccountToken;

/** The variables that each container gets beside AWS's common ones. */
const variables = (more: Record<string, string>) => {
  const common = { AWS_STS_REGIONAL_ENDPOINTS: "regional", AWS_DEFAULT_REGION: "us-east-1", AWS_REGION: "us-east-1" };
  return Object.entries({ ...common, ...more }).map(([name, value]) => ({ name, value }));
};

describe("a pod whose service account carries a role", () => {
  test("gets token, mount and AWS variables in every container, init containers too", () => {
    const patch = podPatch(pod({ initContainers: [{ name: "init" }] }), account(), "us-east-1");
    for (const path of ["/spec/containers", "/spec/initContainers"]) {
      const [container] = valueAt(patch, path);
      expect(container.env).toEqual(
        variables({
          AWS_ROLE_ARN: ROLE,
          AWS_WEB_IDENTITY_TOKEN_FILE: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
        }),
      );
      expect(container.volumeMounts).toEqual([
        { name: "aws-iam-token", mountPath: "/var/run/secrets/eks.amazonaws.com/serviceaccount", readOnly: true },
      ]);
    }
    expect(token(patch)).toEqual({ audience: "sts.amazonaws.com", expirationSeconds: 86_400, path: "token" });
  });

  test("keeps what its containers set themselves, and the volumes that it has", () => {
    const env = [{ name: "AWS_REGION", value: "eu-west-1" }];
    const own = pod({ containers: [{ name: "app", env }], volumes: [{ name: "data" }] });
    const patch = podPatch(own, account(), "us-east-1");
    type Named = { name: string };
    const regions = valueAt(patch, "/spec/containers")[0].env.filter(({ name }: Named) => name === "AWS_REGION");
    expect(regions).toEqual(env);
    const volumes = valueAt(patch, "/spec/volumes").map(({ name }: Named) => name);
    expect(volumes).toEqual(["data", "aws-iam-token"]);
  });

  test("has audience, token time and skipped containers from annotations; the pod's own time wins", () => {
    const annotated = account({ "eks.amazonaws.com/audience": "vault", "eks.amazonaws.com/token-expiration": "3600" });
    expect(token(podPatch(pod(), annotated, "r"))).toMatchObject({ audience: "vault", expirationSeconds: 3600 });
    for (const [own, seconds] of Object.entries({ 7200: 7200, 1: 600, soon: 86_400 })) {
      const asking = pod({}, { "eks.amazonaws.com/token-expiration": own });
      expect(token(podPatch(asking, annotated, "r")).expirationSeconds, own).toBe(seconds);
    }
    const skipping = pod(
      { containers: [{ name: "app" }, { name: "proxy" }] },
      { "eks.amazonaws.com/skip-containers": "proxy, other" },
    );
    const [, proxy] = valueAt(podPatch(skipping, account(), "r"), "/spec/containers");
    expect(proxy).toEqual({ name: "proxy" });
  });

  test("is changed no further when the webhook sees it a second time", () => {
    const first = podPatch(pod(), account(), "r");
    const patched = pod({ containers: valueAt(first, "/spec/containers"), volumes: valueAt(first, "/spec/volumes") });
    const again = podPatch(patched, account(), "r");
    expect(valueAt(again, "/spec/containers")).toEqual(valueAt(first, "/spec/containers"));
    expect(valueAt(again, "/spec/volumes")).toBeUndefined();
  });
});

describe("a pod whose service account has a pod identity association", () => {
  const MOUNT = "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount";
  const associated: Account = { ...none, associated: true };

  test("gets the agent's address and a token for it, as EKS adds them", () => {
    const patch = podPatch(pod({ initContainers: [{ name: "init" }] }), associated, "us-east-1");
    for (const path of ["/spec/containers", "/spec/initContainers"]) {
      const [container] = valueAt(patch, path);
      expect(container.env).toEqual(
        variables({
          AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://169.254.170.23/v1/credentials",
          AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: `${MOUNT}/eks-pod-identity-token`,
        }),
      );
      expect(container.volumeMounts).toEqual([{ name: "eks-pod-identity-token", mountPath: MOUNT, readOnly: true }]);
    }
    expect(token(patch)).toEqual({
      audience: "pods.eks.amazonaws.com",
      expirationSeconds: 86_400,
      path: "eks-pod-identity-token",
    });
  });

  test("gets nothing of the role that its service account is annotated with, nor that annotation's audience", () => {
    const both = account({ "eks.amazonaws.com/audience": "vault", "eks.amazonaws.com/token-expiration": "3600" }, true);
    const patch = podPatch(pod(), both, "r");
    expect(JSON.stringify(patch)).not.toMatch(/AWS_ROLE_ARN|WEB_IDENTITY|vault/);
    expect(token(patch)).toMatchObject({ audience: "pods.eks.amazonaws.com", expirationSeconds: 3600 });
  });
});

test("a pod of any other service account is admitted as it is", async () => {
  expect(podPatch(pod(), { ...none, serviceAccount: { metadata: {} } }, "r")).toEqual([]);
  expect(podPatch(pod(), none, "r")).toEqual([]);
  const review = { request: { uid: "u", namespace: "apps", object: pod({ serviceAccountName: "app" }) } };
  const asked: string[] = [];
  const answer = await admitPod(review, "r", async (namespace, name) => {
    asked.push(`${namespace}/${name}`);
    return none;
  });
  expect(asked).toEqual(["apps/app"]);
  const response = { uid: "u", allowed: true };
  expect(answer).toEqual({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response });
});

test("an admission review is answered with the patch of its pod", async () => {
  const review = { request: { uid: "u", namespace: "apps", object: pod() } };
  const answer = (await admitPod(review, "r", async () => account())) as {
    response: { patchType: string; patch: string };
  };
  expect(answer.response.patchType).toBe("JSONPatch");
  expect(JSON.parse(Buffer.from(answer.response.patch, "base64").toString())).toEqual(podPatch(pod(), account(), "r"));
});
