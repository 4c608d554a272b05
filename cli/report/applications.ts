import type { Spoke } from "../../functions/spoke/api.ts";
import { type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import { failureMessage, isHealthy } from "../../functions/spoke/observed.ts";
import { applicationsOf, type Look, saidOf } from "../list/rows.ts";
import { transition } from "../rollouts/state.ts";
import { remedyOf } from "../why/remedies.ts";
import type { Application, State } from "./model.ts";

/** A time as reports write it. */
export const written = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

/** Whether an object of Flux fails, or only goes on; the worst of several counts. */
export const stateOf = (objects: readonly KubeObject[]): Exclude<State, "unknown"> =>
  objects.some((object) => failureMessage(object) !== undefined)
    ? "failing"
    : objects.every(isHealthy)
      ? "well"
      : "working";

/** What an object of Flux has applied: a revision of its source, or the version of a chart. */
const applied = ({ status }: KubeObject): string | undefined =>
  textAt(status, "lastAppliedRevision") ?? textAt(status, "history", 0, "chartVersion");

/** What it tries, while that is another revision. */
function tried(object: KubeObject): string | undefined {
  const attempted = textAt(object.status, "lastAttemptedRevision");
  return attempted === applied(object) ? undefined : attempted;
}

/** The team whose namespaces an application's is one of, else the tenant. */
const ownerOf = ({ spec: { teams = [], tenant } }: Spoke, application: string): string =>
  teams.find(({ namespaces }) => namespaces.includes(application))?.name ?? tenant;

/** The applications of a spoke, by name; undefined where it was not asked, or not reached. */
export function applicationsOn(spoke: Spoke, { objects }: Look): Application[] | undefined {
  if (objects === undefined) return undefined;
  const found = [...applicationsOf(objects)].map(([name, own]): Application => {
    const worst = own.find((object) => failureMessage(object) !== undefined) ?? own.find((each) => !isHealthy(each));
    // A Kustomization says which commit it is, whatever charts come with it.
    const first = own.find(({ kind }) => kind === "Kustomization") ?? own[0];
    const told = worst ?? first;
    return {
      ...{ name, state: stateOf(own), owner: ownerOf(spoke, name) },
      says: worst === undefined ? undefined : saidOf(worst),
      since: written(told && transition(told, "Ready")),
      revision: first === undefined ? undefined : applied(first),
      next: first === undefined ? undefined : tried(first),
      remedy: worst === undefined ? undefined : remedyOf({ side: "spoke", object: worst }),
    };
  });
  return found.sort((a, b) => a.name.localeCompare(b.name));
}
