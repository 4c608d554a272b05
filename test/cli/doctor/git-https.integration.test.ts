import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureAuthority } from "@eks-gitops-fleet/local/clusters";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkGit } from "../../../cli/doctor/git.ts";
import { connectIn } from "../../../cli/doctor/surroundings.ts";
import type { Fetch } from "../../../cli/upstream/http.ts";
import { type Answers, fakeAws, Refusal } from "./support/aws.ts";
import { gitServer } from "./support/git-server.ts";
import { noGitHub } from "./support/github.ts";
import { devStack } from "./support/programs.ts";

/** Only AWS is a stand-in. */
const server = await gitServer();
const { access, base, httpHost, run } = server;
afterAll(server.close);

let close = async () => {};
afterEach(() => close());

const connect = connectIn(undefined, fetch);
const credential = (members: object) => ({ SecretString: JSON.stringify(members) });

describe("fleet doctor, Git hosts by token", () => {
  const TOKEN = "a-token-of-the-test";
  const sha256 = createHash("sha256").update(TOKEN).digest("hex");
  const mayRead = (...names: string[]) =>
    names.map((repository) => ({ repository, username: "flux", sha256, access: "read" as const }));
  beforeEach(() => {
    access.tokens = mayRead("gitops-system", "gitops-workloads");
  });

  async function byToken({ branch = "main", at = httpHost, answers = {} as Answers, loggedIn = true } = {}) {
    const aws = await fakeAws({ GetSecretValue: credential({ username: "flux", password: TOKEN }), ...answers });
    close = aws.close;
    const stack = await devStack();
    const settings = {
      ...stack.settings,
      gitAuthentication: "token" as const,
      // The program takes https alone; the server of this test has no certificate.
      gitopsSystemRepoUrl: `http://${at}/gitops-system.git`,
      gitopsWorkloadsRepoUrl: `http://${at}/gitops-workloads.git`,
      gitopsSystemRepoRevision: branch,
    };
    const options = { run, connect, aws: aws.config, loggedIn, ssh: undefined, github: noGitHub };
    const findings = await checkGit({ ...stack, settings }, options);
    expect(JSON.stringify(findings)).not.toContain(TOKEN);
    return findings;
  }

  test("are ok when the token reads the branches", async () => {
    expect((await byToken()).map(({ name, status }) => [name, status])).toEqual([
      ["token for gitops-system", "ok"],
      ["token for gitops-workloads", "ok"],
    ]);
  });

  test("say that the token is not accepted, may not read a repository, or that the branch is not there", async () => {
    access.tokens = mayRead("gitops-system");
    const [system, workloads] = await byToken({ branch: "production" });
    expect(system).toMatchObject({ status: "wrong", message: expect.stringContaining("no branch production") });
    expect(workloads).toMatchObject({ status: "wrong", todo: expect.stringContaining("--secret gitToken") });
    await close();
    access.tokens = [];
    expect((await byToken())[0]).toMatchObject({
      status: "wrong",
      message: expect.stringContaining("is not accepted"),
    });
  });

  test("are unknown where the host does not answer, or the token may not be read", async () => {
    expect((await byToken({ at: "127.0.0.1:9" }))[0]).toMatchObject({ status: "unchecked" });
    await close();
    const denied = { GetSecretValue: new Refusal("AccessDeniedException") };
    expect((await byToken({ answers: denied }))[0]).toMatchObject({ status: "unchecked" });
    await close();
    expect(await byToken({ loggedIn: false })).toMatchObject([{ status: "unchecked" }]);
  });
});

describe("fleet doctor, Git hosts by GitHub App", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ format: "pem", type: "pkcs1" }).toString();
  const app = (...names: string[]) => ({
    id: 7,
    installationId: 70,
    publicKey: publicKey.export({ format: "pem", type: "spki" }).toString(),
    repositories: names,
    access: "read" as const,
  });
  const stored = { githubAppID: "7", githubAppInstallationID: "70", githubAppPrivateKey: pem };
  beforeEach(() => {
    access.apps = [app("gitops-system", "gitops-workloads")];
  });

  async function byApp({ member = {}, origin = `http://${httpHost}`, loggedIn = true, by = fetch as Fetch } = {}) {
    const secret = { ...stored, githubAppBaseURL: `${origin}/api/v3`, ...member };
    const aws = await fakeAws({ GetSecretValue: credential(secret) });
    close = aws.close;
    const stack = await devStack();
    const settings = {
      ...stack.settings,
      gitAuthentication: "github-app" as const,
      gitopsSystemRepoUrl: `${origin}/gitops-system.git`,
      gitopsWorkloadsRepoUrl: `${origin}/gitops-workloads.git`,
      // Not yet in the secret, which is what Flux has.
      githubAppBaseUrl: "https://127.0.0.1:9/api/v3",
      gitCaCertificate: "",
    };
    const options = {
      run,
      connect: connectIn(undefined, by),
      aws: aws.config,
      loggedIn,
      ssh: undefined,
      github: noGitHub,
    };
    const findings = await checkGit({ ...stack, settings }, options);
    expect(JSON.stringify(findings)).not.toMatch(/PRIVATE KEY-|ghs_/);
    return findings;
  }

  test("are ok when the app gets a token that reads the branches", async () => {
    expect((await byApp()).map(({ name, status }) => [name, status])).toEqual([
      ["GitHub App for gitops-system", "ok"],
      ["GitHub App for gitops-workloads", "ok"],
    ]);
  });

  test("say which of ID, key, installation and repositories is not right", async () => {
    access.apps = [app("gitops-system")];
    const [system, workloads] = await byApp();
    expect(system?.status).toBe("ok");
    expect(workloads).toMatchObject({ status: "wrong", todo: expect.stringContaining("install the app") });
    await close();
    const [installation] = await byApp({ member: { githubAppInstallationID: "71" } });
    expect(installation).toMatchObject({ status: "wrong", message: expect.stringContaining("no installation 71") });
    await close();
    const [id] = await byApp({ member: { githubAppID: "8" } });
    expect(id).toMatchObject({ status: "wrong", todo: expect.stringContaining("githubAppPrivateKey") });
    await close();
    expect(await byApp({ loggedIn: false })).toMatchObject([{ status: "unchecked" }]);
  });

  test("say how to replace a key that GitHub does not know, by a command that takes its lines", async () => {
    const todo = expect.stringContaining("pulumi config set --secret githubAppPrivateKey < app.private-key.pem");
    expect((await byApp({ member: { githubAppID: "8" } }))[0]).toMatchObject({ status: "wrong", todo });
    await close();
    const flat = { githubAppPrivateKey: pem.replaceAll("\n", " ") };
    expect((await byApp({ member: flat }))[0]).toMatchObject({
      status: "wrong",
      message: expect.stringContaining("can't sign"),
      todo,
    });
  });

  test.each([
    [
      "a suspended installation is wrong",
      403,
      '{"message":"This installation has been suspended"}',
      "wrong",
      "unsuspend",
    ],
    ["a rate limit is unknown", 403, '{"message":"API rate limit exceeded"}', "unchecked", "try again"],
    ["a server that is not GitHub's is wrong", 201, "<html>", "wrong", "githubAppBaseUrl"],
    ["a token that is none is wrong", 201, "null", "wrong", "githubAppBaseUrl"],
  ])("%s", async (_what, status, text, found, todo) => {
    const by: Fetch = async () => new Response(text, { status });
    expect((await byApp({ by }))[0]).toMatchObject({ status: found, todo: expect.stringContaining(todo) });
  });

  test("are asked over TLS with the authority that Flux has, and not without it", async () => {
    const authority = await ensureAuthority(join(base, "ca"), "ca", "test");
    const files = await authority.issue("git", { commonName: "git", addresses: ["127.0.0.1"] });
    const tls = { cert: readFileSync(files.certificate, "utf8"), key: readFileSync(files.key, "utf8") };
    const origin = `https://${await server.serveHttp(tls)}`;
    expect(await byApp({ origin, member: { "ca.crt": authority.certificate } })).toMatchObject([
      { status: "ok" },
      { status: "ok" },
    ]);
    await close();
    const [without] = await byApp({ origin });
    expect(without).toMatchObject({ status: "unchecked", todo: expect.stringContaining("gitCaCertificate") });
  });
});
