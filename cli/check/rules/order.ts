import type { Path } from "../files.ts";
import type { Findings, Place } from "../findings.ts";
import { type Cluster, type Fleet, isHelmRelease, type Rendered } from "../fleet.ts";

/** dependsOn: every name exists, and nothing waits for itself. */

interface Node {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly cluster: Cluster;
  readonly dependencies: readonly { readonly name: string; readonly namespace: string; readonly place: Place }[];
}

interface Dependency {
  readonly name: string;
  readonly namespace?: string;
}

function node(
  kind: string,
  cluster: Cluster,
  { manifest, place }: { manifest: Rendered["manifest"]; place: (path: Path) => Place },
): Node {
  const { name, namespace = "default" } = manifest.metadata;
  const dependsOn = (manifest.spec?.dependsOn ?? []) as Dependency[];
  return {
    ...{ kind, name, namespace, cluster },
    dependencies: dependsOn.map((dependency, index) => ({
      name: dependency.name,
      namespace: dependency.namespace ?? namespace,
      place: place(["spec", "dependsOn", index, "name"]),
    })),
  };
}

const nodesOf = (fleet: Fleet): Node[] => [
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

export function checkOrder(fleet: Fleet, findings: Findings): void {
  const nodes = nodesOf(fleet);
  const known = new Map(nodes.map((each) => [keyOf(each.cluster, each.kind, each.namespace, each.name), each]));
  const next = ({ cluster, kind, dependencies }: Node): Node[] =>
    dependencies.flatMap(({ namespace, name }) => known.get(keyOf(cluster, kind, namespace, name)) ?? []);
  const told = new Set<Node>();
  for (const each of nodes) {
    for (const { name, namespace, place } of each.dependencies)
      if (!known.has(keyOf(each.cluster, each.kind, namespace, name)) && fleet.steps.every(({ complete }) => complete))
        findings.add(
          "dependency",
          place,
          `${each.kind} ${each.name} depends on ${namespace}/${name}, which does not exist on ${each.cluster.name}`,
          `name a ${each.kind} that is applied there: ${neighbours(nodes, each)}`,
          each.cluster.name,
          "dangling",
        );
    if (told.has(each)) continue;
    const cycle = cycleFrom(each, next);
    if (!cycle) continue;
    for (const member of cycle) told.add(member);
    const last = cycle.at(-1) as Node;
    const back = last.dependencies.find(({ name, namespace }) => name === each.name && namespace === each.namespace);
    findings.add(
      "dependency",
      (back ?? (each.dependencies[0] as Node["dependencies"][number])).place,
      `${each.kind}s wait for each other: ${[...cycle, each].map(({ name }) => name).join(" -> ")}`,
      "remove one of the dependencies: none of them will ever be applied",
      each.cluster.name,
      "cycle",
    );
  }
}

const neighbours = (nodes: readonly Node[], { kind, cluster, namespace, name }: Node): string =>
  nodes
    .filter(
      (other) =>
        other.kind === kind && other.cluster === cluster && other.namespace === namespace && other.name !== name,
    )
    .map((other) => other.name)
    .sort()
    .join(", ") || "there is none";
