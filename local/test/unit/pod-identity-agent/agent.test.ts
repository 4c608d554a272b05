import { once } from "node:events";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { UnsecuredJWT } from "jose";
import { beforeEach, expect, test } from "vitest";
import { podIdentityAgent } from "../../../pod-identity-agent/agent.ts";
import { originOf, serving } from "../../support/serving.ts";

const HOUR = 3600;
/** Seconds since 1970. */
let clock: number;
/** How many hours EKS Auth's credentials hold. */
let hours: number;
let refuses: boolean;
let asked: { path: string; authorization: string; token: string; sessionToken: string }[];
let agent: string;

/** EKS Auth: numbers its answers. */
function answer(message: IncomingMessage, body: string, response: ServerResponse): void {
  const { authorization = "", "x-amz-security-token": sessionToken } = message.headers;
  const { token: given } = JSON.parse(body) as { token: string };
  asked.push({ path: message.url ?? "", authorization, token: given, sessionToken: String(sessionToken) });
  if (refuses) {
    response.writeHead(404, { "x-amzn-errortype": "ResourceNotFoundException" });
    response.end(JSON.stringify({ message: "no association" }));
    return;
  }
  const expiration = clock + hours * HOUR;
  const credentials = { accessKeyId: `ASIA${asked.length}`, secretAccessKey: "s", sessionToken: "t", expiration };
  const arn = "arn:aws:sts::123456789012:assumed-role/app/eks-hub-app";
  response.end(JSON.stringify({ assumedRoleUser: { arn }, credentials }));
}

beforeEach(async () => {
  [clock, hours, refuses, asked] = [1_700_000_000, 6, false, []];
  const nodeCredentials = async () => ({
    accessKeyId: "ASIANODE",
    secretAccessKey: "secret",
    sessionToken: "of the node",
    expiration: "2026-01-01T00:00:00Z",
  });
  const options = { cluster: "hub", region: "us-east-1", endpoint: await serving(answer), nodeCredentials };
  agent = await originOf(podIdentityAgent({ ...options, log: () => {}, now: () => clock * 1000 }));
});

const token = (name = "app") => new UnsecuredJWT({ sub: name }).encode();

async function get(headers: Record<string, string>, path = "/v1/credentials") {
  const sent = request({
    port: new URL(agent).port,
    host: "127.0.0.1",
    path,
    headers: { host: "169.254.170.23", ...headers },
    agent: false,
  });
  const [answer] = await once(sent.end(), "response");
  return { status: answer.statusCode, body: await text(answer) };
}

test("a pod's token gets the credentials of its association, in the form that the SDKs read", async () => {
  const { status, body } = await get({ authorization: token() });
  expect([status, JSON.parse(body)]).toEqual([
    200,
    {
      AccessKeyId: "ASIA1",
      SecretAccessKey: "s",
      Token: "t",
      AccountId: "123456789012",
      Expiration: new Date((clock + 6 * HOUR) * 1000).toISOString(),
    },
  ]);
});

test("EKS Auth is asked with the pod's token, signed by the node's role", async () => {
  await get({ authorization: token() });
  expect(asked).toEqual([
    {
      path: "/clusters/hub/assume-role-for-pod-identity",
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=ASIANODE\/\d{8}\/us-east-1\/eks-auth\/aws4_request/,
      ),
      token: token(),
      sessionToken: "of the node",
    },
  ]);
});

test("a pod that asks again gets the same credentials for three hours, and another pod its own", async () => {
  const keyOf = async (of = token()) => JSON.parse((await get({ authorization: of })).body).AccessKeyId;
  expect([await keyOf(), await keyOf(), await keyOf(token("other"))]).toEqual(["ASIA1", "ASIA1", "ASIA2"]);
  clock += 3 * HOUR - 1;
  expect(await keyOf()).toBe("ASIA1");
  clock += 1;
  expect(await keyOf()).toBe("ASIA3");
});

test("credentials that expire sooner are replaced before they do", async () => {
  hours = 1;
  const keyOf = async () => JSON.parse((await get({ authorization: token() })).body).AccessKeyId;
  expect(await keyOf()).toBe("ASIA1");
  clock += HOUR - 15;
  expect(await keyOf()).toBe("ASIA2");
});

test("a refusal of EKS Auth is passed on, and not kept", async () => {
  refuses = true;
  expect(await get({ authorization: token() })).toEqual({
    status: 404,
    body: "(ResourceNotFoundException): no association, fault: client\n",
  });
  refuses = false;
  expect((await get({ authorization: token() })).status).toBe(200);
});

test.each([
  ["under another address", { host: "127.0.0.1" }, 403, "invalid address"],
  ["without a token", {}, 400, "cannot be empty"],
  ["with something that is no token", { authorization: "Bearer x" }, 400, "cannot be parsed"],
])("a call %s is refused without asking EKS Auth", async (_what, headers, status, message) => {
  const authorization = "host" in headers ? { authorization: token() } : {};
  expect(await get({ ...authorization, ...headers })).toEqual({ status, body: expect.stringContaining(message) });
  expect(asked).toEqual([]);
});

test("nothing but credentials is served", async () => {
  expect((await get({ authorization: token() }, "/latest/meta-data")).status).toBe(404);
});
