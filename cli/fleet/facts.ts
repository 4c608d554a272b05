import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { z } from "zod";
import { fleetNames, type Repository } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import { type ListedKey, listedKey } from "../rotation/stack-file.ts";
import { checkCertificate, type SealingKey } from "../sealing/seal.ts";
import { readOutputs, sealingOutputs, stackOutputs } from "./outputs.ts";

/** The facts of a fleet that commands need and that are not in a repository. */
export interface FleetFacts {
  /** The fleet's name, the prefix of its names in AWS. */
  readonly name: string;
  /** Region of the hub; undefined when only the AWS environment knows it. */
  readonly region?: string;
  /** Network of the hub's VPC. */
  readonly vpcCidr?: string;
  /** The sealing certificate of each scope (an environment, or cluster-<spoke>); a string if one serves for all. */
  readonly certificates: string | Readonly<Record<string, string>>;
  /** Generations of each scope's sealing key; undefined when the hub's stack was not asked. */
  readonly generations?: Readonly<Record<string, readonly string[]>>;
  /** URLs of the fleet's repositories; undefined when the hub's stack was not asked. */
  readonly repositoryUrls?: Readonly<Record<Repository, string>>;
  /** Program that seals: `kubeseal`, by name or path. */
  readonly kubeseal: string;
  /** A repository's credential, as Flux reads it: member name to value. */
  readonly credential: (repository: Repository) => Promise<Readonly<Record<string, string>>>;
}

const outputsSchema = z.object({
  bridgeData: z.looseObject({
    fleet: z.string(),
    aws_region: z.string(),
    aws_vpc_cidr: z.string().optional(),
    gitops_system_repo_url: z.string(),
    gitops_workloads_repo_url: z.string(),
  }),
  ...sealingOutputs,
});

/** The part of {@link FleetFacts} that is in the outputs of the hub's stack. */
export function fromOutputs(outputs: unknown): Pick<
  FleetFacts,
  "name" | "region" | "vpcCidr" | "generations" | "repositoryUrls"
> & {
  readonly certificates: Readonly<Record<string, string>>;
} {
  const { bridgeData, sealingCertificates, activeSealingKeys } = readOutputs(outputsSchema, outputs);
  const certificates = Object.entries(activeSealingKeys).flatMap(([scope, generation]) => {
    const certificate = sealingCertificates[scope]?.[generation];
    return certificate === undefined ? [] : [[scope, certificate] as const];
  });
  return {
    name: bridgeData.fleet,
    region: bridgeData.aws_region,
    ...(bridgeData.aws_vpc_cidr === undefined ? {} : { vpcCidr: bridgeData.aws_vpc_cidr }),
    certificates: Object.fromEntries(certificates),
    generations: Object.fromEntries(
      Object.entries(sealingCertificates).map(([scope, generations]) => [scope, Object.keys(generations).sort()]),
    ),
    repositoryUrls: {
      "gitops-system": bridgeData.gitops_system_repo_url,
      "gitops-workloads": bridgeData.gitops_workloads_repo_url,
    },
  };
}

/** Scopes that have a sealing key; undefined if one certificate was given for all. */
export const scopesOf = ({ certificates }: Pick<FleetFacts, "certificates">): readonly string[] | undefined =>
  typeof certificates === "string" ? undefined : Object.keys(certificates).sort();

/** How a scope gets its first sealing key. @param keys its entries in the list; default: the first generation */
export const firstKey = (
  scope: string,
  keys: readonly ListedKey[] = [{ scope, generation: "1", active: true }],
): string =>
  `append ${keys.map(listedKey).join(" and ")} to sealingKeys in the config of the hub's stack, run pulumi up`;

/** How a scope gets the sealing key that it lacks. */
export const keyRemedy = (scope: string): string => `${firstKey(scope)}, then this command again`;

/** A scope's active sealing key, whose certificate is checked. */
export function sealingKeyFor({ certificates }: Pick<FleetFacts, "certificates">, scope: string): SealingKey {
  const certificate = typeof certificates === "string" ? certificates : certificates[scope];
  if (certificate === undefined)
    throw new Error(
      `the fleet has no sealing key of scope ${scope}; it has ${Object.keys(certificates).join(", ")}: ${keyRemedy(scope)}`,
    );
  checkCertificate(certificate, `the sealing certificate of scope ${scope}`);
  return { scope, certificate };
}

/** The problem of a file that `--certificate` names. */
export function certificateProblems(text: string | undefined): Problem[] {
  if (text === undefined) return [];
  try {
    checkCertificate(text, "the file");
    return [];
  } catch (error) {
    return [
      {
        key: "--certificate",
        what: (error as Error).message,
        got: "(not shown)",
        allowed: "a valid RSA certificate in PEM",
        remedy: "give the certificate of the scope's active sealing key",
      },
    ];
  }
}

const credentialSchema = z.record(z.string(), z.string());

/** Reads the credentials of the fleet's repositories from Secrets Manager, where the hub's stack put them. */
export function credentialReader(fleet: string, client: SecretsManagerClient): FleetFacts["credential"] {
  return async (repository) => {
    const name = fleetNames(fleet).gitSecret(repository);
    const region = await client.config.region();
    let text: string | undefined;
    try {
      text = (await client.send(new GetSecretValueCommand({ SecretId: name }))).SecretString;
    } catch (error) {
      const { name: kind, message } = error as Error;
      throw new Error(
        `the credential of ${repository} can't be read, secret ${name} in ${region}: ${kind}: ${message}. ` +
          "It needs AWS credentials that may read it (secretsmanager:GetSecretValue, kms:Decrypt), the hub's region and the right fleet",
        { cause: error },
      );
    }
    const read = credentialSchema.safeParse(json(text));
    // No message may contain the value.
    if (!read.success)
      throw new Error(`secret ${name} in ${region} is not a JSON object of strings: run pulumi up on the hub's stack`);
    return read.data;
  };
}

function json(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

/** Flags for the origin of the facts, of every command that writes something. */
export const sourceOptions = {
  repository: { type: "string" },
  certificate: { type: "string" },
  fleet: { type: "string" },
  stack: { type: "string" },
} as const;

/** The flags that name the fleet and what to seal with. */
export const stackHelp = `  --stack NAME           Pulumi stack of the hub; default: the selected one. Its outputs name the fleet and its certificates
  --certificate FILE     seal with this certificate (PEM) instead of the stack's
  --fleet NAME           name of the fleet; with --certificate the stack is not asked
`;

export const sourceHelp = `  --repository DIR       the checkout to write into; default: the current folder
${stackHelp}
Git credentials are read from AWS Secrets Manager (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL and so on); kubeseal must be on
PATH.`;

export interface SourceFlags {
  /** Text of the file. */
  readonly certificate?: string | undefined;
  readonly fleet?: string | undefined;
  readonly stack?: string | undefined;
}

/** The facts of the fleet that a command's flags name: from the hub's stack, unless the flags contain all of them. */
export async function fleetFrom({ certificate, fleet, stack }: SourceFlags): Promise<FleetFacts> {
  const known =
    certificate !== undefined && fleet !== undefined
      ? { name: fleet, certificates: certificate }
      : fromOutputs(await stackOutputs({ stack, otherwise: "--fleet NAME and --certificate FILE" }));
  const name = fleet ?? known.name;
  const region = "region" in known ? known.region : undefined;
  const client = new SecretsManagerClient(region === undefined ? {} : { region });
  return {
    ...known,
    name,
    certificates: certificate ?? known.certificates,
    kubeseal: "kubeseal",
    credential: credentialReader(name, client),
  };
}
