/** Functions of a package (invokes). */
import { status } from "@grpc/grpc-js";
import type { CheckFailure } from "./accepts.ts";
import { ProviderError } from "./errors.ts";
import type { Log, ProviderDefinition } from "./provider.ts";
import { mirrorSecrets } from "./secrets.ts";
import { type PropertyMap, plainMap } from "./values.ts";

/**
 * Calls a function. Wrong arguments come back as failures; results of the same name as a secret argument are secret.
 * @throws {ProviderError} UNIMPLEMENTED for an unknown function, with those that are implemented.
 */
export async function callFunction<S>(
  provider: ProviderDefinition<S>,
  token: string,
  args: PropertyMap,
  context: { session: S; preview: boolean; signal: AbortSignal; log: Log },
): Promise<{ outputs: PropertyMap | undefined; failures: readonly CheckFailure[] }> {
  const definition = provider.functions?.[token];
  if (!definition) {
    const known = Object.keys(provider.functions ?? {}).join(", ") || "none";
    const message = `the stand-in provider ${provider.name} ${provider.version} does not implement the function ${token}; implemented: ${known}`;
    throw new ProviderError(status.UNIMPLEMENTED, message);
  }
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
  const allowed = definition.arguments.join(", ") || "none";
  const unknown = Object.keys(given)
    .filter((name) => !definition.arguments.includes(name))
    .map((property) => ({ property, reason: `${token} does not take '${property}' here; allowed: ${allowed}` }));
  const missing = (definition.required ?? [])
    .filter((name) => given[name] === undefined)
    .map((property) => ({ property, reason: `${token} needs the argument '${property}', which is missing` }));
  const failures = [...unknown, ...missing];
  if (failures.length > 0) return { outputs: undefined, failures };
  const outputs = await definition.call({ ...context, args: plainMap(given) });
  return { outputs: mirrorSecrets(outputs, given), failures };
}
