import type { Spoke } from "../../functions/spoke/api.ts";
import { chainKinds } from "../../functions/spoke/kinds.ts";
import type { ClusterAccess } from "../../lib/kubeconfig.ts";
import { type Api, kindsOf, listed } from "../kubernetes/api.ts";
import { ask } from "../kubernetes/ask.ts";
import type { Fleet } from "../kubernetes/fleet.ts";
import type { Reach } from "../kubernetes/reach.ts";
import { accessOf, clusterKind } from "../kubernetes/spokes.ts";
import { type Look, type Row, rowOf } from "./rows.ts";

/** What brings applications to a spoke. */
const fluxKinds = kindsOf(chainKinds);

interface Patience {
  /** Milliseconds that a spoke may take. */
  readonly deadline: number;
  /** Spokes that are asked at the same time. */
  readonly atOnce: number;
}

const patience: Patience = { deadline: 5000, atOnce: 50 };

/** Does something with each item, some at the same time; the results in the order of the items. */
async function each<Item, Result>(items: readonly Item[], atOnce: number, work: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  const rest = items.entries();
  const worker = async () => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

/** What a spoke says itself. Before it has an API server, its Spoke says what is in the way. */
async function lookAt(spoke: Spoke, access: ClusterAccess | string, reach: Reach, deadline: number): Promise<Look> {
  if (typeof access === "string") return {};
  const flux = async (api: Api) => (await Promise.all(fluxKinds.map((kind) => listed(api, kind)))).flat();
  try {
    return { objects: await ask(reach, [spoke.metadata.name, access], flux, deadline) };
  } catch (error) {
    return { unreached: (error as Error).message };
  }
}

/** What each of these Spokes says itself, in their order. @param told hears of each as soon as it is known */
export async function looks(
  { hub, reach }: Fleet,
  spokes: readonly Spoke[],
  { deadline, atOnce } = patience,
  told: (spoke: Spoke, look: Look) => void = () => {},
): Promise<Look[]> {
  if (spokes.length === 0) return [];
  const clusters = await hub.list(clusterKind);
  return each(spokes, atOnce, async (spoke) => {
    const found = await lookAt(spoke, accessOf(spoke, clusters), reach, deadline);
    told(spoke, found);
    return found;
  });
}

/** What the hub says of these Spokes and, unless `isOffline`, what each says itself. */
export async function look(
  fleet: Fleet,
  spokes: readonly Spoke[],
  isOffline: boolean,
  patient = patience,
): Promise<Row[]> {
  const found = isOffline ? [] : await looks(fleet, spokes, patient);
  return spokes.map((spoke, index) => rowOf(spoke, found[index] ?? {}));
}
