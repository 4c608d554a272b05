import type { KubeObject } from "../../functions/spoke/kube.ts";
import { hubName } from "../../lib/names.ts";
import { type Api, type Kind, listed } from "../kubernetes/api.ts";
import { spokesOf } from "../kubernetes/spokes.ts";
import { fleetOf, kinds } from "../rollouts/hub.ts";
import { frozen } from "../rollouts/state.ts";
import type { HubFacts } from "./report.ts";

/** Reads what a report says of the hub. Of Secrets and ConfigMaps nothing is read. @throws where the Spokes can't be read */
export async function readHub(hub: Api): Promise<HubFacts> {
  const notSeen: string[] = [];
  /** What the reader has no right to is missing, and told. */
  const ifSeen = async <T>(question: Promise<T>, instead: T): Promise<T> => {
    try {
      return await question;
    } catch (error) {
      notSeen.push((error as Error).message);
      return instead;
    }
  };
  const all = (kind: Kind) => ifSeen(listed(hub, kind), [] as KubeObject[]);
  const works = Promise.all([hub.find(kinds.deployments, "crossplane"), hub.find(kinds.functions, "function-spoke")]);
  const [spokes, sources, syncs, frozenBy] = await Promise.all([
    spokesOf(hub),
    all(kinds.sources),
    all(kinds.syncs),
    ifSeen(
      works.then(([crossplane, composer]) => frozen(crossplane, composer)),
      undefined,
    ),
  ]);
  const fleet = fleetOf(syncs.find(({ metadata }) => metadata.name === hubName));
  return { fleet, spokes, sources, syncs, frozen: frozenBy, notSeen: notSeen.sort() };
}
