import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AccessList, readAccessList } from "../../../git/access.ts";
import { createHttpServer } from "../../../git/http.ts";
import { publish } from "../../../git/repositories.ts";
import { createSshServer, ensureHostKey, knownHostsLine, newPrivateKey } from "../../../git/ssh.ts";
import { scratch } from "../../support/scratch.ts";

const run = promisify(execFile);
const base = scratch("fleet-git-");
const keysFile = join(base, "keys.json");
const hostKeyFile = join(base, "host_key");
const log: string[] = [];
const servers: { close(done: () => void): unknown }[] = [];
const TOKEN = "a-token-of-the-test";
let sshPort = 0;
let httpPort = 0;

function keyPair(name: string): string {
  const key = newPrivateKey(name);
  writeFileSync(join(base, name), key, { mode: 0o600 });
  return knownHostsLine("", key).trim(); // type and key, as in known_hosts
}

async function listen(server: { listen(port: number, host: string, ready: () => void): unknown; address(): unknown }) {
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  servers.push(server as unknown as Server);
  return (server.address() as AddressInfo).port;
}

const grant = (list: Partial<AccessList>) => writeFileSync(keysFile, JSON.stringify(list));

/** git over SSH with one private key and strict known_hosts. */
function gitSsh(key: string, args: string[], { user = "git", knownHosts = "known_hosts" } = {}) {
  const options = `-F /dev/null -i ${join(base, key)} -o IdentitiesOnly=yes -o IdentityAgent=none -o StrictHostKeyChecking=yes`;
  return run("git", args, {
    env: {
      ...process.env,
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_SSH_COMMAND: `ssh -p ${sshPort} ${options} -o UserKnownHostsFile=${join(base, knownHosts)} -l ${user}`,
    },
  });
}

const gitHttp = (args: string[]) =>
  run("git", args, { env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" } });
const sshUrl = (repository: string) => `ssh://127.0.0.1/${repository}.git`;
const httpUrl = (repository: string, token: string) => `http://flux:${token}@127.0.0.1:${httpPort}/${repository}.git`;

async function commit(clone: string, file: string) {
  writeFileSync(join(clone, file), `${file}\n`);
  const git = ["-C", clone, "-c", "user.name=t", "-c", "user.email=t@example.com"];
  await gitHttp([...git, "add", file]);
  await gitHttp([...git, "commit", "-qm", file]);
}

beforeAll(async () => {
  const root = join(base, "git");
  mkdirSync(root);
  for (const name of ["one", "two"]) {
    const content = join(base, `content-${name}`);
    mkdirSync(content);
    writeFileSync(join(content, "README.md"), `# ${name}\n`);
    publish(join(root, `${name}.git`), content, `Publish ${name}`);
  }
  const accessList = () => readAccessList(keysFile);
  const hostKey = ensureHostKey(hostKeyFile);
  sshPort = await listen(createSshServer({ root, hostKey, accessList, log: (line) => log.push(line) }));
  httpPort = await listen(createHttpServer({ root, accessList, hostKey, log: (line) => log.push(line) }));
  writeFileSync(join(base, "known_hosts"), `${knownHostsLine(`[127.0.0.1]:${sshPort}`, hostKey)}\n`);
  const reader = keyPair("reader");
  const writer = keyPair("writer");
  keyPair("stranger");
  grant({
    deployKeys: [
      { repository: "one", publicKey: reader, access: "read" },
      { repository: "one", publicKey: writer, access: "read-write" },
    ],
    tokens: [
      { repository: "one", username: "flux", sha256: createHash("sha256").update(TOKEN).digest("hex"), access: "read" },
      {
        repository: "two",
        username: "flux",
        sha256: createHash("sha256").update(`${TOKEN}2`).digest("hex"),
        access: "read-write",
      },
    ],
  });
});

afterAll(async () => {
  await Promise.all(servers.map((server) => new Promise<void>((done) => server.close(done))));
});

describe("Git over SSH", () => {
  test("a read-only deploy key clones its repository and cannot push to it; a read-write key can", async () => {
    const clone = join(base, "clone-ssh");
    await gitSsh("reader", ["clone", "-q", sshUrl("one"), clone]);
    expect(readFileSync(join(clone, "README.md"), "utf8")).toBe("# one\n");
    await commit(clone, "by-ssh");
    await expect(gitSsh("reader", ["-C", clone, "push", "-q"])).rejects.toThrow(/may only read one/);
    await gitSsh("writer", ["-C", clone, "push", "-q"]);
    const { stdout } = await gitSsh("reader", ["ls-remote", sshUrl("one"), "refs/heads/main"]);
    expect(stdout).toContain((await run("git", ["-C", clone, "rev-parse", "HEAD"])).stdout.trim());
  });

  test("a deploy key opens no repository but its own", async () => {
    await expect(gitSsh("writer", ["ls-remote", sshUrl("two")])).rejects.toThrow(/does not open the repository two/);
  });

  test("an unknown key and a user other than git are refused", async () => {
    await expect(gitSsh("stranger", ["ls-remote", sshUrl("one")])).rejects.toThrow(/Permission denied/);
    await expect(gitSsh("reader", ["ls-remote", sshUrl("one")], { user: "root" })).rejects.toThrow(/Permission denied/);
  });

  test("a client with another host key in known_hosts does not connect", async () => {
    const other = ensureHostKey(join(base, "other_host_key"));
    writeFileSync(join(base, "wrong_hosts"), `${knownHostsLine(`[127.0.0.1]:${sshPort}`, other)}\n`);
    await expect(gitSsh("reader", ["ls-remote", sshUrl("one")], { knownHosts: "wrong_hosts" })).rejects.toThrow(
      /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/,
    );
  });

  test("a changed access list counts at once, a broken one lets nobody in", async () => {
    const before = readFileSync(keysFile, "utf8");
    try {
      grant({ deployKeys: [] });
      await expect(gitSsh("reader", ["ls-remote", sshUrl("one")])).rejects.toThrow(/Permission denied/);
      writeFileSync(keysFile, '{"deployKeys":[{"repository":"../one","publicKey":"x","access":"admin"}]}');
      await expect(gitSsh("reader", ["ls-remote", sshUrl("one")])).rejects.toThrow(/Permission denied/);
      expect(log.join("\n")).toContain("is not a valid access list");
    } finally {
      writeFileSync(keysFile, before);
    }
    await gitSsh("reader", ["ls-remote", sshUrl("one")]);
  });

  test("only Git's two services run: no shell, no other command, no path outside the repositories", async () => {
    const ssh = (command: string) =>
      run("ssh", [
        ...[
          "-F",
          "/dev/null",
          "-p",
          String(sshPort),
          "-l",
          "git",
          "-i",
          join(base, "reader"),
          "-o",
          "IdentitiesOnly=yes",
        ],
        ...["-o", `UserKnownHostsFile=${join(base, "known_hosts")}`, "127.0.0.1", command],
      ]);
    for (const command of [
      "id",
      "git-upload-pack '/../keys.json'",
      "git-upload-pack '/one.git'; id",
      "git-upload-archive '/one.git'",
    ])
      await expect(ssh(command)).rejects.toThrow(/only git fetch and git push/);
  });

  test("a host key that can't be read is replaced, so that a start after it works", () => {
    const file = join(base, "broken_host_key");
    writeFileSync(file, "not a key");
    expect(knownHostsLine("git.fleet.internal", ensureHostKey(file))).toMatch(/^git\.fleet\.internal ssh-ed25519 /);
  });

  test("the host key is private to its owner and stays the same over restarts", () => {
    expect(statSync(hostKeyFile).mode & 0o777).toBe(0o600);
    expect(ensureHostKey(hostKeyFile)).toBe(readFileSync(hostKeyFile, "utf8"));
  });
});

describe("Git over HTTP", () => {
  test("a token clones its repository and, read-only, cannot push; a read-write token can", async () => {
    await gitHttp(["clone", "-q", httpUrl("one", TOKEN), join(base, "clone-http")]);
    await commit(join(base, "clone-http"), "by-http");
    await expect(gitHttp(["-C", join(base, "clone-http"), "push", "-q"])).rejects.toThrow(/403/);
    await gitHttp(["clone", "-q", httpUrl("two", `${TOKEN}2`), join(base, "clone-two")]);
    await commit(join(base, "clone-two"), "by-http");
    await gitHttp(["-C", join(base, "clone-two"), "push", "-q"]);
  });

  test("a wrong token, another repository's token and no token are refused", async () => {
    const status = async (repository: string, headers: Record<string, string>) =>
      (await fetch(`http://127.0.0.1:${httpPort}/${repository}.git/info/refs?service=git-upload-pack`, { headers }))
        .status;
    const basic = (token: string) => ({ authorization: `Basic ${Buffer.from(`flux:${token}`).toString("base64")}` });
    expect(await status("one", basic(TOKEN))).toBe(200);
    expect(await status("one", basic("wrong"))).toBe(401);
    // GitHub tells nobody of a repository that he may not read.
    expect(await status("two", basic(TOKEN))).toBe(404);
    expect(await status("one", {})).toBe(401);
  });

  test("nothing but Git's own paths is served", async () => {
    const status = async (path: string) => (await fetch(`http://127.0.0.1:${httpPort}${path}`)).status;
    for (const path of [
      "/",
      "/one.git/HEAD",
      "/one.git/info/refs",
      "/..%2fkeys.json",
      "/one.git/info/refs?service=git-shell",
    ])
      expect(await status(path), path).toBe(404);
  });
});
