import type { Spoke } from "../../functions/spoke/api.ts";
import { type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import { costsOf } from "../costs/rows.ts";
import type { Look } from "../list/rows.ts";
import { attentionIn } from "./attention.ts";
import { repositoryLink } from "./links.ts";
import type { Key, Report, Source, SpokeReport } from "./model.ts";
import { reaches } from "./reach.ts";
import { costOf, inOrder, spokeReport } from "./spokes.ts";
import { shownData } from "./texts.ts";

/** What was read of a hub. */
export interface HubFacts {
  readonly fleet: string | undefined;
  readonly spokes: readonly Spoke[];
  /** GitRepositories of Flux on the hub. */
  readonly sources: readonly KubeObject[];
  /** Kustomizations of Flux on the hub. */
  readonly syncs: readonly KubeObject[];
  readonly frozen: string | undefined;
  readonly notSeen: readonly string[];
}

const sourceReport = ({ metadata: { name }, spec, status }: KubeObject): Source => ({
  name,
  revision: textAt(status, "artifact", "revision"),
  since: textAt(status, "artifact", "lastUpdateTime"),
  link: repositoryLink(textAt(spec, "url")),
});

const applicationsIn = (spokes: readonly SpokeReport[]) => spokes.flatMap(({ applications = [] }) => applications);

/**
 * What there is to say of a fleet, without anything that looks like a credential.
 * @param looks what each spoke says itself, by name; none for one that was not asked
 */
export function reportOf(
  { fleet, spokes, sources, syncs, frozen, notSeen }: HubFacts,
  looks: ReadonlyMap<string, Look>,
  keys: readonly Key[],
  now: number,
): Report {
  const costs = costsOf(spokes.map((spoke) => costOf(spoke, fleet ?? "")));
  const rows = inOrder(
    spokes.flatMap((spoke, index) => {
      const cost = costs.clusters[index];
      return cost === undefined ? [] : [spokeReport(spoke, looks.get(spoke.metadata.name) ?? {}, cost)];
    }),
  );
  const applications = applicationsIn(rows);
  const attention = attentionIn({ spokes: rows, flux: [...sources, ...syncs], keys, frozen, now });
  const count = (state: string): number => attention.filter((each) => each.state === state).length;
  const { environments, tenants, total, clusters } = costs;
  return shownData({
    asOf: new Date(now).toISOString(),
    fleet,
    counts: {
      spokes: { ready: rows.filter(({ isReady }) => isReady).length, total: rows.length },
      applications:
        looks.size === 0 && rows.length > 0
          ? undefined
          : { ready: applications.filter(({ state }) => state === "well").length, total: applications.length },
      ...{ failing: count("failing"), unknown: count("unknown"), due: count("due"), working: count("working") },
    },
    attention,
    spokes: rows,
    reach: reaches(rows, sources),
    sources: sources.map(sourceReport),
    keys,
    costs: { environments, tenants, total, unknown: [...new Set(clusters.flatMap(({ unknown }) => unknown))].sort() },
    notSeen,
  });
}
