import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AccessList,
  createSshServer,
  ensureRepository,
  knownHostsLine,
  newPrivateKey,
} from "@eks-gitops-fleet/local/git";
import type { Server } from "ssh2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkGit } from "../../../cli/doctor/git.ts";
import { runner } from "../../../cli/doctor/process.ts";
import { readStack } from "../../../cli/doctor/stack.ts";
import { connectIn } from "../../../cli/doctor/surroundings.ts";
import { nextSteps } from "../../../cli/init/next.ts";
import { sampleApp } from "../../../cli/init/pipelines.ts";
import { init } from "../../../cli/init/write.ts";
import { fakeAws } from "../doctor/support/aws.ts";
import { noGitHub } from "../doctor/support/github.ts";
import { noPrograms } from "../doctor/support/programs.ts";
import { newProject } from "../support/init.ts";

/** The local stack's Git server with empty repositories, reached by the real git and ssh. */
const base = mkdtempSync(join(tmpdir(), "fleet-init-push-"));
const names = ["gitops-system", "gitops-workloads", sampleApp];
const [person, hub, hostKey] = [newPrivateKey("ada"), newPrivateKey("hub"), newPrivateKey("host")];
const granted = (key: string, access: "read" | "read-write") =>
  names.map((repository) => ({ repository, publicKey: knownHostsLine("", key).trim(), access }));
const deployKeys = [...granted(person, "read-write"), ...granted(hub, "read")];
let server: Server;
let host: string;

beforeAll(async () => {
  const repositories = join(base, "git");
  mkdirSync(repositories);
  for (const name of names) ensureRepository(join(repositories, `${name}.git`));
  const accessList = () => ({ deployKeys, tokens: [], apps: [] }) as AccessList;
  server = createSshServer({ root: repositories, hostKey, accessList, log: () => {} });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise<void>((done) => server.close(() => done()));
  rmSync(base, { recursive: true });
});

test("what fleet init wrote is pushed by the commands that it prints; fleet doctor then reads both with the deploy keys", async () => {
  const { project, env, ...machine } = newProject(base);
  const url = (name: string) => `ssh://git@${host}/${name}.git`;
  const knownHosts = knownHostsLine(`[127.0.0.1]:${host.split(":")[1]}`, hostKey);
  const request = {
    ...machine.request,
    ...{
      systemUrl: url("gitops-system"),
      workloadsUrl: url("gitops-workloads"),
      sampleAppUrl: url(sampleApp),
      knownHosts,
    },
  };
  await init(project, request, runner(project, env));

  const [identity, hosts] = [join(base, "identity"), join(base, "known_hosts")];
  writeFileSync(identity, person, { mode: 0o600 });
  writeFileSync(hosts, `${knownHosts}\n`);
  const ssh = `ssh -F /dev/null -i ${identity} -o IdentitiesOnly=yes -o UserKnownHostsFile=${hosts} -o StrictHostKeyChecking=yes`;
  const run = runner(project, { ...env, GIT_SSH_COMMAND: ssh });
  const pushes = nextSteps(request)
    .split("\n")
    .filter((line) => line.includes(" push --"));
  expect(pushes).toHaveLength(3);
  for (const command of pushes) expect(await run("sh", ["-c", command])).toMatchObject({ code: 0 });

  const { stack } = await readStack({ root: project, stack: "pilot", configFile: undefined }, noPrograms);
  if (stack === undefined) throw new Error("fleet init wrote no stack");
  const aws = await fakeAws({ GetSecretValue: { SecretString: JSON.stringify({ identity: hub }) } });
  const options = {
    run: runner(base, { ...process.env, SSH_AUTH_SOCK: "" }),
    connect: connectIn(undefined, fetch),
    aws: aws.config,
    loggedIn: true,
  };
  const findings = await checkGit(stack, { ...options, ssh: undefined, github: noGitHub });
  await aws.close();
  expect(findings.map(({ status, message }) => [status, message])).toEqual([
    ["ok", "is in gitKnownHosts"],
    ["ok", `reads main of ${url("gitops-system")}`],
    ["ok", `reads main of ${url("gitops-workloads")}`],
  ]);
  for (const name of names) {
    const pushed = await run("git", ["ls-remote", url(name), "refs/heads/main"]);
    const written = await run("git", ["-C", join(request.folder, name), "rev-parse", "HEAD"]);
    expect(pushed?.stdout.split("\t")[0]).toBe(written?.stdout.trim());
  }
});
