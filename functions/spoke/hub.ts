import { fromBase64 } from "../../lib/base64.ts";
import { type ClusterMetadata, clusterSecretName, readBridgeData } from "../../lib/bridge.ts";
import { hubName, namespaces } from "../../lib/names.ts";
import type { KubeObject } from "./kube.ts";

/** What the hub's cluster secret says about the hub and the fleet. */
export type Hub = ClusterMetadata;

export const hubSecret = { name: clusterSecretName(hubName), namespace: namespaces.flux } as const;

/** @throws RangeError when the secret is not there or lacks a key of the bridge contract. */
export function readHub(secret: KubeObject | undefined): Hub {
  const where = `Secret ${hubSecret.namespace}/${hubSecret.name}`;
  if (secret === undefined) {
    throw new RangeError(
      `${where} is missing: Crossplane reads the facts of the hub from it; run pulumi up, which writes it`,
    );
  }
  try {
    return readBridgeData(fromBase64(secret.data ?? {}));
  } catch (error) {
    throw new RangeError(`${where}: ${(error as Error).message}`, { cause: error });
  }
}
