/** What a managed resource gets before its first look-up in AWS: name, tags, values of references. */
import type { Tags } from "../../aws/properties.ts";
import { crossplaneTagKeys } from "../../aws/tags.ts";
import { apiGroup, type Kind } from "./kind.ts";
import type { Objects } from "./kube.ts";
import { allows, annotationKeys, externalName, isDeleted, type Managed } from "./managed.ts";
import type { ManagedObject } from "./object.ts";
import { resolved } from "./references.ts";

/** The tags that upjet puts on every resource that takes tags (upjet, pkg/resource). */
const defaultTags = (kind: Kind, { metadata, spec }: Managed): Tags => ({
  [crossplaneTagKeys.kind]: `${kind.kind.toLowerCase()}.${apiGroup(kind.group)}`,
  [crossplaneTagKeys.name]: metadata.name,
  [crossplaneTagKeys.providerConfig]: spec.providerConfigRef.name,
});

/** Writes the external name, where it is the object's own, and the tags that every resource gets. */
export async function initialize(object: ManagedObject, kind: Kind): Promise<void> {
  const { managed } = object;
  const { metadata, spec } = managed;
  const nameless = kind.named !== undefined && externalName(managed) === undefined;
  const tagged = kind.handler.tagged && !isDeleted(managed) && allows(managed, "Update");
  const tags = (spec.forProvider["tags"] ?? {}) as Tags;
  const missing = tagged ? Object.entries(defaultTags(kind, managed)).filter(([key]) => tags[key] === undefined) : [];
  if (!nameless && missing.length === 0) return;
  await object.patchUnchanged({
    ...(nameless && { metadata: { annotations: { [annotationKeys.externalName]: metadata.name } } }),
    ...(missing.length > 0 && { spec: { forProvider: { tags: Object.fromEntries(missing) } } }),
  });
}

/** Writes the values of references. Those of a deleted object stay as they are: the referenced resource may be gone. */
export async function resolve(object: ManagedObject, kind: Kind, objects: Objects): Promise<void> {
  if (isDeleted(object.managed)) return;
  const forProvider = await resolved(objects, kind, object.managed);
  if (forProvider) await object.patchUnchanged({ spec: { forProvider } });
}
