import { readdirSync } from "node:fs";
import { knownHostsLine, newPrivateKey } from "@eks-gitops-fleet/local/git";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkGit } from "../../../cli/doctor/git.ts";
import { connectIn } from "../../../cli/doctor/surroundings.ts";
import { type Answers, type Asked, fakeAws, Refusal } from "./support/aws.ts";
import { gitServer } from "./support/git-server.ts";
import { noGitHub } from "./support/github.ts";
import { devStack, programs } from "./support/programs.ts";

const connect = connectIn(undefined, fetch);
/** Only AWS is a stand-in. */
const server = await gitServer();
const { access, hostKey, run, sshHost: host, temporary } = server;
const key = newPrivateKey("hub");
const grants = (...names: string[]) =>
  names.map((repository) => ({ repository, publicKey: knownHostsLine("", key).trim(), access: "read" as const }));
afterAll(server.close);

let close = async () => {};
beforeEach(() => {
  access.deployKeys = grants("gitops-system", "gitops-workloads");
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
  const options = { run, connect, aws: aws.config, loggedIn, ssh: undefined, github: noGitHub };
  const findings = await checkGit({ ...stack, settings }, options);
  expect(readdirSync(temporary)).toEqual([]);
  const [hosts, system, workloads] = ["host key", "deploy key of gitops-system", "deploy key of gitops-workloads"].map(
    (name) => findings.find((finding) => finding.name.startsWith(name)),
  );
  return { hosts, system, workloads, findings, asked: aws.asked as readonly Asked[] };
}

describe("fleet doctor, Git hosts by deploy key", () => {
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
    access.deployKeys = grants("gitops-system");
    const { hosts, system, workloads } = await look();
    expect([hosts?.status, system?.status]).toEqual(["ok", "ok"]);
    expect(workloads).toMatchObject({
      status: "wrong",
      todo: expect.stringContaining(`register it, read-only, at ssh://git@${host}/gitops-workloads.git`),
    });
    expect(workloads?.todo).toContain("pulumi stack output --json deployPublicKeys | jq -r '.\"gitops-workloads\"'");
    await close();
    access.deployKeys = [];
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
      connect,
      aws: aws.config,
      loggedIn: true,
      ssh: undefined,
      github: noGitHub,
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
    const options = { run: noting, connect, aws: aws.config, loggedIn: true, ssh: undefined, github: noGitHub };
    await checkGit(await devStack(), options);
    expect(called).toHaveLength(3);
    const secret = key.split("\n")[1] ?? "";
    for (const line of called) expect(line).not.toContain(secret);
  });
});
