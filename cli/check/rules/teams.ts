import { labelKeys } from "../../../lib/labels.ts";
import { isFleetRole, isPlatformNamespace, type Repository } from "../../../lib/names.ts";
import { isObject, list, type Path } from "../../render/files.ts";
import type { Findings, Place } from "../../render/findings.ts";
import { type Cluster, isSpoke, nameOf, type Rendered, type RenderedFleet } from "../../render/fleet.ts";
import { repositoryOf } from "../../render/sources.ts";

/** The teams of a Spoke have namespaces of their own applications only, and their members are people's roles. */

const workloads: Repository = "gitops-workloads";

/** The namespaces of a cluster, by name; undefined while it is not known what gitops-workloads puts there. */
function namespacesOf(cluster: Cluster | undefined, { steps }: RenderedFleet): Map<string, Rendered> | undefined {
  const own = steps.filter((step) => step.on === cluster && repositoryOf(step) === workloads);
  if (cluster === undefined || own.length === 0 || own.some(({ complete }) => !complete)) return undefined;
  const found = cluster.objects.filter(({ manifest: { kind } }) => kind === "Namespace");
  return new Map(found.map((each) => [each.manifest.metadata.name, each]));
}

const isOfWorkloads = ({ by }: Rendered): boolean => repositoryOf(by) === workloads;

/** What is wrong with a namespace of a team beside what the cluster gets, and what to do. */
function problemOf(
  { spoke, team, namespace }: { readonly spoke: string; readonly team: string; readonly namespace: string },
  all: ReadonlyMap<string, Rendered>,
): readonly [problem: string, remedy: string] | undefined {
  const found = all.get(namespace);
  if (found === undefined) {
    const names = [...all.values()].filter(isOfWorkloads).map(({ manifest }) => manifest.metadata.name);
    return [
      `which ${workloads} does not put on the cluster; it puts there ${names.sort().join(", ") || "none"}`,
      `correct the name, or make the namespace with its application: fleet onboard ${namespace} --cluster ${spoke} --tenant ${team} …`,
    ];
  }
  if (!isOfWorkloads(found))
    return [
      `which is the platform's: Kustomization ${nameOf(found.by)} makes it`,
      "name the namespaces of the team's applications; who works on the platform belongs into spec.admins",
    ];
  const tenant = found.manifest.metadata.labels?.[labelKeys.tenant];
  if (tenant === team) return undefined;
  return [
    `whose label ${labelKeys.tenant} is ${tenant ?? "missing"}`,
    "name it in the team of that name, which has the application; a role can be a member of several teams",
  ];
}

/** A team in the file of its Spoke; what does not have the definition's form is another finding. */
interface Written {
  readonly spoke: string;
  readonly team: string;
  readonly namespaces: readonly unknown[];
  readonly members: readonly unknown[];
  /** Where a value of the team stands. */
  readonly place: (path: Path) => Place;
}

function teamsOf({ manifest, place }: Rendered): Written[] {
  return list(manifest.spec?.teams).map((team, index) => {
    const { name, namespaces, members } = isObject(team) ? team : {};
    return {
      spoke: manifest.metadata.name,
      team: String(name),
      namespaces: list(namespaces),
      members: list(members),
      place: (path) => place(["spec", "teams", index, ...path]),
    };
  });
}

function checkNamespaces({ spoke, team, namespaces, place }: Written, fleet: RenderedFleet, findings: Findings): void {
  const all = namespacesOf(fleet.clusters.get(spoke), fleet);
  if (all === undefined) return;
  for (const [index, namespace] of namespaces.entries()) {
    // The definition refuses those that it knows.
    if (typeof namespace !== "string" || isPlatformNamespace(namespace)) continue;
    const [problem, remedy] = problemOf({ spoke, team, namespace }, all) ?? [];
    if (problem === undefined || remedy === undefined) continue;
    const told = `Spoke ${spoke}: the team ${team} has the namespace ${namespace}, ${problem}`;
    findings.add("team", place(["namespaces", index]), told, remedy, spoke);
  }
}

function checkMembers({ spoke, team, members, place }: Written, fleet: string, findings: Findings): void {
  for (const [index, member] of members.entries()) {
    const role = isObject(member) ? member["role"] : undefined;
    if (typeof role !== "string" || !isFleetRole(fleet, role)) continue;
    findings.add(
      "team",
      place(["members", index, "role"]),
      `Spoke ${spoke}: the team ${team} has the member ${role}, a role of the fleet itself: of its controllers, its nodes or an application's pods`,
      "name a role that people assume",
      spoke,
    );
  }
}

export function checkTeams(fleet: RenderedFleet, findings: Findings): void {
  const spokes = fleet.hub.objects.filter(({ manifest }) => isSpoke(manifest));
  for (const team of spokes.flatMap(teamsOf)) {
    checkNamespaces(team, fleet, findings);
    checkMembers(team, fleet.name, findings);
  }
}
