import type { Tags } from "./properties.ts";

/** Tags as most APIs write them: a list of keys and values. */
export interface TagPair {
  Key: string;
  Value: string;
}

export const tagPairs = (tags: Tags | undefined): TagPair[] =>
  Object.entries(tags ?? {}).map(([Key, Value]) => ({ Key, Value }));

/** Tags from AWS without the ones that AWS itself owns (`aws:…`). */
export function tagsFrom(pairs: readonly { Key?: string | undefined; Value?: string | undefined }[] | undefined): Tags {
  return ownTags(Object.fromEntries((pairs ?? []).map(({ Key, Value }) => [Key ?? "", Value ?? ""])));
}

export function ownTags(tags: Record<string, string> | undefined): Tags {
  return Object.fromEntries(Object.entries(tags ?? {}).filter(([key]) => !key.startsWith("aws:")));
}

/** What has to be set and removed to come from one set of tags to another. */
export function tagChanges(from: Tags = {}, to: Tags = {}): { set: Tags; remove: string[] } {
  return {
    set: Object.fromEntries(Object.entries(to).filter(([key, value]) => from[key] !== value)),
    remove: Object.keys(from).filter((key) => !(key in to)),
  };
}

/** The tags that upjet puts on every resource that takes tags (upjet, pkg/resource). */
export const crossplaneTagKeys = {
  kind: "crossplane-kind",
  name: "crossplane-name",
  providerConfig: "crossplane-providerconfig",
} as const;
