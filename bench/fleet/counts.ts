import { spokeSync } from "../../lib/layout.ts";
import { namespaces } from "../../lib/names.ts";
import type { Change, Seen } from "./changes.ts";

/** The Kustomizations of the hub, by what they apply. */
const parts = ["root", "platform", "spokes", "chains"] as const;
export type Part = (typeof parts)[number];

/** What a Kustomization of the hub applies: the root, a part of the platform, a spoke's folder, a step of a spoke's chain. */
export function partOf({ namespace, name }: Pick<Seen, "name" | "namespace">): Part {
  if (namespace === namespaces.spokes) return "chains";
  if (name === "hub") return "root";
  return name.startsWith(spokeSync("")) ? "spokes" : "platform";
}

/** How many objects of a kind there are, were written to and came to have another revision. */
interface Count {
  readonly all: number;
  readonly written: number;
  readonly changed: number;
}

export interface Counts {
  readonly kustomizations: Readonly<Record<Part, Count>>;
  readonly artifacts: Count;
  readonly generators: Count;
  readonly spokes: Count;
}

const keyOf = ({ kind, namespace, name }: Seen): string => `${kind} ${namespace}/${name}`;

function count(objects: readonly Seen[], before: ReadonlyMap<string, Seen>): Count {
  const differing = (of: "resourceVersion" | "revision") =>
    objects.filter((object) => before.get(keyOf(object))?.[of] !== object[of]).length;
  return { all: objects.length, written: differing("resourceVersion"), changed: differing("revision") };
}

/** What happened between two snapshots. */
export function countsBetween(before: readonly Seen[], after: readonly Seen[]): Counts {
  const known = new Map(before.map((object) => [keyOf(object), object]));
  const ofKind = (kind: string) => after.filter((object) => object.kind === kind);
  const kustomizations = ofKind("Kustomization");
  return {
    kustomizations: Object.fromEntries(
      parts.map((part) => [
        part,
        count(
          kustomizations.filter((object) => partOf(object) === part),
          known,
        ),
      ]),
    ) as Record<Part, Count>,
    artifacts: count(ofKind("ExternalArtifact"), known),
    generators: count(ofKind("ArtifactGenerator"), known),
    spokes: count(ofKind("Spoke"), known),
  };
}

/** The first change from a moment on that is what is looked for; undefined when there is none yet. */
export const firstChange = (
  changes: readonly Change[],
  from: number,
  wanted: (change: Change) => boolean,
): Change | undefined => changes.find((change) => change.at >= from && wanted(change));
