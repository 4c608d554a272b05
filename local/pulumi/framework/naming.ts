/** Names that a provider makes up when the program gives none. */

/** What the engine asks for when a resource has no explicit name. */
export interface Autonaming {
  readonly mode: "propose" | "enforce" | "disable";
  /** The name from the project's autonaming configuration. */
  readonly proposed: string;
}

/** Where an automatic name comes from. */
export interface NameRequest {
  /** Logical name of the resource. */
  readonly name: string;
  readonly urn: string;
  /** Random bytes that the engine keeps for one update, so that a preview and its update agree. */
  readonly seed: Uint8Array;
  readonly autonaming: Autonaming | undefined;
}

/** Length of the random suffix, as in Pulumi's own providers. */
const SUFFIX_LENGTH = 7;

/**
 * The logical name plus a random suffix, cut to `maxLength` characters; with autonaming configured, the proposed name.
 * @throws when autonaming is switched off or the enforced name is too long.
 */
export function autoname(request: NameRequest, maxLength: number, separator = "-"): string {
  const configured = request.autonaming;
  if (configured?.mode === "disable")
    throw new Error(`${request.urn}: automatic naming is switched off for this resource: give it an explicit name`);
  if (configured) {
    if (configured.proposed.length <= maxLength) return configured.proposed;
    throw new Error(
      `${request.urn}: the configured name '${configured.proposed}' has ${configured.proposed.length} characters, allowed are ${maxLength}: give the resource an explicit name`,
    );
  }
  const suffix = separator + suffixOf(request.seed);
  return request.name.slice(0, maxLength - suffix.length) + suffix;
}

function suffixOf(seed: Uint8Array): string {
  const bytes = seed.length > 0 ? seed : crypto.getRandomValues(new Uint8Array(SUFFIX_LENGTH));
  return Buffer.from(bytes).toString("hex").slice(0, SUFFIX_LENGTH);
}
