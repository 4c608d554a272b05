/** The tags that upjet puts on every resource that takes tags (upjet, pkg/resource). */
import type { Tags } from "../../aws/handler.ts";
import { apiGroup, type Kind } from "./kind.ts";
import type { Managed } from "./managed.ts";

export const defaultTagKeys = {
  kind: "crossplane-kind",
  name: "crossplane-name",
  providerConfig: "crossplane-providerconfig",
} as const;

/** Those of an object. */
export function defaultTags(kind: Kind, { metadata, spec }: Managed): Tags {
  return {
    [defaultTagKeys.kind]: `${kind.kind.toLowerCase()}.${apiGroup(kind.group)}`,
    [defaultTagKeys.name]: metadata.name,
    [defaultTagKeys.providerConfig]: spec.providerConfigRef.name,
  };
}
