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
  /** The file that says it. */
  readonly path: string;
}

/** The Spoke's file of a fleet's spoke; one may lie as before fleets had folders. */
function factsOf(system: string, fleet: string, cluster: string): SpokeFacts | undefined {
  const path = [spokeFolder(fleet, cluster), join("spokes", cluster)]
    .map((folder) => join(system, folder, "spoke.yaml"))
    .find((file) => existsSync(file));
  if (path === undefined) return undefined;
  const { environment, sealing = sealings[0], tenant } = parseDocument(readFileSync(path, "utf8")).toJS()?.spec ?? {};
  return { environment, sealing, tenant, path };
}

/** The facts about a spoke, of whatever fleet; undefined where no fleet or several have one of this name. */
export function spokeFacts(system: string, cluster: string): SpokeFacts | undefined {
  if (cluster === "") return undefined;
  const found = foldersIn(join(system, "spokes")).flatMap((fleet) => factsOf(system, fleet, cluster) ?? []);
  return new Set(found.map(({ path }) => path)).size === 1 ? found[0] : undefined;
}

/** The problems of what a request says of its cluster. */
export function clusterProblems(request: AppRequest, fleet: string, system: string): Problem[] {
  const { cluster } = request;
  const spokes = spokesIn(system, fleet);
  if (spokes.includes(cluster)) return sealingProblems(request, factsOf(system, fleet, cluster));
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
      remedy: `give --${field} ${stands[field]}, or another --cluster`,
    }));
}

type Found = readonly (readonly [cluster: string, facts: SpokeFacts | undefined])[];

/** The problems of clusters that nothing is known of. */
function unknownProblems(found: Found, system: string): Problem[] {
  const known = spokesOfAll(system);
  const unknown = found.filter(([cluster, facts]) => facts === undefined && cluster !== "");
  return unknown.flatMap(([cluster]) =>
    choiceProblems(
      "--cluster",
      cluster,
      known,
      "correct it, pull the checkout of gitops-system if the spoke is new, or give --environment",
    ),
  );
}

/** The problems of clusters whose environment nobody says. @param found what is known of each cluster */
export function environmentProblems(given: string | undefined, found: Found, system: string | undefined): Problem[] {
  if (given || found.every(([, facts]) => facts?.environment !== undefined)) return [];
  const unknown = system === undefined ? [] : unknownProblems(found, system);
  if (unknown.length > 0) return unknown;
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
