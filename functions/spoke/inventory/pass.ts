import type { InventoryApi } from "./api.ts";
import { changes } from "./changes.ts";
import { clusterOfHub, clusterOfSpoke, type HubFacts } from "./cluster.ts";
import { managerOf, profileOf } from "./profile.ts";

/** What one look at the fleet did. */
export interface Outcome {
  /** Lines for people; none where everything was as it should be. */
  readonly done: readonly string[];
  /** What failed, without keeping the rest from being done. */
  readonly failed: readonly string[];
}

interface Question {
  readonly api: InventoryApi;
  readonly hub: HubFacts;
  /** Of the hub's API server: PEM in base64. */
  readonly certificateAuthority: string;
  readonly now: Date;
}

/** Brings the profiles into line with the hub and its Spokes. @throws when it can't read them: nothing is written or removed then */
export async function pass({ api, hub, certificateAuthority, now }: Question): Promise<Outcome> {
  const { fleet } = hub;
  const [spokes, profiles] = await Promise.all([api.spokes(), api.profiles()]);
  const found = new Map(profiles.map((profile) => [profile.metadata.name, profile]));
  const ofSpokes = spokes.map((spoke) => clusterOfSpoke(spoke, fleet, found.get(spoke.metadata.name)));
  const clusters = [clusterOfHub(hub, certificateAuthority), ...ofSpokes];
  const wanted = clusters.map((cluster) => profileOf(cluster, fleet, found.get(cluster.name), now));
  const { create, patch, status, remove } = changes(wanted, found, managerOf(fleet));

  const done: string[] = [];
  const failed: string[] = [];
  const refused = new Set<string>();
  const attempt = async (name: string, what: string, write: () => Promise<void>) => {
    // Labels and specification are refused where another cluster manager has a profile of the name: its status is not ours either.
    if (refused.has(name)) return;
    try {
      await write();
      done.push(`${name}: ${what}`);
    } catch (error) {
      refused.add(name);
      failed.push((error as Error).message);
    }
  };
  for (const profile of create) await attempt(profile.metadata.name, "created", () => api.create(profile));
  for (const { name, body } of patch) await attempt(name, "labels and specification", () => api.patch(name, body));
  for (const { name, body } of status) await attempt(name, "status", () => api.patchStatus(name, body));
  for (const name of remove) await attempt(name, "removed", () => api.remove(name));
  return { done, failed };
}
