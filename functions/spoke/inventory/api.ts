import { CustomObjectsApi, type KubeConfig, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { clientOf, everyItem, reasonOf } from "../../../lib/kube-client.ts";
import { group } from "../../../lib/labels.ts";
import { namespaces } from "../../../lib/names.ts";
import type { Spoke } from "../api.ts";
import { type ClusterProfile, profileApi } from "./profile.ts";

/** All that the program asks of the hub's API server; its Roles (platform/hub/cluster-inventory/release/rbac.yaml) permit this and no more. */
export interface InventoryApi {
  readonly spokes: () => Promise<Spoke[]>;
  readonly profiles: () => Promise<ClusterProfile[]>;
  /** Makes a profile, without its status. */
  readonly create: (profile: ClusterProfile) => Promise<void>;
  /** Merges into labels and specification. */
  readonly patch: (name: string, body: object) => Promise<void>;
  readonly patchStatus: (name: string, body: object) => Promise<void>;
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

/** Server-side apply would leave what others add to a list or to an item of one. */
const mergePatch = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

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

  /** Fields that the definition does not know are an error. */
  const write = (body: object) => ({ ...profiles, body, fieldManager, fieldValidation: "Strict" });

  return {
    spokes: () => list({ group, version: "v1alpha1", plural: "spokes", namespace: namespaces.spokes }),
    profiles: () => list(profiles),
    create: async ({ status: _, ...profile }) => {
      const { name } = profile.metadata;
      await explained(`create the profile ${name}`, objects.createNamespacedCustomObject(write(profile)));
    },
    patch: async (name, body) => {
      const request = { ...write(body), name };
      await explained(`patch the profile ${name}`, objects.patchNamespacedCustomObject(request, mergePatch));
    },
    patchStatus: async (name, body) => {
      const request = { ...write(body), name };
      const answer = objects.patchNamespacedCustomObjectStatus(request, mergePatch);
      await explained(`patch the status of the profile ${name}`, answer);
    },
    remove: async (name) => {
      await explained(`delete the profile ${name}`, objects.deleteNamespacedCustomObject({ ...profiles, name }));
    },
  };
}
