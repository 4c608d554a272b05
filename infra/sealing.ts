import type { SealingKeySecretsArgs } from "../components/sealing-key-secrets.ts";
import type { SealingKeys } from "../components/sealing-keys.ts";
import type { SecretStore } from "../components/secret-store.ts";
import { hubSealingScope } from "../lib/names.ts";

/** The hub's own sealing keys, as its Sealed Secrets takes them; undefined where the stack has none of the scope cluster-hub. */
export function hubSealingKeys(keys: SealingKeys, { storeName }: SecretStore): SealingKeySecretsArgs | undefined {
  const own = Object.entries(keys.secrets(hubSealingScope));
  if (own.length === 0) return undefined;
  return {
    storeName,
    remoteSecrets: Object.fromEntries(own.map(([generation, { secretName }]) => [generation, secretName])),
  };
}
