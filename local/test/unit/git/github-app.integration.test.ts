import { execFile } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { SignJWT } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import type { AccessList } from "../../../git/access.ts";
import { exchange, grantsOfInstallation, tokenKey } from "../../../git/github-app.ts";
import { createHttpServer } from "../../../git/http.ts";
import { publish } from "../../../git/repositories.ts";
import { scratch } from "../../support/scratch.ts";
import { originOf } from "../../support/serving.ts";

const run = promisify(execFile);
const base = scratch("fleet-github-app-");
const app = generateKeyPairSync("rsa", { modulusLength: 2048 });
const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 });
const publicKey = app.publicKey.export({ format: "pem", type: "spki" }).toString();
const list: AccessList = {
  deployKeys: [],
  tokens: [],
  apps: [{ id: 7, installationId: 70, publicKey, repositories: ["one"], access: "read" }],
};
const key = tokenKey("host key");
const now = () => Math.floor(Date.now() / 1000);

let origin = "";
beforeAll(async () => {
  const root = join(base, "git");
  mkdirSync(root);
  for (const name of ["one", "two"]) {
    const content = join(base, name);
    mkdirSync(content);
    writeFileSync(join(content, "README.md"), name);
    publish(join(root, `${name}.git`), content, name);
  }
  const server = createHttpServer({ root, accessList: () => list, hostKey: "host key", log: () => {} });
  origin = await originOf(server as Server);
});

interface Claims {
  readonly iss?: string;
  readonly iat?: number;
  readonly exp?: number;
}

/** The JWT that Flux signs (fluxcd/pkg auth/githubapp, createJWT), with changes. */
const jwt = ({ iss = "7", iat = now() - 30, exp = now() + 90 }: Claims = {}, privateKey: KeyObject = app.privateKey) =>
  new SignJWT({})
    .setProtectedHeader({ alg: "RS256" })
    .setIssuer(iss)
    .setIssuedAt(iat)
    .setExpirationTime(exp)
    .sign(privateKey);

const ask = async (token: string | undefined, installation = 70, body = "") =>
  fetch(`${origin}/api/v3/app/installations/${installation}/access_tokens`, {
    method: "POST",
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body,
  });

const head = (url: string) =>
  run("git", ["ls-remote", url, "refs/heads/main"], {
    env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" },
  });
const urlOf = (repository: string, token: string, user = "x-access-token") =>
  `${origin.replace("://", `://${user}:${token}@`)}/${repository}.git`;

describe("a GitHub App", () => {
  test("gets a token for an hour, which reads the repositories of its installation and no other", async () => {
    const answer = await ask(await jwt());
    expect(answer.status).toBe(201);
    const { token, expires_at } = (await answer.json()) as { token: string; expires_at: string };
    expect(token).toMatch(/^ghs_/);
    expect(Math.abs(Date.parse(expires_at) / 1000 - now() - 3600)).toBeLessThan(60);
    expect((await head(urlOf("one", token))).stdout).toContain("refs/heads/main");
    // As at GitHub: what it may not read is not there.
    await expect(head(urlOf("two", token))).rejects.toThrow(/not found/);
    await expect(head(urlOf("one", token, "git"))).rejects.toThrow();
    await expect(head(urlOf("one", `${token.slice(0, -4)}AAAA`))).rejects.toThrow();
  });

  test.each<[string, () => Promise<string> | undefined]>([
    ["nothing", () => undefined],
    ["no JWT", async () => "t0ps3cret"],
    ["another key", () => jwt({}, stranger.privateKey)],
    ["another app's ID", () => jwt({ iss: "8" })],
    ["an ended JWT", () => jwt({ iat: now() - 600, exp: now() - 120 })],
    ["a JWT of more than ten minutes", () => jwt({ exp: now() + 1200 })],
    ["a JWT of the future", () => jwt({ iat: now() + 300, exp: now() + 500 })],
    [
      "a JWT signed with the public key as a password",
      () =>
        new SignJWT({})
          .setProtectedHeader({ alg: "HS256" })
          .setIssuer("7")
          .setIssuedAt(now() - 30)
          .setExpirationTime(now() + 90)
          .sign(Buffer.from(publicKey)),
    ],
  ])("gets none with %s", async (_what, token) => {
    expect((await ask(await token())).status).toBe(401);
  });

  test("gets none for an installation that is not its own, and none that asks for less than all", async () => {
    expect((await ask(await jwt(), 71)).status).toBe(404);
    expect((await ask(await jwt(), 70, '{"repositories":["one"]}')).status).toBe(422);
  });

  test("has a token that ends after an hour, and with the app; a start of the server does not end it", async () => {
    const authorization = `Bearer ${await jwt()}`;
    const { body } = await exchange({ list, installationId: "70", authorization, body: "", key });
    const credential = { username: "x-access-token", token: (body as { token: string }).token };
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000);
    const grants = async (of: AccessList, minutes: number) => [
      ...(await grantsOfInstallation(of, credential, tokenKey("host key"), inMinutes(minutes))),
    ];
    expect(await grants(list, 59)).toEqual([["one", "read"]]);
    expect(await grants(list, 61)).toEqual([]);
    expect(await grants({ ...list, apps: [] }, 1)).toEqual([]);
  });
});
