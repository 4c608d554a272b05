import { gitHost, knows } from "../../lib/known-hosts.ts";
import type { FleetFacts } from "../fleet/facts.ts";
import { type Finding, ok, unchecked, wrong } from "./finding.ts";
import { type Source, withCredential, withoutBranch } from "./git-sources.ts";
import { type Ended, firstComplaint, type Run } from "./process.ts";

const quoted = (value: string) => `'${value.replaceAll("'", "'\\''")}'`;

/** The ssh command with what Flux has: the stack's host keys and no others, and no key of this user. */
export const sshCommand = (program: readonly string[], knownHosts: string): string =>
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

/** Asks for a branch with a private key, or without one; the key goes through a pipe to an agent that ends with the question. */
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

/** The finding about a host's key, from its answer to a client without a deploy key. */
function hostKey({ url }: Source, ended: Ended): Finding {
  const { name, scan } = gitHost(url);
  const { code, stderr } = ended;
  const title = `host key of ${name}`;
  // ssh checks the host's key before it authenticates.
  if (code === 0 || /Permission denied/.test(stderr)) return ok(title, "is in gitKnownHosts");
  if (refusedHost.test(stderr))
    return wrong(
      title,
      "is not one of those in gitKnownHosts, so Flux would refuse the host",
      `compare it with the one that the host publishes, then pulumi config set gitKnownHosts -- "$(${scan})" and pulumi up`,
    );
  return unchecked(
    title,
    `the host could not be asked: ${firstComplaint(ended)}`,
    `check that ${url.host} is right and reachable from here`,
  );
}

const register = ({ repository, url }: Source): string =>
  `register it, read-only, at ${url.href}:\npulumi stack output --json deployPublicKeys | jq -r '."${repository}"'`;

/** The finding about a deploy key, from the host's answer to it. */
function deployKey(source: Source, ended: Ended): Finding {
  const { repository, url, branch } = source;
  const title = `deploy key of ${repository}`;
  const { code, stderr } = ended;
  if (code === 0) return ok(title, `reads ${branch} of ${url.href}`);
  // git ls-remote --exit-code: 2 when no ref matches.
  if (code === 2 && stderr.trim() === "") return withoutBranch(title, source);
  const said = firstComplaint(ended);
  // 127: the shell found no git or no ssh-add.
  if (code === 127 || unreachable.test(stderr) || refusedHost.test(stderr))
    return unchecked(title, `could not be tried: ${said}`, "fix this, then run fleet doctor again");
  if (/Permission denied/.test(stderr)) return wrong(title, `is not known to ${url.host}: ${said}`, register(source));
  return wrong(
    title,
    `may not read ${url.href}, or it does not exist: ${said}`,
    `make the repository; ${register(source)}`,
  );
}

/** Whether Flux's deploy key can read the branch. */
export function checkKey(
  source: Source,
  ssh: string,
  run: Run,
  credential: FleetFacts["credential"],
): Promise<Finding> {
  const title = `deploy key of ${source.repository}`;
  const question = {
    title,
    source,
    members: ["identity"],
    afterwards: `then ${register(source)}`,
    credential,
  };
  return withCredential(question, async ({ identity = "" }) => {
    const ended = await ask(run, source, ssh, identity);
    if (ended === undefined) return unchecked(title, "ssh-agent is not on PATH", "install openssh-client");
    return deployKey(source, ended);
  });
}

/** Whether the key of a host is one of the stack's. */
export async function checkHost(source: Source, knownHosts: string, ssh: string, run: Run): Promise<Finding[]> {
  // A host without any key in the stack is a problem of the configuration.
  if (!knows(knownHosts, gitHost(source.url).name)) return [];
  const ended = await ask(run, source, ssh, undefined);
  return [ended === undefined ? unchecked("git", "is not on PATH", "install it: see tools") : hostKey(source, ended)];
}
