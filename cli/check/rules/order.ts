import type { Findings, Place } from "../../render/findings.ts";
import { type Cluster, isHelmRelease, type Rendered, type RenderedFleet } from "../../render/fleet.ts";

/** dependsOn: every name exists, and nothing waits for itself. */

interface Node {
  readonly kind: string;
  readonly name: string;
  /** As it is written: the same for every cluster. */
  readonly title: string;
  readonly namespace: string;
  readonly cluster: Cluster;
  readonly dependencies: readonly {
    readonly name: string;
    readonly title: string;
    readonly namespace: string;
    readonly place: Place;
  }[];
}

interface Dependency {
  readonly name: string;
  readonly namespace?: string;
}

function node(kind: string, cluster: Cluster, { manifest, raw, place }: Omit<Rendered, "by">): Node {
  const { name, namespace = "default" } = manifest.metadata;
  const dependsOn = (manifest.spec?.dependsOn ?? []) as Dependency[];
  return {
    kind,
    name,
    title: raw.metadata.name,
    namespace,
    cluster,
    dependencies: dependsOn.map((dependency, index) => ({
      name: dependency.name,
      title: (raw.spec.dependsOn[index] as Dependency | undefined)?.name ?? dependency.name,
      namespace: dependency.namespace ?? namespace,
      place: place(["spec", "dependsOn", index, "name"]),
    })),
  };
}

const nodesOf = (fleet: RenderedFleet): Node[] => [
  ...fleet.steps.map((step) => node("Kustomization", step.home, step)),
  ...[...fleet.clusters.values()].flatMap((cluster) =>
    cluster.objects
      .filter(({ manifest }) => isHelmRelease(manifest))
      .map((object) => node("HelmRelease", cluster, object)),
  ),
];

const keyOf = (cluster: Cluster, kind: string, namespace: string, name: string): string =>
  [cluster.name, kind, namespace, name].join("/");

/** The nodes of a cycle through `start`, `start` first. */
function cycleFrom(start: Node, next: (node: Node) => Node[]): Node[] | undefined {
  const open: Node[][] = [[start]];
  const seen = new Set<Node>();
  for (let path = open.shift(); path; path = open.shift())
    for (const node of next(path.at(-1) as Node)) {
      if (node === start) return path;
      if (!seen.has(node)) open.push([...path, node]);
      seen.add(node);
    }
  return undefined;
}

export function checkOrder(fleet: RenderedFleet, findings: Findings): void {
  const nodes = nodesOf(fleet);
  const known = new Map(nodes.map((each) => [keyOf(each.cluster, each.kind, each.namespace, each.name), each]));
  const next = ({ cluster, kind, dependencies }: Node): Node[] =>
    dependencies.flatMap(({ namespace, name }) => known.get(keyOf(cluster, kind, namespace, name)) ?? []);
  const told = new Set<Node>();
  for (const each of nodes) {
    for (const { name, title, namespace, place } of each.dependencies)
      if (!known.has(keyOf(each.cluster, each.kind, namespace, name)) && fleet.steps.every(({ complete }) => complete))
        findings.add(
          "dependency",
          place,
          `${each.kind} ${each.title} depends on ${namespace}/${title}, which does not exist there`,
          `name a ${each.kind} that is applied there: ${neighbours(nodes, each)}`,
          each.cluster.name,
          "dangling",
        );
    if (told.has(each)) continue;
    const found = cycleFrom(each, next);
    if (!found) continue;
    for (const member of found) told.add(member);
    tellCycle(found, findings);
  }
}

/** Reported once, at the dependency of the last member on the first; the first is the one whose name sorts first. */
function tellCycle(found: readonly Node[], findings: Findings): void {
  const start = [...found].sort((a, b) => a.name.localeCompare(b.name))[0] as Node;
  const cycle = [...found.slice(found.indexOf(start)), ...found.slice(0, found.indexOf(start))];
  const back = cycle
    .at(-1)
    ?.dependencies.find(({ name, namespace }) => name === start.name && namespace === start.namespace);
  if (back)
    findings.add(
      "dependency",
      back.place,
      `${start.kind}s wait for each other: ${[...cycle, start].map(({ title }) => title).join(" -> ")}`,
      "remove one of the dependencies: none of them will ever be applied",
      start.cluster.name,
      "cycle",
    );
}

const neighbours = (nodes: readonly Node[], { kind, cluster, namespace, name }: Node): string =>
  nodes
    .filter(
      (other) =>
        other.kind === kind && other.cluster === cluster && other.namespace === namespace && other.name !== name,
    )
    .map(({ title }) => title)
    .sort()
    .join(", ") || "(none)";
