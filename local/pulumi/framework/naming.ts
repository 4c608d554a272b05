/** Names that a provider makes up when the program gives none. */

/** Where an automatic name comes from. */
export interface NameRequest {
  /** Logical name of the resource. */
  readonly name: string;
  /** Random bytes that the engine keeps for one update, so that a preview and its update agree. */
  readonly seed: Uint8Array;
}

/** Length of the random suffix, as in Pulumi's own providers. */
const SUFFIX_LENGTH = 7;

/** The logical name plus a random suffix, cut to `maxLength` characters. */
export function autoname({ name, seed }: NameRequest, maxLength: number, separator = "-"): string {
  const bytes = seed.length > 0 ? seed : crypto.getRandomValues(new Uint8Array(SUFFIX_LENGTH));
  const suffix = separator + Buffer.from(bytes).toString("hex").slice(0, SUFFIX_LENGTH);
  return name.slice(0, maxLength - suffix.length) + suffix;
}
