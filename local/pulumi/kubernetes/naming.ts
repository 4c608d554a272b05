/** Names of objects that the program leaves to the provider. */
import {
  autoname,
  type CheckFailure,
  type CheckRequest,
  isMap,
  type PropertyMap,
  reveal,
  Secret,
  Unknown,
  type Value,
} from "../framework/index.ts";
import { at } from "./readiness.ts";
import type { Session } from "./session.ts";

/** Annotation that says the provider generated the name, as in the official provider. */
const AUTONAMED = "pulumi.com/autonamed";
/** Longest name of an object (RFC 1123 subdomain). */
const MAX_NAME = 253;

/** True when the provider generated the object's name. */
export function isAutonamed(inputs: PropertyMap): boolean {
  return at(reveal(inputs), "metadata", "annotations", AUTONAMED) === "true";
}

/** The inputs with a name: the program's, the one from the last update, or a new one. Unknown metadata stays as it is. */
export function withName(request: CheckRequest<Session>): { inputs: PropertyMap; failures: CheckFailure[] } {
  const { news, olds } = request;
  const metadata = reveal(news["metadata"] ?? {});
  if (metadata instanceof Unknown || !isMap(metadata) || metadata["name"] !== undefined)
    return { inputs: news, failures: [] };
  if (metadata["generateName"] !== undefined) {
    const reason = "server-side apply cannot use it: set metadata.name, or leave both out for an automatic name";
    return { inputs: news, failures: [{ property: "metadata.generateName", reason }] };
  }
  const kept = isAutonamed(olds) ? at(reveal(olds), "metadata", "name") : undefined;
  const name = typeof kept === "string" ? kept : autoname(request, MAX_NAME);
  return { inputs: { ...news, metadata: named(news["metadata"] ?? {}, name) }, failures: [] };
}

function named(metadata: Value, name: string): Value {
  if (metadata instanceof Secret) return new Secret(named(metadata.value, name));
  const map = metadata as PropertyMap;
  const annotations = map["annotations"] ?? {};
  // Annotations that are not known yet cannot be added to; the name then counts as the program's.
  const marked = isMap(annotations) ? { ...annotations, [AUTONAMED]: "true" } : annotations;
  return { ...map, name, annotations: marked };
}
