import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Ajv } from "ajv";
import { compareVersions, defaultVersion, type VersionTable } from "../../functions/spoke/versions.ts";
import {
  type Cidr,
  isPrivate,
  overlaps,
  parseCidr,
  privateBlocks,
  reservedProblem,
  vpcPrefixes,
} from "../../lib/cidr.ts";
import { ringsFolder, spokesFolder } from "../../lib/layout.ts";
import type { Schema } from "../../lib/openapi.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { spokeNameRule } from "../../lib/spoke.ts";
import { channelOf, compositionFile } from "../environment/composition.ts";
import type { FleetFacts } from "../fleet/facts.ts";
import { foldersIn } from "../fleet/folders.ts";
import { choiceProblems } from "../usage.ts";
import { parsedOnce } from "../yaml.ts";

/** The choices that a checkout of gitops-system has for spokes. */
export interface Offer {
  /** Environments that have sealing keys, tools, and a channel of the Composition. */
  readonly environments: readonly string[];
  /** Environments whose channel is off, so that their spokes use an earlier revision of the Composition. */
  readonly heldBack: readonly string[];
  /** Kubernetes versions that the Composition supports, oldest first. */
  readonly kubernetesVersions: readonly string[];
  /** The version of a spoke that names none. */
  readonly kubernetesVersion: string | undefined;
  /** OpenAPI schema of a Spoke's specification. */
  readonly schema: Schema;
  /** OpenAPI schema of a whole Spoke, with the rules about changes. */
  readonly api: Schema;
}

/** A network that is taken. */
export interface Taken {
  readonly owner: string;
  readonly cidr: string;
}

const readYaml = async (...path: string[]) => parsedOnce(await readFile(join(...path), "utf8"));

/** Reads what a checkout offers. */
export async function readOffer(checkout: string): Promise<Offer> {
  const definition = await readYaml(checkout, "platform", "api", "definition.yaml");
  const composition = await readYaml(checkout, compositionFile);
  const { kubernetesVersions } = composition.spec.pipeline[0].input as { kubernetesVersions: VersionTable };
  const labels: Record<string, string> = composition.metadata.labels;
  const api: Schema = definition.spec.versions[0].schema.openAPIV3Schema;
  const keys = foldersIn(join(checkout, "spoke-bootstrap", "sealing-keys"));
  const tools = foldersIn(join(checkout, "tools"));
  const environments = keys.filter((name) => tools.includes(name) && labels[channelOf(name)] !== undefined).sort();
  return {
    environments,
    heldBack: environments.filter((name) => labels[channelOf(name)] !== "true"),
    kubernetesVersions: Object.keys(kubernetesVersions).sort(compareVersions),
    kubernetesVersion: defaultVersion(kubernetesVersions),
    schema: api.properties?.["spec"] ?? {},
    api,
  };
}

/** Networks of the fleet's hub, and those that its spokes name. Other fleets don't count. */
export async function networksOf(checkout: string, fleet: Pick<FleetFacts, "name" | "vpcCidr">): Promise<Taken[]> {
  const spokes = join(checkout, spokesFolder(fleet.name));
  const named = await Promise.all(
    foldersIn(spokes).map(async (name) => {
      const file = join(spokes, name, "spoke.yaml");
      const cidr = existsSync(file) ? (await readYaml(file))?.spec?.network?.cidr : undefined;
      return typeof cidr === "string" ? [{ owner: `spoke ${name}`, cidr }] : [];
    }),
  );
  return [...named.flat(), ...(fleet.vpcCidr === undefined ? [] : [{ owner: "the hub", cidr: fleet.vpcCidr }])];
}

export function nameProblems(name: string, key = "<name>"): Problem[] {
  if (spokeNameRule.accepts(name)) return [];
  return [
    {
      key,
      what: "can't be the name of a spoke: it is part of names in AWS and in Kubernetes",
      got: shown(name),
      allowed: spokeNameRule.allowed,
      remedy: "choose another name",
    },
  ];
}

/** Rings that a fleet has in a checkout. */
function ringsIn(checkout: string, fleet: string): string[] {
  const folder = join(checkout, ringsFolder(fleet));
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files.filter((file) => file.endsWith(".yaml")).map((file) => basename(file, ".yaml"));
}

/** The problem of a ring that the fleet does not have. */
export const ringProblems = (checkout: string, fleet: string, ring: string | undefined): Problem[] =>
  ring === undefined
    ? []
    : choiceProblems("--ring", ring, ringsIn(checkout, fleet), `choose one, or make it with fleet new-ring ${ring}`);

/** The problems of a spoke's Kubernetes version, given or not. @param key of the option that gives it */
export function versionProblems(
  version: string | undefined,
  environment: string,
  { heldBack, kubernetesVersions }: Offer,
  key = "--kubernetes-version",
): Problem[] {
  if (version !== undefined)
    return choiceProblems(
      key,
      version,
      kubernetesVersions,
      "choose one, or add it to platform/composition/composition.yaml first",
    );
  if (!heldBack.includes(environment)) return [];
  return [
    {
      key,
      what: `must be named: the channel of ${environment} holds the Composition back (${channelOf(environment)} is not "true"), and the earlier revision that its spokes take may lack the newest version`,
      got: "(nothing)",
      allowed: `those of ${kubernetesVersions.join(", ")} that the earlier revision has`,
      remedy: `name one that spokes of ${environment} run, or promote the Composition first`,
    },
  ];
}

/** The problems of the networks that the public endpoint admits; fleet check and the hub check their total size. */
export const publicAccessProblems = (texts: readonly string[]): Problem[] =>
  texts.flatMap((text) => {
    const cidr = parseCidr(text);
    const what = cidr === undefined ? "is not an IPv4 network" : publicProblem(cidr);
    if (what === undefined) return [];
    return [
      {
        key: "--public-access-cidr",
        what,
        got: shown(text),
        allowed: "a.b.c.d/n of public addresses, with no bits set after the prefix; /32 is one address",
        remedy:
          "name the public addresses that you and your pipelines connect from (curl https://checkip.amazonaws.com)",
      },
    ];
  });

const publicProblem = (cidr: Cidr): string | undefined => (cidr.prefix === 0 ? "is everybody" : reservedProblem(cidr));

/** The problems of the network that a new spoke names; `taken` are those of the hub and of other spokes. */
export function cidrProblems(text: string, taken: readonly Taken[]): Problem[] {
  const problem = (what: string, allowed: string): Problem[] => [
    {
      key: "--cidr",
      what,
      got: shown(text),
      allowed,
      remedy: "choose a free network, or leave --cidr out to get one of the fleet's pool",
    },
  ];
  const { min, max } = vpcPrefixes;
  const cidr = parseCidr(text);
  if (cidr === undefined)
    return problem("is not an IPv4 network", "a.b.c.d/n with no bits set after the prefix, such as 10.64.0.0/18");
  if (cidr.prefix < min || cidr.prefix > max) return problem("can't be divided into subnets", `/${min} to /${max}`);
  if (!isPrivate(cidr)) return problem("is not private", `inside ${privateBlocks.join(", ")}`);
  const others = taken.filter((other) => {
    const parsed = parseCidr(other.cidr);
    return parsed !== undefined && overlaps(parsed, cidr);
  });
  if (others.length === 0) return [];
  return problem(
    `overlaps ${others.map((other) => `${other.cidr} of ${other.owner}`).join(", ")}`,
    "a network that shares no address with the hub's or another spoke's",
  );
}

/** What a schema allows, in words. */
function allowedBy({ description, ...schema }: Schema): string {
  const { enum: choices, maxLength, pattern } = schema as { enum?: string[]; maxLength?: number; pattern?: string };
  if (choices !== undefined) return choices.join(", ");
  if (pattern !== undefined) return `up to ${maxLength} characters of the form ${pattern}`;
  return typeof description === "string" ? description : "what platform/api/definition.yaml says";
}

/** The API server's own keywords (x-kubernetes-…) are unknown to ajv; the rules in them are judged by fleet check, and on the hub. */
const ajv = new Ajv({ strict: false, allErrors: true, verbose: true, logger: false });

/** The errors of the given members of a specification, by the schema of the Spoke API. */
export function schemaProblems(schema: Schema, spec: object, flags: Readonly<Record<string, string>>): Problem[] {
  const given = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined));
  // To compile what is not given takes most of the time of a command.
  const properties = Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => name in given));
  const validate = ajv.compile<unknown>({ ...schema, properties, required: [] });
  if (validate(given)) return [];
  const problems = (validate.errors ?? []).map(({ instancePath, message, data, parentSchema }) => {
    const [field = ""] = instancePath.split("/").slice(1);
    return {
      key: flags[field] ?? `spec${instancePath.replaceAll("/", ".")}`,
      what: `the Spoke API does not accept it: ${message}`,
      got: shown(data),
      allowed: allowedBy((parentSchema ?? {}) as Schema),
      remedy: "change it; platform/api/definition.yaml describes every field",
    };
  });
  return problems.filter(({ key }, index) => problems.findIndex((other) => other.key === key) === index);
}
