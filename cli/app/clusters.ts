import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { spokeFolder } from "../../lib/layout.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { type Sealing, sealings } from "../../lib/spoke.ts";
import { foldersIn, spokesIn, spokesOfAll } from "../fleet/folders.ts";
import { choiceProblems } from "../usage.ts";
import type { AppRequest } from "./rules.ts";

/** What a checkout of gitops-system says of the clusters that an application goes to. */

/** What of a Spoke's specification an application needs. */
export interface SpokeFacts {
  readonly environment?: string;
  readonly sealing: Sealing;
  readonly tenant?: string;
  readonly addons: readonly string[];
  /** The file that says it. */
  readonly path: string;
}

/** What a Spoke's file says; undefined where it can't be read. */
function factsIn(path: string): SpokeFacts | undefined {
  const document = parseDocument(readFileSync(path, "utf8"));
  if (document.errors.length > 0) return undefined;
  const { environment, sealing = sealings[0], tenant, addons = [] } = document.toJS()?.spec ?? {};
  return { environment, sealing, tenant, addons, path };
}

/** The files of spokes of this name. @param fleet whose; default: any */
function filesOf(system: string, cluster: string, fleet: string | undefined): string[] {
  if (cluster === "") return [];
  const fleets = fleet === undefined ? foldersIn(join(system, "spokes")) : [fleet];
  return fleets
    .map((each) => join(system, spokeFolder(each, cluster), "spoke.yaml"))
    .filter((file) => existsSync(file));
}

/** The facts about a spoke; undefined where there is none of this name or several are, or its file can't be read. */
export function spokeFacts(system: string, cluster: string, fleet: string | undefined): SpokeFacts | undefined {
  const [file, ...others] = filesOf(system, cluster, fleet);
  return file === undefined || others.length > 0 ? undefined : factsIn(file);
}

/** The problems of what a request says of its cluster. */
export function clusterProblems(request: AppRequest, fleet: string, system: string): Problem[] {
  const { cluster } = request;
  const spokes = spokesIn(system, fleet);
  if (spokes.includes(cluster)) return sealingProblems(request, spokeFacts(system, cluster, fleet));
  return [
    {
      key: "--cluster",
      what: `is not a spoke of ${fleet} in ${system}`,
      got: cluster,
      allowed: spokes.join(", ") || "(the fleet has no spokes)",
      remedy: "correct the name, pull that checkout if the spoke is new, or make the spoke first: fleet new-cluster",
    },
  ];
}

/** Secrets that are sealed for another scope than the Spoke's are never opened there. */
function sealingProblems({ cluster, ...asked }: AppRequest, stands: SpokeFacts | undefined): Problem[] {
  if (stands === undefined) return [];
  return (["environment", "sealing"] as const)
    .filter((field) => asked[field] !== undefined && stands[field] !== undefined && asked[field] !== stands[field])
    .map((field) => ({
      key: `--${field}`,
      what: `is not that of the spoke ${cluster}, so nothing that is sealed for it could be opened there`,
      got: shown(asked[field]),
      allowed: `${shown(stands[field])}, as ${stands.path} says`,
      remedy: `leave --${field} out, so that each Spoke says its own, or give another --cluster`,
    }));
}

type Found = readonly (readonly [cluster: string, facts: SpokeFacts | undefined])[];

/** What hinders that a cluster's Spoke says its environment. */
function unknownProblems(cluster: string, system: string, fleet: string | undefined): Problem[] {
  const files = filesOf(system, cluster, fleet);
  const missing = (why: string, remedy: string): Problem[] => [
    {
      ...{ key: "--environment", what: `is missing, and ${why}`, got: files.join(", ") },
      ...{ allowed: "the environment of the spoke, such as dev", remedy },
    },
  ];
  if (files.length > 1) return missing(`several fleets have a spoke ${cluster}`, "give --fleet, or --environment");
  if (files.length === 1)
    return missing(
      `the Spoke of ${cluster} can't be read or says none`,
      "correct that file: fleet check says what is wrong with it; or give --environment",
    );
  const known = fleet === undefined ? spokesOfAll(system) : spokesIn(system, fleet);
  const correct = fleet === undefined ? "correct it" : `correct it or --fleet ${fleet}`;
  return choiceProblems(
    "--cluster",
    cluster,
    known,
    `${correct}, pull the checkout of gitops-system if the spoke is new, or give --environment`,
  );
}

/** The problems of clusters whose environment nobody says. @param found what is known of each cluster */
export function environmentProblems(
  given: string | undefined,
  found: Found,
  system: string | undefined,
  fleet: string | undefined,
): Problem[] {
  const silent = found.filter(([, facts]) => !facts?.environment).map(([cluster]) => cluster);
  if (given || silent.length === 0) return [];
  const named = silent.filter((cluster) => cluster !== "");
  if (system !== undefined && named.length > 0)
    return named.flatMap((cluster) => unknownProblems(cluster, system, fleet));
  return [
    {
      key: "--environment",
      what: "is missing, and there is no Spoke that would say it",
      got: "(nothing)",
      allowed: "the environment of the spoke, such as dev",
      remedy: "give --environment, or name a checkout of gitops-system with --system",
    },
  ];
}
