import { existingIds, numberedResources } from "../../functions/spoke/existing.ts";
import { condition, type KubeObject } from "../../functions/spoke/kube.ts";
import { resources } from "../../functions/spoke/resources.ts";
import { crossplaneAnnotations } from "../../lib/labels.ts";
import { type Recognized, shown } from "../adopt/recognize.ts";

/** How interrupted creations ended. */

const { externalName, resourceName, createPending, createSucceeded, createFailed } = crossplaneAnnotations;

/** A managed resource whose creation was interrupted. */
interface Interrupted {
  readonly object: KubeObject;
}

export interface Plan {
  /** AWS has it, and the object does not know. */
  readonly found: readonly (Interrupted & { readonly id: string })[];
  /** Crossplane may make it: AWS has none, or finds it again by the name that the object gives it. */
  readonly again: readonly Interrupted[];
  /** AWS has several that it could be. */
  readonly several: readonly (Interrupted & { readonly ids: readonly string[] })[];
  /** AWS failed to make it, and has it still; `others` may be why, with what it can't share. */
  readonly failed: readonly (Interrupted & {
    readonly id: string;
    readonly why: string;
    readonly others: readonly string[];
  })[];
  /** What it would be found by, the cluster or a subnet, is not there. */
  readonly unknown: readonly Interrupted[];
  /** IDs of what was made twice. */
  readonly left: readonly string[];
}

const annotation = ({ metadata }: KubeObject, name: string): string | undefined => metadata.annotations?.[name];
const time = (text: string | undefined): number => (text === undefined ? 0 : Date.parse(text));

/** As crossplane-runtime decides (pkg/meta, ExternalCreateIncomplete): nothing says how the last creation ended. */
function isIncomplete(object: KubeObject): boolean {
  const ended = [createSucceeded, createFailed].map((name) => time(annotation(object, name)));
  return time(annotation(object, createPending)) > Math.max(...ended);
}

/** Whether Crossplane tries to make what it knows no ID of, and fails: AWS may have it already. */
const isStuck = (object: KubeObject): boolean =>
  annotation(object, createPending) !== undefined &&
  annotation(object, externalName) === undefined &&
  condition(object, "Synced")?.status === "False";

/** Kinds that AWS numbers and that are found by the cluster that uses them. */
const byCluster: readonly string[] = ["OpenIDConnectProvider", "PodIdentityAssociation", "SecurityGroupIngressRule"];
/** Kinds that AWS numbers: a node group has a name. */
const numberedKinds = new Set(
  [...byCluster, ...Object.values(numberedResources).map(({ kind }) => kind)].filter((kind) => kind !== "NodeGroup"),
);

/** Whether that is missing by which a resource of this kind would be found. */
function isHidden({ kind }: KubeObject, key: string, { existing, missing }: Recognized): boolean {
  if (byCluster.includes(kind)) return missing.includes(resources.cluster.key);
  return kind === "RouteTableAssociation" && existing[key.replace("association", "subnet")] === undefined;
}

/** What carries the spoke's tags, is no part of it as Git describes it, and is no managed resource either, such as what is on its way out. */
function unmanaged(objects: readonly KubeObject[], { left }: Recognized): string[] {
  const managed = new Set(objects.flatMap((object) => annotation(object, externalName) ?? []));
  return left.filter((each) => !managed.has(each.replace(/^(node group|key) /, "")));
}

/**
 * Decides what Crossplane is told.
 * @param objects the managed resources of one spoke on the hub
 * @param recognized what AWS has of the spoke
 */
export function planOf(objects: readonly KubeObject[], recognized: Recognized): Plan {
  const ids = existingIds({ spec: { existing: recognized.existing } as never });
  const candidates = (key: string): readonly string[] =>
    recognized.ambiguous.get(key) ?? [ids.get(key)].filter((id) => id !== undefined);
  const left = unmanaged(objects, recognized);
  const plan = { found: [], again: [], several: [], failed: [], unknown: [], left } as {
    -readonly [Field in keyof Plan]: Plan[Field][number][];
  };
  for (const object of objects) {
    const key = annotation(object, resourceName) ?? "";
    const name = annotation(object, externalName);
    const isNumbered = numberedKinds.has(object.kind);
    const inAws = isNumbered ? candidates(key) : [];
    const [id] = inAws;
    const why = recognized.failed.get(name ?? "");
    if (name !== undefined && why !== undefined) plan.failed.push({ object, id: name, why, others: inAws });
    else if (!isIncomplete(object) && !isStuck(object)) {
      if (name === undefined || !inAws.includes(name)) continue;
      plan.left.push(...inAws.filter((each) => each !== name).map((each) => shown(object.kind, each)));
    } else if (inAws.length > 1) plan.several.push({ object, ids: inAws });
    else if (id !== undefined) plan.found.push({ object, id });
    else if (!isIncomplete(object)) continue;
    else if (isNumbered && isHidden(object, key, recognized)) plan.unknown.push({ object });
    else plan.again.push({ object });
  }
  return plan;
}
