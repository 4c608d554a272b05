/** The provider's own configuration: check, diff and decoding. */
import { type CheckFailure, checkInputs } from "./accepts.ts";
import { type Diff, diffInputs } from "./diff.ts";
import type { ProviderDefinition } from "./provider.ts";
import type { ResourceShape } from "./shape.ts";
import { type PropertyMap, Secret, type Value } from "./values.ts";
import { decodeValue } from "./wire.ts";

/** Keys that the engine adds to every provider's inputs for its own use. */
const ENGINE_KEYS = ["version", "pluginDownloadURL", "pluginChecksums", "parameterization", "__internal"];

/**
 * The configuration with JSON-encoded values decoded (SDKs send everything but strings so) and the engine's own keys left out.
 * A text that is not JSON stays a string, as when it comes from the stack's configuration.
 * @param shape of the provider's class.
 */
export function decodeConfig({ json }: Pick<ResourceShape, "json">, config: PropertyMap): PropertyMap {
  const entries = Object.entries(config).filter(([key, value]) => !ENGINE_KEYS.includes(key) && value !== null);
  return Object.fromEntries(entries.map(([key, value]) => [key, json.includes(key) ? decodeJson(value) : value]));
}

function decodeJson(value: Value): Value {
  if (value instanceof Secret) return new Secret(decodeJson(value.value));
  if (typeof value !== "string") return value;
  try {
    return decodeValue(JSON.parse(value));
  } catch {
    // A plain string in the stack's configuration is allowed for any key: the check of its members refuses it where it is wrong.
    return value;
  }
}

/** Every mistake in the provider's configuration. */
export function checkConfig<S>(provider: ProviderDefinition<S>, config: PropertyMap): readonly CheckFailure[] {
  const shape = provider.sdk.provider();
  const decoded = decodeConfig(shape, config);
  const failures = checkInputs(shape, provider.accepts ?? [], decoded);
  return failures.length > 0 ? failures : (provider.checkConfig?.(decoded) ?? []);
}

/** What a change of the configuration means for the provider's resources. */
export function diffConfig<S>(provider: ProviderDefinition<S>, before: PropertyMap, after: PropertyMap): Diff {
  const shape = provider.sdk.provider();
  const [olds, news] = [decodeConfig(shape, before), decodeConfig(shape, after)];
  return diffInputs(olds, news, { replaceOn: [] });
}
