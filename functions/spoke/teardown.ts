import { crossplaneAnnotations, labelKeys } from "../../lib/labels.ts";
import type { Entry } from "./composer.ts";
import { type Group, groups, holders } from "./groups.ts";
import { chainKinds } from "./kinds.ts";
import type { KubeObject } from "./kube.ts";
import { isUnfinishedAddon } from "./parts/addons.ts";
import { guardKey } from "./parts/guard.ts";

/** Annotation with the composition resource name, which outlives Crossplane's own labels. */
const { resourceName } = crossplaneAnnotations;

/** What remains to be removed. */
export interface Remains {
  /** Everything that exists, the guard aside: composed resources by composition resource name, the chain's objects by kind and name. */
  readonly present: ReadonlyMap<string, KubeObject>;
  readonly groupOf: (key: string) => Group | undefined;
}

/**
 * Everything of the Spoke that still exists. Crossplane forgets a composed resource as soon as it is no longer wanted, long before
 * it is gone, so what it observes is not enough: `labelled` are the objects that carry the spoke's label. The chain's own objects
 * are among them: kustomize-controller stops waiting for them at its timeout, and they need access to the spoke to the end.
 */
export function remains(
  spoke: string,
  observed: ReadonlyMap<string, KubeObject>,
  labelled: readonly KubeObject[],
  groupOf: Remains["groupOf"],
): Remains {
  const present = new Map(observed);
  const chain = new Set<string>();
  for (const object of labelled) {
    if (object.metadata.labels?.[labelKeys.cluster] !== spoke) continue;
    const composed = object.metadata.annotations?.[resourceName];
    if (composed === undefined && !(object.kind in chainKinds)) continue;
    const key = composed ?? `${object.kind} ${object.metadata.name}`;
    present.set(key, object);
    if (composed === undefined) chain.add(key);
  }
  present.delete(guardKey);
  const hasNodes = [...present.keys()].some((key) => groupOf(key) === "nodeGroup");
  const groupNow = (key: string): Group | undefined => {
    if (chain.has(key)) return "bootstrap";
    return hasNodes && isUnfinishedAddon(key, present.get(key)) ? "pendingAddons" : groupOf(key);
  };
  return { present, groupOf: groupNow };
}

/** Groups of which something exists. */
function presentGroups({ present, groupOf }: Remains): ReadonlySet<Group> {
  return new Set([...present.keys()].map(groupOf).filter((group) => group !== undefined));
}

/** Groups that may be removed now: they exist, and everything that must be gone before them is gone. */
export function removable(remains: Remains): readonly Group[] {
  const existing = presentGroups(remains);
  return (Object.keys(groups) as Group[]).filter(
    (group) => existing.has(group) && ![...holders(group)].some((holder) => existing.has(holder)),
  );
}

/**
 * What stays wanted during a removal: what exists, is not being deleted and may not be removed yet. The only new resource is the admin policy
 * of Flux on the hub, without which the chain could not remove what it installed.
 */
export function stillWanted(entries: ReadonlyMap<string, Entry>, remains: Remains): ReadonlyMap<string, Entry> {
  const turn = new Set(removable(remains));
  const chainExists = presentGroups(remains).has("bootstrap");
  const stays = ([key, entry]: [string, Entry]) => {
    const group = remains.groupOf(key) ?? entry.group;
    if (turn.has(group)) return false;
    const object = remains.present.get(key);
    if (object === undefined) return group === "hubAdmin" && chainExists;
    // What is being deleted would be made once more if it were gone by the time Crossplane applies it.
    return object.metadata.deletionTimestamp === undefined;
  };
  return new Map([...entries].filter(stays));
}
