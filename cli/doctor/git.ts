import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { Readable } from "../../infra/rules.ts";
import { gitHost, knows } from "../../lib/known-hosts.ts";
import { type Repository, repositories } from "../../lib/names.ts";
import { credentialReader, type Fleet } from "../sources.ts";
import { type AwsConfig, isMissing, noLogin, untold } from "./aws.ts";
import { type Finding, note, ok, unchecked, wrong } from "./finding.ts";
import { type Ended, firstComplaint, type Run } from "./process.ts";
import type { Stack } from "./stack.ts";

/** A repository as the stack names it. */
interface Source {
  readonly repository: Repository;
  readonly url: URL;
  readonly branch: string;
}

function sources(settings: Readable): Source[] {
  const urls = { "gitops-system": settings.gitopsSystemRepoUrl, "gitops-workloads": settings.gitopsWorkloadsRepoUrl };
  const branches = {
    "gitops-system": settings.gitopsSystemRepoRevision,
    "gitops-workloads": settings.gitopsWorkloadsRepoRevision,
  };
  return repositories.flatMap((repository) => {
    const [url, branch] = [urls[repository], branches[repository]];
    return url && branch ? [{ repository, url: new URL(url), branch }] : [];
  });
}

const quoted = (value: string) => `'${value.replaceAll("'", "'\\''")}'`;

/** The command of ssh that sees what Flux would: the stack's host keys and no other, and no key of this user's. */
const sshCommand = (program: readonly string[], knownHosts: string): string =>
  [
    ...program.map(quoted),
    ...[
      "BatchMode=yes",
      "ConnectTimeout=20",
      "StrictHostKeyChecking=yes",
      `UserKnownHostsFile=${knownHosts}`,
      "GlobalKnownHostsFile=/dev/null",
      "IdentityFile=none",
    ].map((option) => `-o ${quoted(option)}`),
  ].join(" ");

/** Asks for a branch as the holder of a private key, or of none; the key goes through a pipe to an agent that ends with the question. */
function ask(run: Run, { url, branch }: Source, ssh: string, privateKey: string | undefined) {
  const question = ["git", "ls-remote", "--exit-code", "--heads", url.href, `refs/heads/${branch}`];
  const env = { GIT_SSH_COMMAND: ssh, GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
  if (privateKey === undefined)
    return run("git", question.slice(1), { env: { ...env, GIT_SSH_COMMAND: `${ssh} -o IdentityAgent=none` } });
  const script = `ssh-add -q - && exec ${question.map(quoted).join(" ")}`;
  return run("ssh-agent", ["sh", "-c", script], { env, input: privateKey });
}

const unreachable = /Could not resolve|timed out|Connection refused|Network is unreachable|No route to host/;

const refusedHost = /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/;

/** What a host's answer to somebody without a key says of its host key. */
function hostKey({ url }: Source, ended: Ended): Finding {
  const { name, scan } = gitHost(url);
  const { code, stderr } = ended;
  const title = `host key of ${name}`;
  // Nobody is asked for a key before the host has shown its own.
  if (code === 0 || /Permission denied/.test(stderr)) return ok(title, "is in gitKnownHosts");
  if (refusedHost.test(stderr))
    return wrong(
      title,
      "is none of those in gitKnownHosts, so Flux would refuse the host",
      `compare it with the one that the host publishes, then pulumi config set gitKnownHosts -- "$(${scan})" and pulumi up`,
    );
  return unchecked(
    title,
    `the host could not be asked: ${firstComplaint(ended)}`,
    `see that ${url.host} is right and reachable from here`,
  );
}

const register = ({ repository, url }: Source): string =>
  `register it, read-only, at ${url.href}:\npulumi stack output --json deployPublicKeys | jq -r '."${repository}"'`;

/** What a host's answer to the holder of the deploy key says of the key. */
function deployKey(source: Source, ended: Ended): Finding {
  const { repository, url, branch } = source;
  const title = `deploy key of ${repository}`;
  const { code, stderr } = ended;
  if (code === 0) return ok(title, `reads ${branch} of ${url.href}`);
  // git ls-remote --exit-code: 2 when no ref matches.
  if (code === 2 && stderr.trim() === "")
    return wrong(
      title,
      `reads ${url.href}, which has no branch ${branch}`,
      `push ${branch}, or name another revision in the stack`,
    );
  const said = firstComplaint(ended);
  // 127: the shell found no git or no ssh-add.
  if (code === 127 || unreachable.test(stderr) || refusedHost.test(stderr))
    return unchecked(title, `could not be tried: ${said}`, "mend that, and run this again");
  if (/Permission denied/.test(stderr)) return wrong(title, `is not known to ${url.host}: ${said}`, register(source));
  return wrong(
    title,
    `may not read ${url.href}, or there is none: ${said}`,
    `make the repository; ${register(source)}`,
  );
}

async function checkKey(source: Source, ssh: string, run: Run, credential: Fleet["credential"]): Promise<Finding> {
  const title = `deploy key of ${source.repository}`;
  let identity: string | undefined;
  try {
    ({ identity } = await credential(source.repository));
  } catch (error) {
    const { cause = error } = error as Error;
    if (isMissing(cause)) return note(title, "is made by the first pulumi up", `afterwards ${register(source)}`);
    return untold(title, cause, "secretsmanager:GetSecretValue and kms:Decrypt on the fleet's secrets");
  }
  if (identity === undefined) return wrong(title, "the secret in Secrets Manager has no member identity", "pulumi up");
  const ended = await ask(run, source, ssh, identity);
  if (ended === undefined) return unchecked(title, "ssh-agent is not on PATH", "install openssh-client");
  return deployKey(source, ended);
}

async function checkHost(source: Source, knownHosts: string, ssh: string, run: Run): Promise<Finding[]> {
  // What lacks a key altogether is a mistake in the configuration.
  if (!knows(knownHosts, gitHost(source.url).name)) return [];
  const ended = await ask(run, source, ssh, undefined);
  return [ended === undefined ? unchecked("git", "is not on PATH", "install it: see tools") : hostKey(source, ended)];
}

export interface GitOptions {
  readonly aws: AwsConfig;
  /** Whether AWS can be asked for the deploy keys. */
  readonly loggedIn: boolean;
  /** The program to reach the hosts with in place of ssh, which runs without this user's configuration. */
  readonly ssh: string | undefined;
}

/** Whether Flux will reach the Git hosts by SSH and be let in. */
export async function checkGit(stack: Stack, run: Run, { aws, loggedIn, ssh }: GitOptions): Promise<Finding[]> {
  const { settings, region } = stack;
  const { gitKnownHosts = "", gitAuthentication, fleet } = settings;
  const bySsh = sources(settings).filter(({ url }) => url.protocol === "ssh:");
  if (gitAuthentication !== "deploy-key" || fleet === undefined || region === undefined) return [];
  const folder = await mkdtemp(join(tmpdir(), "fleet-doctor-"));
  try {
    const file = join(folder, "known_hosts");
    await writeFile(file, gitKnownHosts.endsWith("\n") ? gitKnownHosts : `${gitKnownHosts}\n`);
    const command = sshCommand(ssh === undefined ? ["ssh", "-F", "none"] : [ssh], file);
    const credential = credentialReader(fleet, new SecretsManagerClient({ ...aws, region }));
    const hosts = [...new Map(bySsh.map((source) => [source.url.host, source])).values()];
    const looked = [
      ...hosts.map((source) => checkHost(source, gitKnownHosts, command, run)),
      ...(loggedIn
        ? bySsh.map(async (source) => [await checkKey(source, command, run, credential)])
        : [[noLogin("deploy keys")]]),
    ];
    return (await Promise.all(looked)).flat();
  } finally {
    await rm(folder, { recursive: true });
  }
}
