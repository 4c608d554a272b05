import { labelKeys } from "../../lib/labels.ts";
import type { Entry } from "./composer.ts";
import { type Group, groups, holders } from "./groups.ts";
import type { KubeObject } from "./kube.ts";
import { guardKey } from "./parts/guard.ts";

/** Annotation with the composition resource name, which outlives Crossplane's own labels. */
const resourceName = "crossplane.io/composition-resource-name";

/** What there is still to remove. */
export interface Remains {
  /** Composition resource names of everything that exists, the guard aside. */
  readonly present: ReadonlyMap<string, KubeObject>;
  readonly groupOf: (key: string) => Group | undefined;
}

/**
 * Everything of the Spoke that still exists. Crossplane forgets a composed resource as soon as it is no longer wanted, long before
 * it is gone, so what it observes is not enough: `labelled` are the objects that carry the spoke's label.
 */
export function remains(
  spoke: string,
  observed: ReadonlyMap<string, KubeObject>,
  labelled: readonly KubeObject[],
  groupOf: Remains["groupOf"],
): Remains {
  const present = new Map(observed);
  for (const object of labelled) {
    const key = object.metadata.annotations?.[resourceName];
    if (key !== undefined && object.metadata.labels?.[labelKeys.cluster] === spoke) present.set(key, object);
  }
  present.delete(guardKey);
  return { present, groupOf };
}

/** Groups of which something exists. */
function presentGroups({ present, groupOf }: Remains): ReadonlySet<Group> {
  return new Set([...present.keys()].map(groupOf).filter((group) => group !== undefined));
}

/** Groups whose turn it is: they exist, and everything that must be gone before them is gone. */
export function removable(remains: Remains): readonly Group[] {
  const existing = presentGroups(remains);
  return (Object.keys(groups) as Group[]).filter(
    (group) => existing.has(group) && ![...holders(group)].some((holder) => existing.has(holder)),
  );
}

/** What stays wanted during a removal: what exists and whose turn has not come. Nothing new is made. */
export function stillWanted(entries: ReadonlyMap<string, Entry>, remains: Remains): ReadonlyMap<string, Entry> {
  const turn = new Set(removable(remains));
  return new Map([...entries].filter(([key, { group }]) => remains.present.has(key) && !turn.has(group)));
}
