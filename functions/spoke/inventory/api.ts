import { CustomObjectsApi, type KubeConfig, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { clientOf, everyItem, reasonOf } from "../../../lib/kube-client.ts";
import { group } from "../../../lib/labels.ts";
import { namespaces } from "../../../lib/names.ts";
import type { Spoke } from "../api.ts";
import type { KubeObject } from "../kube.ts";
import { type ClusterProfile, profileApi } from "./profile.ts";

/** All that the program asks of the hub's API server; its Roles (platform/hub/cluster-inventory/release/rbac.yaml) permit this and no more. */
export interface InventoryApi {
  readonly spokes: () => Promise<Spoke[]>;
  readonly profiles: () => Promise<ClusterProfile[]>;
  /** Writes labels and specification. @returns the profile as it is now */
  readonly apply: (profile: ClusterProfile) => Promise<KubeObject>;
  readonly applyStatus: (profile: ClusterProfile) => Promise<KubeObject>;
  readonly remove: (name: string) => Promise<void>;
}

/** Who owns the fields that are written. */
const fieldManager = "cluster-inventory";

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
}

const serverSide = setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply);

async function explained<T>(what: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new Error(`can't ${what}: ${reasonOf(error)}`, { cause: error });
  }
}

/** @param namespace of the profiles @param signal ends every request */
export function inventoryApi(config: KubeConfig, namespace: string, signal: AbortSignal): InventoryApi {
  const objects = clientOf(CustomObjectsApi, config, signal);
  const profiles = { ...profileApi, namespace };

  const list = <Item>(kind: Kind): Promise<Item[]> =>
    explained(
      `list ${kind.plural} in ${kind.namespace}`,
      everyItem((request) => objects.listNamespacedCustomObject({ ...kind, ...request })),
    );

  /** Fields that the definition does not know are an error, and nobody else's value stays. */
  const request = ({ metadata: { name } }: ClusterProfile, body: object) => ({
    ...{ ...profiles, name, body, fieldManager },
    ...{ force: true, fieldValidation: "Strict" },
  });

  return {
    spokes: () => list({ group, version: "v1alpha1", plural: "spokes", namespace: namespaces.spokes }),
    profiles: () => list(profiles),
    apply: ({ status: _, ...profile }) =>
      explained(
        `apply the profile ${profile.metadata.name}`,
        objects.patchNamespacedCustomObject(request(profile, profile), serverSide),
      ),
    applyStatus: (profile) => {
      const { apiVersion, kind, metadata, status } = profile;
      const body = { apiVersion, kind, metadata: { name: metadata.name }, status };
      return explained(
        `apply the status of the profile ${metadata.name}`,
        objects.patchNamespacedCustomObjectStatus(request(profile, body), serverSide),
      );
    },
    remove: async (name) => {
      await explained(`delete the profile ${name}`, objects.deleteNamespacedCustomObject({ ...profiles, name }));
    },
  };
}
