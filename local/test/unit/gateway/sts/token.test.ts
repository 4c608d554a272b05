import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { verifyToken } from "../../../../gateway/sts/token.ts";

const ISSUER = "https://oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF";
const now = () => Math.floor(Date.now() / 1000);
const claims = (): JWTPayload => ({
  iss: ISSUER,
  sub: "system:serviceaccount:flux-system:source-controller",
  aud: ["sts.amazonaws.com", "vault"],
  iat: now() - 5,
  nbf: now() - 5,
  exp: now() + 600,
});

type Key = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];
let own: Key;
let foreign: Key;
let keys: JSONWebKeySet;
let rotated: JSONWebKeySet;
beforeAll(async () => {
  const pair = await generateKeyPair("RS256", { extractable: true });
  own = pair.privateKey;
  foreign = (await generateKeyPair("RS256")).privateKey;
  keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "own", alg: "RS256" }] };
  rotated = { keys: keys.keys.map((key) => ({ ...key, kid: "new" })) };
});

const sign = (over: Record<string, unknown> = {}, key = own, kid = "own") =>
  new SignJWT({ ...claims(), ...over }).setProtectedHeader({ alg: "RS256", kid }).sign(key);

const verify = (token: string, over: Partial<Parameters<typeof verifyToken>[1]> = {}) =>
  verifyToken(token, {
    provider: async (issuer) => (issuer === ISSUER ? { clientIds: ["sts.amazonaws.com"] } : undefined),
    keys: async (issuer) => (issuer === ISSUER ? keys : undefined),
    now: async () => new Date(),
    ...over,
  });

const refusal = async (token: string | Promise<string>, over = {}) =>
  verify(await token, over).then(
    () => "accepted",
    (error: { code: string }) => error.code,
  );

describe("a web identity token", () => {
  test("is accepted with the one of its audiences that IAM knows", async () => {
    expect(await verify(await sign())).toMatchObject({
      audience: "sts.amazonaws.com",
      claims: { sub: claims().sub, iss: ISSUER },
    });
    expect((await verify(await sign({ aud: "sts.amazonaws.com" }))).audience).toBe("sts.amazonaws.com");
  });

  test.each([
    ["signed with a foreign key", () => sign({}, foreign), "InvalidIdentityToken"],
    ["for no known audience", () => sign({ aud: ["vault"] }), "InvalidIdentityToken"],
    ["without an audience", () => sign({ aud: undefined }), "InvalidIdentityToken"],
    ["past its time", () => sign({ exp: now() - 1 }), "ExpiredTokenException"],
    ["before its time", () => sign({ nbf: now() + 60 }), "InvalidIdentityToken"],
    ["without an end", () => sign({ exp: undefined }), "InvalidIdentityToken"],
    ["without a subject", () => sign({ sub: undefined }), "InvalidIdentityToken"],
    ["of an issuer that IAM doesn't have", () => sign({ iss: `${ISSUER}0` }), "InvalidIdentityToken"],
    ["without a signature", async () => new UnsecuredJWT(claims()).encode(), "InvalidIdentityToken"],
    [
      "signed with a shared secret",
      () => new SignJWT(claims()).setProtectedHeader({ alg: "HS256", kid: "own" }).sign(new Uint8Array(32)),
      "InvalidIdentityToken",
    ],
    ["that is not a JWT", async () => "abc", "InvalidIdentityToken"],
  ])("%s is refused", async (_what, make, code) => {
    expect(await refusal(make())).toBe(code);
  });

  test("with a changed claim is refused", async () => {
    const [header, , signature] = (await sign()).split(".");
    const payload = Buffer.from(JSON.stringify({ ...claims(), sub: "system:serviceaccount:default:other" })).toString(
      "base64url",
    );
    expect(await refusal(`${header}.${payload}.${signature}`)).toBe("InvalidIdentityToken");
  });

  test("under a key newer than the ones at hand is accepted after another look at the keys", async () => {
    const asked: boolean[] = [];
    const look = async (_issuer: string, fresh: boolean) => {
      asked.push(fresh);
      return fresh ? rotated : keys;
    };
    expect(await refusal(sign({}, own, "new"), { keys: look })).toBe("accepted");
    expect(asked).toEqual([false, true]);
    expect(await refusal(sign({}, own, "unknown"), { keys: look })).toBe("InvalidIdentityToken");
  });

  test("of a provider in IAM whose cluster is gone or silent is refused, each by its own code", async () => {
    expect(await refusal(sign(), { keys: async () => undefined })).toBe("InvalidIdentityToken");
    expect(await refusal(sign(), { keys: () => Promise.reject(new Error("connection refused")) })).toBe(
      "IDPCommunicationError",
    );
  });
});
