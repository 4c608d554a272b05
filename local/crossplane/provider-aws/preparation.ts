/** What a managed resource gets before its resource in AWS is looked at: name, tags, values of references. */
import type { Kind } from "./kind.ts";
import { allows, annotationKeys, externalName, isDeleted } from "./managed.ts";
import type { ManagedObject } from "./object.ts";
import { type Resolver, resolveReferences } from "./references.ts";
import { defaultTags } from "./tags.ts";

/** Writes the external name, where it is the object's own, and the tags that every resource gets. */
export async function initialize(object: ManagedObject, kind: Kind, skipDefaultTags: boolean): Promise<void> {
  const { managed } = object;
  const { metadata, spec } = managed;
  const nameless = kind.externalName.kind === "name" && externalName(managed) === undefined;
  const tagged = kind.handler.tagged && !skipDefaultTags && !isDeleted(managed) && allows(managed, "Update");
  const tags = (spec.forProvider["tags"] ?? {}) as Readonly<Record<string, string>>;
  const missing = tagged ? Object.entries(defaultTags(kind, managed)).filter(([key]) => tags[key] === undefined) : [];
  if (!nameless && missing.length === 0) return;
  await object.patchUnchanged({
    ...(nameless && { metadata: { annotations: { [annotationKeys.externalName]: metadata.name } } }),
    ...(missing.length > 0 && { spec: { forProvider: { tags: Object.fromEntries(missing) } } }),
  });
}

/** Writes the values of references. Those of a deleted object stay as they are: what it refers to may be gone. */
export async function resolve(object: ManagedObject, kind: Kind, resolver: Resolver): Promise<void> {
  if (isDeleted(object.managed)) return;
  const changes = await resolveReferences(resolver, kind.fields, object.managed);
  if (changes) await object.patchUnchanged({ spec: changes });
}
