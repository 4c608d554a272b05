/** Names that a provider makes up when the program gives none. */
import { status } from "@grpc/grpc-js";
import { ProviderError } from "./errors.ts";

/** Where an automatic name comes from. */
export interface NameRequest {
  /** Logical name of the resource. */
  readonly name: string;
  /** Random bytes that the engine keeps for one update, so that a preview and its update agree. */
  readonly seed: Uint8Array;
  /** True when the project's or stack's `pulumi:autonaming` says how the resource is to be named. */
  readonly configured: boolean;
}

/** Length of the random suffix, as in Pulumi's own providers. */
const SUFFIX_LENGTH = 7;

/**
 * The logical name plus a random suffix, cut to `maxLength` characters.
 * @throws {ProviderError} when `pulumi:autonaming` says otherwise: the engine would pass over it in silence for a provider that does not
 * claim to follow it.
 */
export function autoname({ name, seed, configured }: NameRequest, maxLength: number, separator = "-"): string {
  if (configured)
    throw new ProviderError(
      status.UNIMPLEMENTED,
      `the stand-in providers do not implement pulumi:autonaming, which is configured for ${name}: give the resource an explicit name, remove the configuration, or use the official plugin (FLEET_PULUMI_PLUGINS=official)`,
    );
  const bytes = seed.length > 0 ? seed : crypto.getRandomValues(new Uint8Array(SUFFIX_LENGTH));
  const suffix = separator + Buffer.from(bytes).toString("hex").slice(0, SUFFIX_LENGTH);
  return name.slice(0, maxLength - suffix.length) + suffix;
}
