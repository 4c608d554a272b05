import type { Spoke } from "../../functions/spoke/api.ts";
import { type Row as CostRow, rowOf as costRow } from "../costs/rows.ts";
import { spokeShape } from "../costs/shapes.ts";
import { type Look, rowOf } from "../list/rows.ts";
import { working } from "../rollouts/health.ts";
import { spokeState, transition } from "../rollouts/state.ts";
import { applicationsOn, written } from "./applications.ts";
import { consoleLink } from "./links.ts";
import type { SpokeReport, State } from "./model.ts";

/** What a report says of each spoke. */

/** How a spoke is by what its Spoke says; what its applications are is another matter. */
function stateOf(spoke: Spoke, { unreached }: Look): State {
  const { isReady, unsynced, phase } = spokeState(spoke);
  if (unsynced !== undefined) return "failing";
  if (!isReady) return phase === "Deleting" || working.includes(phase ?? "") ? "working" : "failing";
  return unreached === undefined ? "well" : "unknown";
}

export function spokeReport(spoke: Spoke, look: Look, { month, isComplete }: CostRow): SpokeReport {
  const { applications: _, ...row } = rowOf(spoke, look);
  return {
    ...row,
    message: spokeState(spoke).unsynced ?? spoke.status?.message ?? row.message,
    state: stateOf(spoke, look),
    since: written(transition(spoke, "Ready")),
    region: spoke.spec.region,
    applications: applicationsOn(spoke, look),
    ...{ revision: spoke.status?.rollout?.revision, next: spoke.status?.rollout?.next },
    month: isComplete ? month.usual : undefined,
    console: consoleLink(spoke),
  };
}

/** What a spoke costs a month, by the specification that the hub has. */
export const costOf = ({ metadata: { name }, spec }: Spoke, fleet: string): CostRow =>
  costRow({ name, fleet, environment: spec.environment, tenant: spec.tenant }, spokeShape(spec));

/** By environment, ring and name. */
export const inOrder = (spokes: readonly SpokeReport[]): SpokeReport[] =>
  spokes.toSorted(
    (a, b) =>
      a.environment.localeCompare(b.environment) ||
      (a.ring ?? "").localeCompare(b.ring ?? "") ||
      a.name.localeCompare(b.name, "en", { numeric: true }),
  );
