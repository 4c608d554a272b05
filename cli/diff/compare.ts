import { isDeepStrictEqual } from "node:util";
import { structuredPatch } from "diff";
import { stringify } from "yaml";
import { fromBase64 } from "../../lib/base64.ts";
import { labelKeys } from "../../lib/labels.ts";
import { groupOf, isObject, type Manifest } from "../render/files.ts";
import type { Item } from "./state.ts";
import { isStateful, replacedBy } from "./stateful.ts";

/** The changes of one cluster's objects between two states. */

export const changeOperations = ["created", "changed", "replaced", "deleted"] as const;
type ChangeOperation = (typeof changeOperations)[number];

export interface Change {
  readonly operation: ChangeOperation;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** Cluster in whose API server the object is. */
  readonly on: string;
  /** What applies the object. */
  readonly by: string;
  /** Whether its deletion loses data, or everything that depends on it. */
  readonly stateful: boolean;
  /** Fields that can't be changed in place. */
  readonly because?: readonly string[];
  /** Lines that begin with `+`, `-` or a space. */
  readonly diff?: readonly string[];
}

/** kustomize's annotation with the file of a manifest; it has no effect on a cluster. */
const origin = "config.kubernetes.io/origin";

/** An object without the parts that don't matter for a comparison. */
function essence({ status: _, ...manifest }: Manifest): Manifest {
  const { annotations, labels, ...metadata } = manifest.metadata;
  const kept = Object.entries(annotations ?? {}).filter(([name]) => name !== origin);
  return {
    ...manifest,
    metadata: {
      ...metadata,
      ...(kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {}),
      ...(labels && Object.keys(labels).length > 0 ? { labels } : {}),
    },
  } as Manifest;
}

/** The GitOps bridge of a cluster is a Secret without anything secret in it. */
const isBridge = ({ metadata }: Manifest, by: string) =>
  by === "the Composition" && metadata.labels?.[labelKeys.role] !== undefined;

const hidden = "(not shown)";
const hiddenOther = "(not shown, another value)";

function masked(manifest: Manifest, other: Manifest | undefined): Manifest {
  const values = (field: "data" | "stringData") => {
    const own = manifest[field] as unknown;
    if (!isObject(own)) return {};
    const before = (other?.[field] ?? {}) as Record<string, unknown>;
    const shown = Object.entries(own).map(([key, value]) => [
      key,
      other === undefined || before[key] === undefined || before[key] === value ? hidden : hiddenOther,
    ]);
    return { [field]: Object.fromEntries(shown) };
  };
  return { ...manifest, ...values("data"), ...values("stringData") };
}

/** An object as it may be shown: without the values of a Secret, except for the bridge. */
function shown({ manifest, by }: Item, other?: Manifest): Manifest {
  const plain = essence(manifest);
  if (manifest.kind !== "Secret" || groupOf(manifest) !== "") return plain;
  return isBridge(manifest, by) ? { ...plain, data: fromBase64(manifest["data"] ?? {}) } : masked(plain, other);
}

const yaml = (manifest: Manifest): string =>
  stringify(manifest, { sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false });

function diffOf(before: Item, after: Item): string[] {
  const texts = [yaml(shown(before)), yaml(shown(after, before.manifest))] as const;
  const { hunks } = structuredPatch("", "", ...texts, undefined, undefined, { context: 2 });
  return hunks
    .flatMap(({ lines }, index) => (index === 0 ? lines : ["…", ...lines]))
    .filter((line) => !line.startsWith("\\"));
}

function described(operation: ChangeOperation, { manifest, on, by }: Item): Omit<Change, "because" | "diff"> {
  const { namespace, name } = manifest.metadata;
  return {
    operation,
    apiVersion: manifest.apiVersion,
    kind: manifest.kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    on,
    by,
    stateful: isStateful(manifest),
  };
}

function changed(before: Item, after: Item): Change[] {
  if (isDeepStrictEqual(essence(before.manifest), essence(after.manifest))) return [];
  const because = before.id === after.id ? replacedBy(before.manifest, after.manifest) : ["metadata.name"];
  return [
    {
      ...described(because.length > 0 ? "replaced" : "changed", after),
      ...(because.length > 0 ? { because } : {}),
      diff: diffOf(before, after),
    },
  ];
}

const order = (change: Change): string =>
  [
    change.stateful && ["deleted", "replaced"].includes(change.operation) ? 0 : 1,
    ["deleted", "replaced", "changed", "created"].indexOf(change.operation),
    change.kind,
    change.namespace ?? "",
    change.name,
  ].join(" ");

/** Replaced or deleted stateful objects first, then other deletions, then the rest. */
export const sorted = (changes: readonly Change[]): Change[] =>
  changes.toSorted((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));

/** The changes from the objects `before` to those `after`. */
export function compare(before: readonly Item[], after: readonly Item[]): Change[] {
  const [old, fresh] = [new Map(before.map((item) => [item.id, item])), new Map(after.map((item) => [item.id, item]))];
  const gone = before.filter(({ id }) => !fresh.has(id));
  const come = after.filter(({ id }) => !old.has(id));
  // For the Composition a composed resource with another name is still the same one, so this is a replacement.
  const renamed = new Map(
    gone.flatMap((item) => {
      const other = come.find(
        ({ key, manifest }) => key !== undefined && key === item.key && manifest.kind === item.manifest.kind,
      );
      return other ? [[item, other] as const] : [];
    }),
  );
  const renewed = new Set(renamed.values());
  return sorted([
    ...[...old].flatMap(([id, item]) => {
      const other = fresh.get(id) ?? renamed.get(item);
      return other ? changed(item, other) : [described("deleted", item)];
    }),
    ...[...fresh.values()]
      .filter((item) => !old.has(item.id) && !renewed.has(item))
      .map((item) => described("created", item)),
  ]);
}
