import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { type AwsApi, awsApi } from "../../../gateway/api.ts";
import type { HttpRequest } from "../../../gateway/aws/http.ts";
import { ACCOUNT } from "./calls.ts";

const OTHER = "222222222222";
const KEYS: Readonly<Record<string, string>> = { HUBS: ACCOUNT, OTHERS: OTHER };

/** The gateway's parts of each account; what is asked of them is noted with the account. */
function apiOfAccounts() {
  const asked: string[] = [];
  const noted = (what: string) => (account: string) => {
    asked.push(`${what} of ${account}`);
    throw new Error("asked");
  };
  const api = {
    faults: async () => ({ newRolesUnknownSeconds: 0, clockAheadSeconds: 0 }),
    exceeds: () => false,
    mayAnswer: async () => {},
    forward: () => Promise.reject(new Error("forwarded")),
    accountOf: async (key: string) => KEYS[key],
    eks: noted("EKS"),
    eksAuth: noted("EKS Auth"),
    grafana: () => Promise.reject(new Error("Grafana")),
    issuers: (account: string) => ({
      provider: async (issuer: string) => void asked.push(`${issuer} of ${account}`),
      keys: async () => undefined,
      now: async () => new Date(),
    }),
  } as unknown as AwsApi;
  return { api, asked };
}

const request = (over: Partial<HttpRequest>): HttpRequest => ({
  ...{ method: "POST", url: "/", rawHeaders: [], headers: {}, body: Buffer.alloc(0) },
  ...over,
});
const signed = (key: string, service: string): HttpRequest =>
  request({
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${key}/20261126/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=0`,
    },
  });

test("EKS and EKS Auth are those of the account of the access key", async () => {
  const { api, asked } = apiOfAccounts();
  for (const key of ["HUBS", "OTHERS"])
    for (const service of ["eks", "eks-auth"]) await expect(awsApi(signed(key, service), api)).rejects.toThrow("asked");
  expect(asked).toEqual([`EKS of ${ACCOUNT}`, `EKS Auth of ${ACCOUNT}`, `EKS of ${OTHER}`, `EKS Auth of ${OTHER}`]);
});

test("a web identity's issuer is looked for in the account of the role", async () => {
  const { api, asked } = apiOfAccounts();
  const WebIdentityToken = await new SignJWT({ iss: "https://issuer" })
    .setProtectedHeader({ alg: "HS256" })
    .sign(Buffer.alloc(32));
  for (const RoleArn of [`arn:aws:iam::${OTHER}:role/reader`, `arn:aws:iam::${ACCOUNT}:role/reader`, "no ARN"]) {
    const form = { Action: "AssumeRoleWithWebIdentity", RoleArn, RoleSessionName: "pod", WebIdentityToken };
    const answer = await awsApi(request({ body: Buffer.from(new URLSearchParams(form).toString()) }), api);
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining("No OpenIDConnect provider found") });
  }
  expect(asked).toEqual([OTHER, ACCOUNT, ACCOUNT].map((account) => `https://issuer of ${account}`));
});

test("Managed Prometheus and Grafana serve the hub's account only, and say so", async () => {
  const { api } = apiOfAccounts();
  for (const service of ["aps", "grafana"])
    expect(await awsApi(signed("OTHERS", service), api)).toMatchObject({
      status: 403,
      body: expect.stringContaining(`serves ${service} to account ${ACCOUNT} only, not to ${OTHER}`),
    });
  await expect(awsApi(signed("HUBS", "grafana"), api)).rejects.toThrow("Grafana");
});
