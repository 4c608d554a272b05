import { fleetNames } from "../../lib/names.ts";
import { sealingScope } from "../../lib/spoke.ts";
import type { Spoke } from "./api.ts";
import type { Hub } from "./hub.ts";
import { patchOf } from "./patches.ts";
import { isElsewhere } from "./places.ts";

/** The sealing keys of a spoke in Secrets Manager. */

/** Beginning of the names of the keys of the spoke's scope. */
const prefixOf = ({ metadata, spec }: Spoke, hub: Hub): string =>
  fleetNames(hub.fleet).sealingKeySecret(sealingScope({ ...spec, name: metadata.name }), "");

/** Name of the secret that an ARN is of. */
const nameOf = (arn: string): string => arn.split(":").slice(6).join(":");

/** ARNs of the keys of the spoke's scope. */
export function sealingKeyArns(spoke: Spoke, hub: Hub): readonly string[] {
  return hub.sealingKeyArns.filter((arn) => nameOf(arn).startsWith(prefixOf(spoke, hub)));
}

/**
 * Patches of the ExternalSecrets that bring a spoke its sealing keys: from another account a secret is asked for by its whole ARN, with the six
 * characters at its end that AWS chose (Secrets Manager API Reference, "GetSecretValue"). Git knows names only: sealing-key-<generation> of an
 * environment, and sealing-key-${sealing_scope}-<generation> of a cluster, with the variable as Flux has it when it patches.
 */
export function keyPatches(spoke: Spoke, hub: Hub): object[] {
  if (!isElsewhere(spoke, hub)) return [];
  const prefix = prefixOf(spoke, hub);
  return sealingKeyArns(spoke, hub).map((arn) => {
    const generation = nameOf(arn)
      .slice(prefix.length)
      .replace(/-[^-]{6}$/, "");
    return patchOf(
      { kind: "ExternalSecret", name: `sealing-key-(\\W\\W\\w+\\W-)?${generation}` },
      { op: "replace", path: "/spec/dataFrom/0/extract/key", value: arn },
    );
  });
}
