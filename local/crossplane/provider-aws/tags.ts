/** The tags that upjet puts on every resource that takes tags (upjet, pkg/resource). */
import type { Tags } from "../../aws/handler.ts";
import { crossplaneTagKeys } from "../../aws/tags.ts";
import { apiGroup, type Kind } from "./kind.ts";
import type { Managed } from "./managed.ts";

/** The default tags of an object. */
export function defaultTags(kind: Kind, { metadata, spec }: Managed): Tags {
  return {
    [crossplaneTagKeys.kind]: `${kind.kind.toLowerCase()}.${apiGroup(kind.group)}`,
    [crossplaneTagKeys.name]: metadata.name,
    [crossplaneTagKeys.providerConfig]: spec.providerConfigRef.name,
  };
}
