import {
  ApiException,
  CustomObjectsApi,
  type KubeConfig,
  PatchStrategy,
  setHeaderOptions,
} from "@kubernetes/client-node";
import { clientOf, messageOf } from "../../../lib/kube-client.ts";
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

/** Objects in one answer: a Spoke has some kilobytes. */
const PAGE = 250;

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly metadata?: { readonly continue?: string };
}

const serverSide = setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply);

/** An error in one line: the client's own text has all headers of the answer. */
async function explained<T>(what: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const said = error instanceof ApiException ? `${error.code} ${messageOf(error.body)}` : (error as Error).message;
    throw new Error(`can't ${what}: ${said}`, { cause: error });
  }
}

/** @param namespace of the profiles @param signal ends every request */
export function inventoryApi(config: KubeConfig, namespace: string, signal: AbortSignal): InventoryApi {
  const objects = clientOf(CustomObjectsApi, config, signal);
  const profiles = { ...profileApi, namespace };

  async function list<Item>(kind: Kind): Promise<Item[]> {
    const found: Item[] = [];
    let _continue = "";
    do {
      const request = { ...kind, limit: PAGE, ...(_continue === "" ? {} : { _continue }) };
      const page: Page<Item> = await explained(
        `list ${kind.plural} in ${kind.namespace}`,
        objects.listNamespacedCustomObject(request),
      );
      found.push(...page.items);
      _continue = page.metadata?.continue ?? "";
    } while (_continue !== "");
    return found;
  }

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
