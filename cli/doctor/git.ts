import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { credentialReader, type FleetFacts } from "../fleet/facts.ts";
import { type AwsConfig, noLogin } from "./aws.ts";
import type { Finding } from "./finding.ts";
import { checkApp } from "./git-app.ts";
import { checkToken } from "./git-https.ts";
import { type Source, sources } from "./git-sources.ts";
import { checkHost, checkKey, sshCommand } from "./git-ssh.ts";
import type { GitHub } from "./github.ts";
import { checkDeployKeysAllowed } from "./github-keys.ts";
import type { Run } from "./process.ts";
import type { Stack } from "./stack.ts";
import type { Connect } from "./surroundings.ts";

export interface GitOptions {
  readonly run: Run;
  readonly connect: Connect;
  readonly aws: AwsConfig;
  /** Whether the credentials can be read from AWS. */
  readonly loggedIn: boolean;
  /** A program that replaces ssh, which is called without this user's configuration. */
  readonly ssh: string | undefined;
  readonly github: GitHub;
}

async function checkSsh(
  all: readonly Source[],
  knownHosts: string,
  credential: FleetFacts["credential"],
  { run, loggedIn, ssh, github }: GitOptions,
): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), "fleet-doctor-"));
  try {
    const file = join(folder, "known_hosts");
    await writeFile(file, knownHosts.endsWith("\n") ? knownHosts : `${knownHosts}\n`);
    const command = sshCommand(ssh === undefined ? ["ssh", "-F", "none"] : [ssh], file);
    const hosts = [...new Map(all.map((source) => [source.url.host, source])).values()];
    const looked = await Promise.all([
      ...hosts.map((source) => checkHost(source, knownHosts, command, run)),
      checkDeployKeysAllowed(all, github),
      ...(loggedIn ? all.map(async (source) => [await checkKey(source, command, run, credential)]) : []),
    ]);
    return [...looked.flat(), ...(loggedIn ? [] : [noLogin("deploy keys")])];
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Whether Flux will reach the Git hosts, and its credentials be accepted. */
export async function checkGit({ settings, region }: Stack, options: GitOptions): Promise<Finding[]> {
  const { gitKnownHosts = "", gitAuthentication, fleet } = settings;
  if (fleet === undefined || region === undefined) return [];
  const credential = credentialReader(fleet, new SecretsManagerClient({ ...options.aws, region }));
  // A URL that does not fit the authentication is a problem of the configuration.
  const bySsh = sources(settings).filter(({ url }) => url.protocol === "ssh:");
  const byHttps = sources(settings).filter(({ url }) => url.protocol !== "ssh:");
  switch (gitAuthentication) {
    case "deploy-key":
      return checkSsh(bySsh, gitKnownHosts, credential, options);
    case "token":
      if (!options.loggedIn) return [noLogin("tokens")];
      return Promise.all(byHttps.map((source) => checkToken(source, options.connect, credential)));
    case "github-app":
      if (!options.loggedIn) return [noLogin("GitHub App")];
      return Promise.all(byHttps.map((source) => checkApp(source, options.connect, credential)));
    default:
      return [];
  }
}
