import { createPrivateKey } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Agent, get } from "node:https";
import { join } from "node:path";
import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import { AssumeRoleWithWebIdentityCommand } from "@aws-sdk/client-sts";
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, test } from "vitest";
import { REGION } from "../../gateway/ministack.ts";
import {
  adminApi,
  allow,
  arnOf,
  type Clients,
  type Credentials,
  cloud,
  configOf,
  iam,
  outcome,
  serviceAccountToken,
  useGatewayCloud,
} from "../support/gateway.ts";

const STS = "sts.amazonaws.com";
let anybody: Clients;
let issuer: string;
let ownSecret: string;

useGatewayCloud(async () => {
  anybody = cloud.as(undefined);
  issuer = await cloud.cluster("one");
  const other = await cloud.cluster("two");
  for (const Url of [issuer, other]) await iam.createOpenIDConnectProvider({ Url, ClientIDList: [STS] });
  // Not the account `default`: the controller manager makes it at a time of its own.
  for (const [cluster, name] of [
    ["one", "reader"],
    ["one", "stranger"],
    ["two", "reader"],
  ] as const)
    await adminApi(cloud.instance, cluster).createNamespacedServiceAccount({
      namespace: "default",
      body: { metadata: { name } },
    });
  const secrets = secretsOf(cloud.deployer.credentials as Credentials);
  for (const Name of ["own", "other"]) {
    const { ARN = "" } = await secrets.createSecret({ Name, SecretString: `value of ${Name}` });
    if (Name === "own") ownSecret = ARN;
  }
  await iam.createRole({ RoleName: "reader", AssumeRolePolicyDocument: JSON.stringify(trust()) });
  await iam.putRolePolicy({
    RoleName: "reader",
    PolicyName: "own",
    PolicyDocument: JSON.stringify(allow({ Action: "secretsmanager:GetSecretValue", Resource: ownSecret })),
  });
});

function trust(): object {
  const host = issuer.replace("https://", "");
  return {
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Principal: { Federated: arnOf(`oidc-provider/${host}`) },
        Action: "sts:AssumeRoleWithWebIdentity",
        Condition: { StringEquals: { [`${host}:sub`]: "system:serviceaccount:default:reader", [`${host}:aud`]: STS } },
      },
    ],
  };
}

const secretsOf = (credentials: Credentials) => new SecretsManager(configOf({ credentials }));

const assumeWith = (WebIdentityToken: string, extra: object = {}) =>
  anybody.sts.assumeRoleWithWebIdentity({
    RoleArn: arnOf("role/reader"),
    RoleSessionName: "pod",
    WebIdentityToken,
    ...extra,
  });

const tokenOf = (cluster = "one", name = "reader", audience = STS) =>
  serviceAccountToken(cloud.instance, cluster, name, audience);

/** The token with other claims, signed with the cluster's own key: what only its API server could make. */
async function signedAnew(claims: JWTPayload): Promise<string> {
  const token = await tokenOf();
  const key = await readFile(join(cloud.instance.paths.clusters, "one", "pki", "service-account.key"), "utf8");
  const { kid = "" } = decodeProtectedHeader(token);
  return new SignJWT({ ...decodeJwt(token), ...claims })
    .setProtectedHeader({ alg: "RS256", kid })
    .sign(createPrivateKey(key));
}

describe("a service account's token", () => {
  test("gives its role's rights and no other", async () => {
    const { Credentials: got, SubjectFromWebIdentityToken, Audience, Provider } = await assumeWith(await tokenOf());
    expect({ SubjectFromWebIdentityToken, Audience, Provider }).toEqual({
      SubjectFromWebIdentityToken: "system:serviceaccount:default:reader",
      Audience: STS,
      Provider: issuer,
    });
    const secrets = secretsOf({
      accessKeyId: got?.AccessKeyId ?? "",
      secretAccessKey: got?.SecretAccessKey ?? "",
      sessionToken: got?.SessionToken ?? "",
    });
    const { SecretString } = await secrets.getSecretValue({ SecretId: "own" });
    expect(SecretString).toBe("value of own");
    expect(await outcome(secrets.getSecretValue({ SecretId: "other" }))).toBe("AccessDeniedException");
  });

  test("of another service account is refused by the role's trust policy", async () => {
    expect(await outcome(assumeWith(await tokenOf("one", "stranger")))).toBe("AccessDenied");
  });

  test("of another cluster is refused by the role's trust policy, though that cluster is registered in IAM", async () => {
    expect(await outcome(assumeWith(await tokenOf("two")))).toBe("AccessDenied");
  });

  test("for another audience is refused", async () => {
    expect(await outcome(assumeWith(await tokenOf("one", "reader", "vault")))).toBe("InvalidIdentityTokenException");
  });

  test("is refused once it has expired, and good when signed anew with time left", async () => {
    const now = Math.floor(Date.now() / 1000);
    expect(await outcome(assumeWith(await signedAnew({ iat: now - 700, nbf: now - 700, exp: now - 60 })))).toBe(
      "ExpiredTokenException",
    );
    expect(await outcome(assumeWith(await signedAnew({ exp: now + 600 })))).toBe("allowed");
  });

  test("is refused when a claim was changed under its signature, without a signature, and under a key of one's own", async () => {
    const [header, , signature] = (await tokenOf("one", "stranger")).split(".");
    const claims = { ...decodeJwt(await tokenOf("one", "stranger")), sub: "system:serviceaccount:default:reader" };
    const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const hmac = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new Uint8Array(32));
    for (const forged of [`${header}.${payload}.${signature}`, new UnsecuredJWT(claims).encode(), hmac, "no token"])
      expect(await outcome(assumeWith(forged))).toBe("InvalidIdentityTokenException");
  });

  test("of an issuer that IAM doesn't know is refused", async () => {
    const unknown = await signedAnew({
      iss: "https://oidc.eks.us-east-1.amazonaws.com/id/00000000000000000000000000000000",
    });
    await expect(assumeWith(unknown)).rejects.toThrow("No OpenIDConnect provider found in your account");
  });

  test("straight at the emulator is worth nothing: only the gateway's own signature counts there", async () => {
    const { STSClient } = await import("@aws-sdk/client-sts");
    const direct = new STSClient({ endpoint: `http://${cloud.instance.loopbackAddress}:4566`, region: REGION });
    const call = new AssumeRoleWithWebIdentityCommand({
      RoleArn: arnOf("role/reader"),
      RoleSessionName: "pod",
      WebIdentityToken: await tokenOf(),
    });
    expect(await outcome(direct.send(call))).toBe("AccessDenied");
  });

  test("can't be narrowed by session policies that nothing would enforce: such a call is refused", async () => {
    expect(await outcome(assumeWith(await tokenOf(), { Policy: JSON.stringify(allow({ Action: "*" })) }))).toBe(
      "ValidationError",
    );
  });
});

describe("under AWS's own names", () => {
  /** GET over TLS at the gateway's address, trusting the instance's CA only. */
  const fetchAs = async (url: string): Promise<{ status: number; body: unknown }> => {
    const ca = await readFile(cloud.instance.paths.caCertificate);
    const { hostname } = new URL(url);
    const agent = new Agent({
      ca,
      servername: hostname,
      lookup: (_name, _options, done) => done(null, [{ address: cloud.instance.gatewayAddress, family: 4 }]),
    });
    return new Promise((resolve, reject) => {
      get(url, { agent }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      }).on("error", reject);
    });
  };

  test("the issuer serves its discovery document and the keys that verify its tokens", async () => {
    const { body } = await fetchAs(`${issuer}/.well-known/openid-configuration`);
    expect(body).toMatchObject({ issuer, jwks_uri: `${issuer}/keys` });
    const keys = (await fetchAs(`${issuer}/keys`)).body as { keys: { kid: string }[] };
    expect(keys.keys.map(({ kid }) => kid)).toContain(decodeProtectedHeader(await tokenOf()).kid);
    expect((await fetchAs(`${issuer.slice(0, -32)}${"0".repeat(32)}/keys`)).status).toBe(404);
  });

  test("a name that isn't AWS's or ours gets no certificate", async () => {
    await expect(fetchAs("https://example.com/")).rejects.toThrow();
  });
});
