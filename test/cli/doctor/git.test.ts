import { createHash, generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Server } from "ssh2";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkGit } from "../../../cli/doctor/git.ts";
import { runner } from "../../../cli/doctor/process.ts";
import { ensureAuthority } from "../../../local/clusters/pki.ts";
import type { AccessList } from "../../../local/git/access.ts";
import { createHttpServer } from "../../../local/git/http.ts";
import { publish } from "../../../local/git/repositories.ts";
import { createSshServer, knownHostsLine, newPrivateKey } from "../../../local/git/ssh.ts";
import { type Answers, type Asked, fakeAws, Refusal } from "./support/aws.ts";
import { devStack, programs } from "./support/programs.ts";

/** The local stack's Git server, reached by the real git, ssh and ssh-agent; only AWS is a stand-in. */
const base = mkdtempSync(join(tmpdir(), "fleet-doctor-git-"));
const temporary = join(base, "tmp");
const key = newPrivateKey("hub");
const hostKey = newPrivateKey("host");
const run = runner(base, { ...process.env, TMPDIR: temporary, SSH_AUTH_SOCK: "" });
let deployKeys: AccessList["deployKeys"] = [];
let tokens: AccessList["tokens"] = [];
let apps: AccessList["apps"] = [];
let server: Server;
let https: HttpServer;
let host = "";
let httpHost = "";

const grants = (...names: string[]) =>
  names.map((repository) => ({ repository, publicKey: knownHostsLine("", key).trim(), access: "read" as const }));

beforeAll(async () => {
  const content = join(base, "content");
  for (const folder of [content, temporary, join(base, "git")]) mkdirSync(folder);
  writeFileSync(join(content, "README.md"), "# system\n");
  for (const name of ["gitops-system", "gitops-workloads"]) publish(join(base, "git", `${name}.git`), content, "first");
  const accessList = () => ({ deployKeys, tokens, apps }) as AccessList;
  server = createSshServer({ root: join(base, "git"), hostKey, accessList, log: () => {} });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  https = createHttpServer({ root: join(base, "git"), accessList, hostKey, log: () => {} });
  await new Promise<void>((ready) => https.listen(0, "127.0.0.1", ready));
  httpHost = `127.0.0.1:${(https.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise<void>((done) => server.close(() => done()));
  https.closeAllConnections();
  await new Promise<void>((done) => https.close(() => done()));
  rmSync(base, { recursive: true });
});

let close = async () => {};
beforeEach(() => {
  deployKeys = grants("gitops-system", "gitops-workloads");
});
afterEach(() => close());

const credential = (members: object) => ({ SecretString: JSON.stringify(members) });
const stored: Answers = { GetSecretValue: credential({ identity: key }) };

async function look(change: Record<string, string> = {}, answers: Answers = stored, loggedIn = true) {
  const aws = await fakeAws(answers);
  close = aws.close;
  const stack = await devStack();
  const settings = {
    ...stack.settings,
    gitopsSystemRepoUrl: `ssh://git@${host}/gitops-system.git`,
    gitopsWorkloadsRepoUrl: `ssh://git@${host}/gitops-workloads.git`,
    gitKnownHosts: knownHostsLine(`[127.0.0.1]:${host.split(":")[1]}`, hostKey),
    ...change,
  };
  const findings = await checkGit({ ...stack, settings }, { run, fetch, aws: aws.config, loggedIn, ssh: undefined });
  expect(readdirSync(temporary)).toEqual([]);
  const [hosts, system, workloads] = ["host key", "deploy key of gitops-system", "deploy key of gitops-workloads"].map(
    (name) => findings.find((finding) => finding.name.startsWith(name)),
  );
  return { hosts, system, workloads, findings, asked: aws.asked as readonly Asked[] };
}

describe("fleet doctor, Git hosts", () => {
  test("are ok when the host key is the stack's and the deploy keys read the branches", async () => {
    const { findings, asked } = await look();
    expect(findings.map(({ status, message }) => [status, message])).toEqual([
      ["ok", "is in gitKnownHosts"],
      ["ok", `reads main of ssh://git@${host}/gitops-system.git`],
      ["ok", `reads main of ssh://git@${host}/gitops-workloads.git`],
    ]);
    expect(asked.map(({ input }) => input["SecretId"])).toEqual([
      "fleet-dev/git/gitops-system",
      "fleet-dev/git/gitops-workloads",
    ]);
  });

  test("say which key is to be registered where, and how one gets it", async () => {
    deployKeys = grants("gitops-system");
    const { hosts, system, workloads } = await look();
    expect([hosts?.status, system?.status]).toEqual(["ok", "ok"]);
    expect(workloads).toMatchObject({
      status: "wrong",
      todo: expect.stringContaining(`register it, read-only, at ssh://git@${host}/gitops-workloads.git`),
    });
    expect(workloads?.todo).toContain("pulumi stack output --json deployPublicKeys | jq -r '.\"gitops-workloads\"'");
    await close();
    deployKeys = [];
    expect((await look()).system).toMatchObject({
      status: "wrong",
      message: expect.stringContaining("is not known to"),
    });
  });

  test("with another host key than the stack's are wrong, for the host and for the keys", async () => {
    const other = knownHostsLine(`[127.0.0.1]:${host.split(":")[1]}`, newPrivateKey("other"));
    const { hosts, system } = await look({ gitKnownHosts: other });
    expect(hosts).toMatchObject({ status: "wrong", todo: expect.stringContaining("ssh-keyscan -p") });
    expect(system).toMatchObject({ status: "unchecked" });
  });

  test("without the branch say so", async () => {
    const { system, workloads } = await look({ gitopsSystemRepoRevision: "production" });
    expect(system).toMatchObject({ status: "wrong", message: expect.stringContaining("has no branch production") });
    expect(workloads?.status).toBe("ok");
  });

  test("that can't be reached are unknown", async () => {
    const closed = "127.0.0.1:9";
    const { hosts, system } = await look({
      gitopsSystemRepoUrl: `ssh://git@${closed}/gitops-system.git`,
      gitopsWorkloadsRepoUrl: `ssh://git@${closed}/gitops-workloads.git`,
      gitKnownHosts: knownHostsLine("[127.0.0.1]:9", hostKey),
    });
    expect(hosts).toMatchObject({ status: "unchecked", message: expect.stringContaining("Connection refused") });
    expect(system?.status).toBe("unchecked");
  });

  test("that do not answer in time are unknown", async () => {
    const silent = programs({
      git: { code: 1, stderr: "ended by SIGTERM" },
      "ssh-agent": { code: 1, stderr: "ended by SIGTERM" },
    });
    const aws = await fakeAws(stored);
    close = aws.close;
    const [hosts] = await checkGit(await devStack(), {
      run: silent,
      fetch,
      aws: aws.config,
      loggedIn: true,
      ssh: undefined,
    });
    expect(hosts).toMatchObject({ status: "unchecked" });
  });

  test("keys that the first pulumi up has yet to make are nothing wrong, ones that may not be read are unknown", async () => {
    const missing = await look({}, { GetSecretValue: new Refusal("ResourceNotFoundException") });
    expect(missing.system).toMatchObject({
      status: "note",
      message: expect.stringContaining("by the first pulumi up"),
    });
    expect(missing.hosts?.status).toBe("ok");
    await close();
    const denied = await look({}, { GetSecretValue: new Refusal("AccessDeniedException") });
    expect(denied.system).toMatchObject({ status: "unchecked", todo: expect.stringContaining("kms:Decrypt") });
    await close();
    expect((await look({}, { GetSecretValue: credential({ password: "x" }) })).system?.status).toBe("wrong");
  });

  test("without a login only the hosts are looked at", async () => {
    const { hosts, findings, asked } = await look({}, stored, false);
    expect(hosts?.status).toBe("ok");
    expect(findings.map(({ name, status }) => [name, status])).toContainEqual(["deploy keys", "unchecked"]);
    expect(asked).toEqual([]);
  });

  test("neither names nor arguments of what is run hold the private key", async () => {
    const called: string[] = [];
    const aws = await fakeAws(stored);
    close = aws.close;
    const noting: typeof run = (program, args, options) => {
      called.push([program, ...args, JSON.stringify(options?.env)].join(" "));
      return programs({ git: { code: 128, stderr: "x" }, "ssh-agent": { code: 1, stderr: "x" } })(program, args);
    };
    await checkGit(await devStack(), { run: noting, fetch, aws: aws.config, loggedIn: true, ssh: undefined });
    expect(called).toHaveLength(3);
    const secret = key.split("\n")[1] ?? "";
    for (const line of called) expect(line).not.toContain(secret);
  });
});

describe("fleet doctor, Git hosts by token", () => {
  const TOKEN = "a-token-of-the-test";
  const sha256 = createHash("sha256").update(TOKEN).digest("hex");
  const mayRead = (...names: string[]) =>
    names.map((repository) => ({ repository, username: "flux", sha256, access: "read" as const }));
  beforeEach(() => {
    tokens = mayRead("gitops-system", "gitops-workloads");
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
    const options = { run, fetch, aws: aws.config, loggedIn, ssh: undefined };
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
    tokens = mayRead("gitops-system");
    const [system, workloads] = await byToken({ branch: "production" });
    expect(system).toMatchObject({ status: "wrong", message: expect.stringContaining("no branch production") });
    expect(workloads).toMatchObject({ status: "wrong", todo: expect.stringContaining("--secret gitToken") });
    await close();
    tokens = [];
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
    apps = [app("gitops-system", "gitops-workloads")];
  });

  async function byApp({ member = {}, origin = `http://${httpHost}`, authority = "", loggedIn = true } = {}) {
    const aws = await fakeAws({ GetSecretValue: credential({ ...stored, ...member }) });
    close = aws.close;
    const stack = await devStack();
    const settings = {
      ...stack.settings,
      gitAuthentication: "github-app" as const,
      gitopsSystemRepoUrl: `${origin}/gitops-system.git`,
      gitopsWorkloadsRepoUrl: `${origin}/gitops-workloads.git`,
      githubAppBaseUrl: `${origin}/api/v3`,
      gitCaCertificate: authority,
    };
    const findings = await checkGit({ ...stack, settings }, { run, fetch, aws: aws.config, loggedIn, ssh: undefined });
    expect(JSON.stringify(findings)).not.toMatch(/PRIVATE KEY|ghs_/);
    return findings;
  }

  test("are ok when the app gets a token that reads the branches", async () => {
    expect((await byApp()).map(({ name, status }) => [name, status])).toEqual([
      ["GitHub App for gitops-system", "ok"],
      ["GitHub App for gitops-workloads", "ok"],
    ]);
  });

  test("say which of ID, key, installation and repositories is not right", async () => {
    apps = [app("gitops-system")];
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

  test("are asked over TLS with the authority of the stack, and not without it", async () => {
    const authority = await ensureAuthority(join(base, "ca"), "ca", "test");
    const files = await authority.issue("git", { commonName: "git", addresses: ["127.0.0.1"] });
    const tls = { cert: readFileSync(files.certificate, "utf8"), key: readFileSync(files.key, "utf8") };
    const accessList = () => ({ deployKeys, tokens, apps }) as AccessList;
    const secure = createHttpServer({ root: join(base, "git"), accessList, hostKey, tls, log: () => {} });
    await new Promise<void>((ready) => secure.listen(0, "127.0.0.1", ready));
    const origin = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
    try {
      expect(await byApp({ origin, authority: authority.certificate })).toMatchObject([
        { status: "ok" },
        { status: "ok" },
      ]);
      await close();
      const [without] = await byApp({ origin });
      expect(without).toMatchObject({ status: "unchecked", todo: expect.stringContaining("gitCaCertificate") });
    } finally {
      secure.closeAllConnections();
      await new Promise((done) => secure.close(done));
    }
  });
});
