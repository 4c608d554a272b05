import { join } from "node:path";
import { gitHost, knows } from "../../lib/known-hosts.ts";
import { type Repository, repositories } from "../../lib/names.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { type ReceiverType, receiverName } from "../../lib/receivers.ts";
import { sshUrl } from "../app/rules.ts";
import { type FleetFacts, sealingKeyFor } from "../fleet/facts.ts";
import { type Files, withListed } from "../folder.ts";
import { newDeployKey, sealCredential } from "../sealing/deploy-key.ts";
import { dayOf } from "../sealing/deploy-key-notes.ts";
import { sealReceiverToken, webhookHelp } from "../sealing/receiver.ts";
import type { SealingKey } from "../sealing/seal.ts";
import { refuse } from "../usage.ts";

/**
 * Whose deploy keys a spoke reads the fleet's repositories with: the fleet's, which the hub and other spokes hold too, or keys of
 * its own, which the Git host can tell apart and revoke one by one.
 */
export const deployKeyChoices = ["fleet", "own"] as const;
export type DeployKeys = (typeof deployKeyChoices)[number];

export interface SecretsRequest {
  /** The spoke. */
  readonly name: string;
  /** Scope of the sealing keys that it reads. */
  readonly scope: string;
  /** The present kustomization of the folder. */
  readonly list: string;
  /** How the Git host signs the calls that tell of pushes; undefined where nobody calls. */
  readonly gitReceiver?: ReceiverType | undefined;
  /** keep: those that it has stay. Default: fleet. */
  readonly deployKeys?: DeployKeys | "keep" | undefined;
  /** Lines of known_hosts for keys of its own; default: those of the fleet's credentials. */
  readonly knownHosts?: string | undefined;
}

export interface SpokeSecrets {
  /** SealedSecrets, by path in the spoke's folder. */
  readonly files: Files;
  /** Public halves of new deploy keys, to register at the Git host; empty when the spoke has the fleet's. */
  readonly publicKeys: Readonly<Partial<Record<Repository, string>>>;
}

/** The kustomization of a spoke's SealedSecrets, by its path in the spoke's folder. */
export const secretsList = join("secrets", "kustomization.yaml");

/** Flux on a spoke reads its repositories with Secrets of their names, in its own namespace. */
export const fluxNamespace = "flux-system";

/** The problem of host keys without that of a Git host. @param name of what is read there */
export function knownHostsProblems(name: string, url: string | undefined, knownHosts: string): Problem[] {
  const known = url === undefined ? knownHosts.trim() !== "" : knows(knownHosts, gitHost(new URL(url)).name);
  if (known) return [];
  return [
    {
      key: "--known-hosts",
      what: `has no key of the Git host of ${name}, so Flux could not tell it from an impostor`,
      got: knownHosts.trim() === "" ? "(nothing)" : "keys of other hosts",
      allowed: "the host's line in known_hosts: that of the fleet's credential, or --known-hosts FILE",
      remedy: "write the host's key, as the host publishes it, into a file and name it with --known-hosts",
    },
  ];
}

/** What is wrong with a deploy key of a spoke's own for a repository with this URL, on a host with these keys. */
function deployKeyProblems(repository: Repository, url: string | undefined, knownHosts: string): Problem[] {
  if (url === undefined || sshUrl(url) !== undefined) return knownHostsProblems(repository, url, knownHosts);
  return [
    {
      key: "--deploy-keys",
      what: `can't be own: ${repository} is not read over SSH, which a deploy key needs`,
      got: shown(url),
      allowed: "fleet, or SSH URLs of the fleet's repositories",
      remedy: "use --deploy-keys fleet, or set gitAuthentication deploy-key and SSH URLs in the hub's stack",
    },
  ];
}

/** The SealedSecret of a spoke's credential for a repository, and the public half of the key that was made for it. */
async function credentialOf(
  repository: Repository,
  { name, deployKeys, knownHosts }: SecretsRequest,
  key: SealingKey,
  fleet: FleetFacts,
): Promise<{ readonly text: string; readonly publicKey?: string }> {
  const secret = { namespace: fluxNamespace, name: repository };
  if (deployKeys !== "own")
    return { text: await sealCredential(fleet.kubeseal, key, { ...secret, data: await fleet.credential(repository) }) };
  const hosts = knownHosts ?? (await fleet.credential(repository))["known_hosts"] ?? "";
  refuse("new-cluster", deployKeyProblems(repository, fleet.repositoryUrls?.[repository], hosts));
  const data = newDeployKey(`${name}@${fleet.name}`, hosts);
  const text = await sealCredential(fleet.kubeseal, key, { ...secret, data }, { made: dayOf(new Date()) });
  return { text, publicKey: data["identity.pub"] };
}

/** The SealedSecret of a new token for the spoke's Receiver, listed; none where nobody calls. */
async function receiverFiles({ gitReceiver, list }: SecretsRequest, key: SealingKey, kubeseal: string): Promise<Files> {
  if (gitReceiver === undefined) return {};
  const file = `${receiverName}.yaml`;
  const token = await sealReceiverToken(kubeseal, key, fluxNamespace);
  return { [join("secrets", file)]: token, [secretsList]: withListed(list, "resources", file) };
}

/**
 * The SealedSecrets with which Flux on a spoke reads the fleet's repositories, and is told of pushes. Private keys and tokens are in memory and in a pipe to kubeseal only.
 * @throws UsageError when keys of its own can't work; Error when the fleet has no sealing key of the scope.
 */
export async function spokeSecrets(request: SecretsRequest, fleet: FleetFacts): Promise<SpokeSecrets> {
  const key = sealingKeyFor(fleet, request.scope);
  const renewed = request.deployKeys === "keep" ? [] : repositories;
  const sealed = await Promise.all(
    renewed.map(async (repository) => ({ repository, ...(await credentialOf(repository, request, key, fleet)) })),
  );
  return {
    files: {
      ...Object.fromEntries(sealed.map(({ repository, text }) => [join("secrets", `${repository}.yaml`), text])),
      ...(await receiverFiles(request, key, fleet.kubeseal)),
    },
    publicKeys: Object.fromEntries(
      sealed.flatMap(({ repository, publicKey }) => (publicKey === undefined ? [] : [[repository, publicKey]])),
    ),
  };
}

/** What a person enters at the Git host of the fleet's repositories, so that a spoke is told of pushes. */
export const spokeWebhookHelp = (type: ReceiverType): string => webhookHelp(type, fluxNamespace, repositories);

/** What a person does with new deploy keys before the commit is pushed; empty without any. */
export function registration(
  { publicKeys }: SpokeSecrets,
  { repositoryUrls }: Pick<FleetFacts, "repositoryUrls">,
): string {
  return Object.entries(publicKeys)
    .map(
      ([repository, publicKey]) =>
        `Register this deploy key, read-only, at ${repositoryUrls?.[repository as Repository] ?? repository}:\n  ${publicKey}\n`,
    )
    .join("");
}
