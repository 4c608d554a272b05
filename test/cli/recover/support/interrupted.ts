import type { KubeObject } from "../../../../functions/spoke/kube.ts";
import { textAt } from "../../../../functions/spoke/kube.ts";
import type { World } from "../../../functions/spoke/support/world.ts";

/** Managed resources of a simulated spoke, some of them interrupted in their creation. */

type Annotations = Readonly<Record<string, string>>;

const pending = { "crossplane.io/external-create-pending": "2026-11-26T00:00:00Z" };
const inTime = { ...pending, "crossplane.io/external-create-succeeded": "2026-11-26T00:00:00Z" };
const failed = [
  { type: "Synced", status: "False", reason: "ReconcileError", message: "create failed: it is there already" },
];

export function interruptedIn(world: World) {
  const idOf = (object: KubeObject) => textAt(object.status, "atProvider", "id") ?? "";
  const known = (key: string): string => idOf((world.live.get(key) as { object: KubeObject }).object);
  return {
    /** The annotations of a creation whose result nobody noted. */
    begun: pending,
    /** Those of a creation that the provider repeats, and fails in. */
    failing: inTime,
    /** The ID that AWS gave. */
    known,
    /** The objects on the hub; those that are named have these annotations and no others. */
    objectsWith: (changes: Readonly<Record<string, Annotations>>): KubeObject[] =>
      [...world.live].map(([key, { object }]) => {
        const own = { "crossplane.io/composition-resource-name": key };
        const usual = { ...inTime, "crossplane.io/external-name": idOf(object) };
        const change = changes[key];
        return {
          ...object,
          metadata: { ...object.metadata, annotations: { ...own, ...(change ?? usual) } },
          ...(change === inTime && { status: { conditions: failed } }),
        } as KubeObject;
      }),
  };
}
