import { describe, expect, test } from "vitest";
import type { ClusterRecord } from "../../../../gateway/eks/model.ts";
import { presignedUrl, reviewToken, TokenRefused, userOf } from "../../../../gateway/webhooks/token.ts";

const NOW = new Date("2026-11-21T10:00:00Z");
const options = { gatewayHost: "100.64.255.1:4566", now: NOW };
const GOOD =
  "https://sts.us-east-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256" +
  "&X-Amz-Credential=AKIA%2F20261121%2Fus-east-1%2Fsts%2Faws4_request&X-Amz-Date=20261121T095900Z&X-Amz-Expires=60" +
  "&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=00";
const tokenOf = (url: string) => `k8s-aws-v1.${Buffer.from(url).toString("base64url")}`;

describe("an EKS token", () => {
  test.each([
    ["AWS's regional STS", GOOD],
    ["AWS's global STS", GOOD.replace("sts.us-east-1.", "sts.")],
    ["the gateway", GOOD.replace("https://sts.us-east-1.amazonaws.com", "http://100.64.255.1:4566")],
  ])("may be signed for %s", (_what, url) => {
    expect(presignedUrl(tokenOf(url), options).searchParams.get("Action")).toBe("GetCallerIdentity");
  });

  test("is good for 15 minutes, whatever its URL says of a shorter time", () => {
    expect(() => presignedUrl(tokenOf(GOOD), { ...options, now: new Date(NOW.getTime() + 800_000) })).not.toThrow();
    expect(() => presignedUrl(tokenOf(GOOD), { ...options, now: new Date(NOW.getTime() + 900_000) })).toThrow(
      "expired",
    );
  });

  test.each([
    [
      "another host",
      GOOD.replace("sts.us-east-1.amazonaws.com", "sts.amazonaws.com.example.com"),
      /not an STS endpoint/,
    ],
    ["plain HTTP to AWS", GOOD.replace("https:", "http:"), /not an STS endpoint/],
    [
      "the gateway's host in its user name",
      GOOD.replace("https://", "https://100.64.255.1:4566@evil.example/"),
      /not an STS endpoint/,
    ],
    ["another path", GOOD.replace("/?", "/other?"), /path/],
    ["another action", GOOD.replace("GetCallerIdentity", "GetSessionToken"), /GetCallerIdentity/],
    ["two actions", `${GOOD}&Action=GetCallerIdentity`, /more than once/],
    ["an unknown parameter", `${GOOD}&DurationSeconds=1`, /DurationSeconds/],
    ["no cluster among the signed headers", GOOD.replace("%3Bx-k8s-aws-id", ""), /x-k8s-aws-id/],
    ["a date in the future", GOOD.replace("T0959", "T1059"), /future/],
    ["no date", GOOD.replace("X-Amz-Date", "X-Amz-user-agent"), /X-Amz-Date/],
    ["a longer time than EKS allows", GOOD.replace("Expires=60", "Expires=3600"), /X-Amz-Expires/],
    ["no URL", "nothing", /URL/],
  ])("with %s is refused", (_what, url, message) => {
    expect(() => presignedUrl(tokenOf(url), options)).toThrow(TokenRefused);
    expect(() => presignedUrl(tokenOf(url), options)).toThrow(message);
  });

  test("without EKS's prefix is refused", () => {
    expect(() => presignedUrl("eyJhbGciOi", options)).toThrow("k8s-aws-v1.");
  });
});

const entry = (principalArn: string, username: string, over: object = {}) => ({
  [principalArn]: {
    entry: { principalArn, username, kubernetesGroups: ["viewers"], type: "STANDARD", ...over },
    policies: [],
  },
});
const record = (...entries: object[]) =>
  ({ cluster: { name: "hub" }, accessEntries: Object.assign({}, ...entries) }) as unknown as ClusterRecord;
const ROLE = "arn:aws:iam::000000000000:role/team/viewer";
const session = {
  arn: "arn:aws:sts::000000000000:assumed-role/viewer/ann@example.com",
  userId: "AROA1:ann@example.com",
  account: "000000000000",
};

describe("the user behind a token", () => {
  test("of a role's session has the entry's groups, and its name with the session's", () => {
    const user = userOf(record(entry(ROLE, "{{AccountID}}:{{SessionName}}:{{SessionNameRaw}}")), session, "ASIA1");
    expect(user).toEqual({
      username: "000000000000:ann-example.com:ann@example.com",
      uid: "aws-iam-authenticator:000000000000:AROA1",
      groups: ["viewers"],
      extra: {
        accessKeyId: ["ASIA1"],
        arn: [session.arn],
        canonicalArn: [ROLE],
        principalId: [session.userId],
        sessionName: ["ann@example.com"],
      },
    });
  });

  test("has a group for each access policy of the entry, and never system:masters", () => {
    const policies = [
      {
        policyArn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
        accessScope: { type: "cluster" },
      },
      {
        policyArn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
        accessScope: { type: "namespace", namespaces: ["a"] },
      },
    ];
    const withPolicies = record({ [ROLE]: { ...entry(ROLE, "v")[ROLE], policies } });
    const { groups } = userOf(withPolicies, session, "");
    expect(groups).toEqual([
      "viewers",
      "eks:access-policy:AmazonEKSClusterAdminPolicy:cluster",
      expect.stringMatching(/^eks:access-policy:AmazonEKSViewPolicy:[0-9a-f]{12}$/),
    ]);
  });

  test("of a role that was made again is refused, until its entry is made again too", () => {
    const made = (roleId: string) => record({ [ROLE]: { ...entry(ROLE, "v")[ROLE], roleId } });
    expect(() => userOf(made("AROA0"), session, "")).toThrow(/former role of this ARN \(AROA0\), not for AROA1/);
    expect(userOf(made("AROA1"), session, "").groups).toEqual(["viewers"]);
  });

  test.each([
    ["without an entry", record(), session.arn],
    ["of a role with a like name", record(entry("arn:aws:iam::000000000000:role/viewer2", "v")), session.arn],
    [
      "of another account's role of that name",
      record(entry("arn:aws:iam::111111111111:role/viewer", "v")),
      session.arn,
    ],
    ["of a user where the entry is a role's", record(entry(ROLE, "v")), "arn:aws:iam::000000000000:user/viewer"],
    ["with an entry for nodes", record(entry(ROLE, "v", { type: "EC2_LINUX" })), session.arn],
  ])("%s is refused", (_what, cluster, arn) => {
    expect(() => userOf(cluster, { ...session, arn }, "")).toThrow(TokenRefused);
  });
});

describe("a TokenReview", () => {
  const review = (forward: object, cluster = record(entry(ROLE, "v"))) =>
    reviewToken({ apiVersion: "authentication.k8s.io/v1", spec: { token: tokenOf(GOOD) } }, cluster, {
      ...options,
      forward: (async () => forward) as never,
    });
  const identity = `<Arn>${session.arn}</Arn><UserId>${session.userId}</UserId><Account>000000000000</Account>`;

  test("authenticates whom STS names", async () => {
    expect(await review({ status: 200, headers: {}, body: identity })).toMatchObject({
      kind: "TokenReview",
      status: { authenticated: true, user: { username: "v" } },
    });
  });

  test("says why it doesn't: what STS said, or that there is no such cluster", async () => {
    const refused = await review({
      status: 403,
      headers: {},
      body: "<Code>SignatureDoesNotMatch</Code><Message>no</Message>",
    });
    expect(refused).toMatchObject({
      status: { authenticated: false, error: "STS refused the token: SignatureDoesNotMatch no" },
    });
    const unknown = await reviewToken({ spec: { token: tokenOf(GOOD) } }, undefined, {
      ...options,
      forward: undefined as never,
    });
    expect(unknown).toMatchObject({ status: { authenticated: false, error: "there is no such cluster" } });
  });

  test("asks STS with the cluster's own name as the signed header", async () => {
    const asked: unknown[] = [];
    const forward = async (request: unknown) => {
      asked.push(request);
      return { status: 200, headers: {}, body: identity };
    };
    await reviewToken({ spec: { token: tokenOf(GOOD) } }, record(entry(ROLE, "v")), {
      ...options,
      forward: forward as never,
    });
    expect(asked).toMatchObject([
      { method: "GET", rawHeaders: ["Host", "sts.us-east-1.amazonaws.com", "x-k8s-aws-id", "hub"] },
    ]);
  });
});
