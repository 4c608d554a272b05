import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AssumeRoleWithWebIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { createAws } from "@eks-gitops-fleet/local/aws";
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { instance, kubectl, tryKubectl } from "./fleet.ts";

/** The audience that IAM's trust policies ask for. */
export const STS_AUDIENCE = "sts.amazonaws.com";

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

/** A token of a service account from an API server (TokenRequest): the hub's, or that of kubectl's arguments `cluster`. */
export async function serviceAccountToken(
  { namespace, name }: ServiceAccount,
  audience = STS_AUDIENCE,
  cluster: readonly string[] = [],
): Promise<string> {
  const create = ["create", "token", name, "--namespace", namespace, "--audience", audience];
  return (await kubectl([...cluster, ...create])).trim();
}

/** Makes a service account unless the cluster has it, and gives what removes it again. */
export async function ensureServiceAccount({ namespace, name }: ServiceAccount): Promise<() => Promise<void>> {
  const there = await tryKubectl(["get", "serviceaccount", name, "--namespace", namespace]);
  if (there.code === 0) return async () => {};
  await kubectl(["create", "serviceaccount", name, "--namespace", namespace]);
  return async () => void (await kubectl(["delete", "serviceaccount", name, "--namespace", namespace]));
}

const region = "us-east-1";
const sts = new STSClient({
  region,
  endpoint: instance.awsEndpoint,
  credentials: { accessKeyId: "none", secretAccessKey: "none" },
});

/** Exchanges a web identity token for credentials of a role; rejects with the error that AWS names. */
export async function assume(roleArn: string, token: string) {
  const command = new AssumeRoleWithWebIdentityCommand({
    RoleArn: roleArn,
    RoleSessionName: "test",
    WebIdentityToken: token,
  });
  const { Credentials } = await sts.send(command);
  return {
    accessKeyId: Credentials?.AccessKeyId ?? "",
    secretAccessKey: Credentials?.SecretAccessKey ?? "",
    sessionToken: Credentials?.SessionToken ?? "",
  };
}

/** AWS clients with the rights of a role, as its service account has them (on the hub, or by kubectl's arguments `cluster`). */
export async function actingAs(roleArn: string, account: ServiceAccount, cluster: readonly string[] = []) {
  const credentials = await assume(roleArn, await serviceAccountToken(account, STS_AUDIENCE, cluster));
  return createAws({ region, endpoint: instance.awsEndpoint, credentials, maxAttempts: 1 });
}

/** The key with which the API server of a cluster signs its service accounts' tokens. */
export const signingKey = (cluster: string): KeyObject =>
  createPrivateKey(readFileSync(join(instance.paths.clusters, cluster, "pki", "service-account.key")));

/** Any other key of the same kind. */
export const foreignKey = (): KeyObject => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

/** The same token with some claims changed, signed by a key under the original's key id. */
export function resign(token: string, claims: Record<string, unknown>, key: KeyObject): Promise<string> {
  const { alg = "RS256", kid } = decodeProtectedHeader(token);
  return new SignJWT({ ...decodeJwt(token), ...claims })
    .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
    .sign(key);
}

/** The same token with a changed payload under its original signature. */
export function tamper(token: string, claims: Record<string, unknown>): string {
  const [header, , signature] = token.split(".");
  const payload = Buffer.from(JSON.stringify({ ...decodeJwt(token), ...claims })).toString("base64url");
  return [header, payload, signature].join(".");
}
