import type { KubeObject } from "../kube.ts";
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
  const clusters = [clusterOfHub(hub, certificateAuthority), ...spokes.map((spoke) => clusterOfSpoke(spoke, fleet))];
  const wanted = clusters.map((cluster) => profileOf(cluster, fleet, found.get(cluster.name), now));
  const { apply, status, remove } = changes(wanted, found, managerOf(fleet));

  const done: string[] = [];
  const failed: string[] = [];
  const versions = new Map(profiles.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  const attempt = async (name: string, what: string, write: () => Promise<KubeObject | undefined>) => {
    try {
      const version = (await write())?.metadata.resourceVersion;
      // Applying what others have added to changes nothing, and is no news.
      if (version === undefined || version !== versions.get(name)) done.push(`${name}: ${what}`);
      versions.set(name, version);
    } catch (error) {
      failed.push((error as Error).message);
    }
  };
  for (const profile of apply)
    await attempt(profile.metadata.name, "labels and specification", () => api.apply(profile));
  for (const profile of status) await attempt(profile.metadata.name, "status", () => api.applyStatus(profile));
  for (const name of remove)
    await attempt(name, "removed", async () => {
      await api.remove(name);
      return undefined;
    });
  return { done, failed };
}
