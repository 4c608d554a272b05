import { at, goesOn, type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import { failureMessage, isHealthy } from "../../functions/spoke/observed.ts";

/** From what Flux and Crossplane were told to do down to what hinders them. */

type Side = "hub" | "spoke";

/** An object, and on which cluster it is. */
export interface Node {
  readonly side: Side;
  readonly object: KubeObject;
}

/** From the top to what hinders. */
export type Path = readonly Node[];

const keyOf = (side: Side, kind: string, namespace: string | undefined, name: string): string =>
  `${side} ${kind} ${namespace}/${name}`;

const keyOfNode = ({ side, object: { kind, metadata } }: Node): string =>
  keyOf(side, kind, metadata.namespace, metadata.name);

/** An object that a Kustomization has applied. */
export interface Applied {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** What a Kustomization has applied: `<namespace>_<name>_<group>_<kind>` and a version (fluxcd/cli-utils, ObjMetadata). */
export function appliedBy({ status }: KubeObject): Applied[] {
  const entries = at(status, "inventory", "entries");
  if (!Array.isArray(entries)) return [];
  return (entries as { readonly id: string; readonly v: string }[]).map(({ id, v }) => {
    const [namespace = "", name = "", group = "", kind = ""] = id.split("_");
    return { apiVersion: group === "" ? v : `${group}/${v}`, kind, namespace, name };
  });
}

/** Where what an object of Flux applies is. */
export const actsOn = ({ side, object }: Node): Side => (at(object.spec, "kubeConfig") === undefined ? side : "spoke");

/** What an object has under it: what it applied and, where that does not work, its source. */
function keysBelow(node: Node): string[] {
  const { side, object } = node;
  const applied = appliedBy(object).map(({ kind, namespace, name }) => keyOf(actsOn(node), kind, namespace, name));
  const source = textAt(object.spec, "sourceRef", "kind");
  const namespace = textAt(object.spec, "sourceRef", "namespace") ?? object.metadata.namespace;
  return [
    ...applied,
    ...(source === undefined ? [] : [keyOf(side, source, namespace, textAt(object.spec, "sourceRef", "name") ?? "")]),
  ];
}

/** Whether an object only waits for others, as far as it says. */
const isWaiting = (path: Path): boolean => {
  const last = path.at(-1);
  return last === undefined || (!isHealthy(last.object) && failureMessage(last.object) === undefined);
};

/**
 * The paths to everything that is not healthy, or that Flux is just applying, and has no such thing under it. What only waits is left
 * out where something fails: it waits for that, or comes after it.
 */
export function pathsOf(nodes: readonly Node[]): Path[] {
  const known = new Map(nodes.map((node) => [keyOfNode(node), node]));
  const belows = new Map(nodes.map((node) => [node, keysBelow(node).flatMap((key) => known.get(key) ?? [])]));
  const children = new Set([...belows.values()].flat());

  function descend(node: Node, above: readonly Node[]): Path[] {
    const path = [...above, node];
    const below = (belows.get(node) ?? []).filter((child) => !path.includes(child));
    const found = below.flatMap((child) => descend(child, path));
    if (found.length > 0) return found;
    return isHealthy(node.object) && !goesOn(node.object) ? [] : [path];
  }

  const paths = nodes.filter((node) => !children.has(node)).flatMap((node) => descend(node, []));
  const isFailing = paths.some((path) => path.some(({ object }) => failureMessage(object) !== undefined));
  return isFailing ? paths.filter((path) => !isWaiting(path)) : paths;
}

/** The namespaces of the workloads that an object of Flux brings. */
export function workloadNamespaces({ kind, metadata, spec, ...rest }: KubeObject): string[] {
  const target = textAt(spec, "targetNamespace");
  if (kind === "HelmRelease") return [target ?? metadata.namespace ?? ""];
  if (target !== undefined) return [target];
  const workloads = ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"];
  const applied = appliedBy({ kind, metadata, spec, ...rest }).filter((each) => workloads.includes(each.kind));
  return [...new Set(applied.map(({ namespace }) => namespace))];
}
