import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { awsApi } from "../../../../gateway/api.ts";
import { credentialScope } from "../../../../gateway/aws/credential-scope.ts";
import { forwardTo } from "../../../../gateway/aws/forward.ts";
import type { HttpRequest } from "../../../../gateway/aws/http.ts";
import { serving } from "../../../support/serving.ts";

/** A server that keeps what it is sent, and its URL. */
async function emulator() {
  const got: { headers: IncomingMessage["headers"]; url: string | undefined; body: string }[] = [];
  const url = await serving((message, body, response) => {
    got.push({ headers: message.headers, url: message.url, body });
    const isHead = message.method === "HEAD";
    response.writeHead(isHead ? 200 : 403, { "x-amzn-errortype": "AccessDenied", "content-length": "2" });
    response.end(isHead ? undefined : "no");
  });
  return { url, got };
}

const request = (over: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "POST",
  url: "/a%2Fb?x=%20",
  rawHeaders: ["Host", "sts.us-east-1.amazonaws.com", "X-Amz-Date", "20261121T100000Z"],
  headers: {},
  body: Buffer.from("body"),
  ...over,
});

describe("a forwarded request", () => {
  test("keeps host, path and body as they were signed, and its refusal comes back as it is", async () => {
    const { url, got } = await emulator();
    const answer = await forwardTo(url)(request());
    expect(got).toMatchObject([
      {
        url: "/a%2Fb?x=%20",
        body: "body",
        headers: { host: "sts.us-east-1.amazonaws.com", "x-amz-date": "20261121T100000Z" },
      },
    ]);
    expect([answer.status, answer.headers["x-amzn-errortype"], answer.body.toString()]).toEqual([
      403,
      "AccessDenied",
      "no",
    ]);
  });

  test("carries the gateway's assertion only, never one that the client sent", async () => {
    const { url, got } = await emulator();
    const forged = request({ rawHeaders: ["Host", "h", "X-Fleet-Assertion", "forged"] });
    await forwardTo(url)(forged);
    await forwardTo(url)(forged, { "x-fleet-assertion": "own" });
    expect(got.map(({ headers }) => headers["x-fleet-assertion"])).toEqual([undefined, "own"]);
  });

  test("of the kind HEAD keeps the length that its answer states", async () => {
    const { url } = await emulator();
    const answer = await forwardTo(url)(request({ method: "HEAD", body: Buffer.alloc(0) }));
    expect([answer.headers["content-length"], answer.body.length]).toEqual(["2", 0]);
  });
});

describe("the scope of a request", () => {
  const scope = (authorization: string | undefined, url = "/") => credentialScope({ headers: { authorization }, url });

  test("is read from the header, or from the query of a presigned URL", () => {
    const eks = { accessKeyId: "AKIA", region: "us-east-1", service: "eks" };
    expect(
      scope("AWS4-HMAC-SHA256 Credential=AKIA/20261121/us-east-1/eks/aws4_request, SignedHeaders=host, Signature=0"),
    ).toEqual(eks);
    expect(scope(undefined, "/?X-Amz-Credential=AKIA%2F20261121%2Fus-east-1%2Feks%2Faws4_request")).toEqual(eks);
  });

  test.each([undefined, "Bearer x", "AWS4-HMAC-SHA256 Credential=AKIA/20261121/us-east-1", "AWS AKIA:sig"])(
    "of %s is none",
    (authorization) => {
      expect(scope(authorization)).toBeUndefined();
    },
  );
});

test("what carries no signature stays at the gateway, and so do the emulator's own pages", async () => {
  const forward = () => Promise.reject(new Error("forwarded"));
  const api = { forward, faults: async () => ({ clockAheadSeconds: 0 }), exceeds: () => false } as never;
  const signed =
    "AWS4-HMAC-SHA256 Credential=AKIA/20261121/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0";
  for (const over of [
    {},
    { url: "/_ministack/reset" },
    { url: "/_ministack/reset", headers: { authorization: signed } },
  ]) {
    const answer = await awsApi(request(over), api);
    expect([answer.status, answer.body]).toEqual([403, expect.stringContaining("MissingAuthenticationToken")]);
  }
  await expect(awsApi(request({ headers: { authorization: signed } }), api)).rejects.toThrow("forwarded");
});
