import { join } from "node:path";
import { type Document, isSeq } from "yaml";
import { labelKeys } from "../../lib/labels.ts";
import type { Schema } from "../../lib/openapi.ts";
import type { Problem } from "../../lib/problems.ts";
import { changesTo, type FileChange } from "../change/files.ts";
import { chosenFleetProblems, foldersIn, spokesIn } from "../fleet/folders.ts";
import { checkoutProblems, textOf } from "../folder.ts";
import { contentsOf, filesBelow, isFolder, isManifest, isYaml } from "../render/files.ts";
import { refuse, together } from "../usage.ts";
import { openSpoke, type SpokeFile } from "./file.ts";
import { readOffer, schemaProblems } from "./rules.ts";
import {
  membersOf,
  type Place,
  placeProblems,
  type TeamRequest,
  teamProblems,
  type WrittenTeam,
} from "./team-rules.ts";

type TeamSpec = { readonly teams?: readonly WrittenTeam[]; readonly admins?: readonly string[] };
type Opened = SpokeFile<TeamSpec>;

/** The applications' namespaces on a spoke and their tenants, as a checkout of gitops-workloads has them. */
function tenantsOn(workloads: string, spoke: string): ReadonlyMap<string, string | undefined> {
  const folder = join(workloads, "clusters", spoke);
  const files = isFolder(folder) ? filesBelow(folder).filter(isYaml) : [];
  const namespaces = files.flatMap(contentsOf).filter(isManifest);
  return new Map(
    namespaces
      .filter(({ kind }) => kind === "Namespace")
      .map(({ metadata }) => [metadata.name, metadata.labels?.[labelKeys.tenant]]),
  );
}

/** Adds those of `items` to the list at `path` that it lacks. */
function append(document: Document, path: readonly (string | number)[], items: readonly unknown[]): void {
  const at = document.getIn(path);
  // What is added to `[]` would stand on its line.
  if (isSeq(at) && at.items.length > 0) for (const item of items) at.add(document.createNode(item));
  else if (items.length > 0) document.setIn(path, document.createNode(items));
}

/** Adds what a Spoke lacks of the team. @returns whether it lacked anything */
function add({ document, spec }: Opened, request: TeamRequest): boolean {
  const { name } = request;
  const namespaces = [...new Set(request.namespaces)];
  const members = membersOf(request);
  const teams = spec.teams ?? [];
  const index = teams.findIndex((team) => team.name === name);
  const own = teams[index];
  if (own === undefined) {
    append(document, ["spec", "teams"], [{ name, namespaces, members }]);
    return true;
  }
  const more = {
    namespaces: namespaces.filter((namespace) => !own.namespaces.includes(namespace)),
    members: members.filter(({ role }) => !own.members.some((member) => member.role === role)),
  };
  for (const [list, items] of Object.entries(more)) append(document, ["spec", "teams", index, list], items);
  return more.namespaces.length + more.members.length > 0;
}

function clusterProblems(checkout: string, fleet: string, { clusters }: TeamRequest): Problem[] {
  const spokes = spokesIn(checkout, fleet);
  return clusters
    .filter((cluster) => !spokes.includes(cluster))
    .map((cluster) => ({
      key: "--cluster",
      what: `is not a spoke of ${fleet}`,
      got: cluster,
      allowed: spokes.join(", ") || "(the fleet has no spokes)",
      remedy: "correct the name, or make the spoke first: fleet new-cluster",
    }));
}

/** What the definition refuses of the teams in a file, such as more of something than it takes. */
function limitProblems(schema: Schema, { path, document }: Opened): Problem[] {
  const { teams } = document.toJS().spec ?? {};
  if (teams === undefined || teams === null) return [];
  return schemaProblems(schema, { teams }, { teams: path });
}

export interface TeamOptions {
  readonly fleet?: string | undefined;
  /** Checkout of gitops-workloads in which the namespaces must be; without one this is not checked. */
  readonly workloads?: string | undefined;
}

/** What gives a team access. */
export interface TeamChange {
  readonly fleet: string;
  /** None when everything was there. */
  readonly files: readonly FileChange[];
}

/**
 * What gives a team access on spokes of a checkout of gitops-system: adds to `spec.teams` of each what is not there yet.
 * @param told problems of the command line, which are told with those that are found here
 * @throws UsageError that lists every problem
 */
export async function newTeam(
  checkout: string,
  asked: TeamRequest,
  options: TeamOptions = {},
  told: readonly Problem[] = [],
): Promise<TeamChange> {
  const notHere = checkoutProblems(checkout, "gitops-system", join("templates", "spoke"));
  const fleets = foldersIn(join(checkout, "clusters"));
  const noFleet = notHere.length > 0 ? notHere : chosenFleetProblems(options.fleet, fleets, checkout);
  if (noFleet.length > 0) refuse("new-team", together(told, noFleet));
  const fleet = options.fleet ?? (fleets[0] as string);
  const request = { ...asked, clusters: [...new Set(asked.clusters)], namespaces: [...new Set(asked.namespaces)] };
  const unknown = clusterProblems(checkout, fleet, request);
  const known = request.clusters.filter((cluster) => !unknown.some(({ got }) => got === cluster));
  const found = known.map((cluster) => openSpoke<TeamSpec>(checkout, fleet, cluster, "--cluster"));
  const { schema } = await readOffer(checkout);
  const readable = found.filter((file): file is Opened => "documents" in file);
  const unfit = readable.map((file) => ({ file, problems: limitProblems(schema, file) }));
  const files = unfit.filter(({ problems }) => problems.length === 0).map(({ file }) => file);
  const { workloads } = options;
  const places = files.map(
    ({ spoke, spec: { teams, admins } }): Place => ({
      ...{ spoke, teams: teams ?? [], admins: admins ?? [] },
      tenants: workloads === undefined ? undefined : tenantsOn(workloads, spoke),
    }),
  );
  const problems = [
    ...teamProblems(request, fleet),
    ...unknown,
    ...found.filter((file): file is Problem => "remedy" in file),
    ...unfit.flatMap((each) => each.problems),
    ...places.flatMap((place) => placeProblems(request, place)),
  ];
  refuse("new-team", together(told, problems));
  const changed = files.filter((file) => add(file, request));
  refuse(
    "new-team",
    changed.flatMap((file) => limitProblems(schema, file)),
  );
  const texts = changed.map(({ path, documents }) => [path, textOf(documents)] as const);
  return { fleet, files: changesTo(checkout, Object.fromEntries(texts)) };
}
