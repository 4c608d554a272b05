import { type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import { ringSource } from "../../lib/rings.ts";
import { transition } from "../rollouts/state.ts";
import { written } from "./applications.ts";
import { repositoryLink } from "./links.ts";
import type { Application, Reach, SpokeReport } from "./model.ts";

/** What a commit has reached, and what not and why. */

interface Has {
  readonly spoke: string;
  readonly revision: string | undefined;
  readonly missing: string | undefined;
}

/** @param offered the revision that all are to have, where that is known */
function reachOf(of: Pick<Reach, "kind" | "name">, all: readonly Has[], offered: Partial<Reach> = {}): Reach {
  const known = all.flatMap(({ spoke, revision }) => (revision === undefined ? [] : [{ spoke, revision }]));
  const on = [...Map.groupBy(known, ({ revision }) => revision)].map(([revision, those]) => ({
    revision,
    spokes: those.map(({ spoke }) => spoke),
  }));
  const rank = (revision: string): number => (revision === offered.offered ? 0 : 1);
  return {
    ...of,
    ...{ offered: undefined, since: undefined, link: undefined, ...offered },
    on: on.sort((a, b) => rank(a.revision) - rank(b.revision) || b.spokes.length - a.spokes.length),
    missing: all.flatMap(({ spoke, missing }) => (missing === undefined ? [] : [{ spoke, why: missing }])),
  };
}

/** Why a spoke has not what it is to have. */
function whyNot({ next, isReady, message = "it is not Ready" }: SpokeReport, wanted: string | undefined): string {
  if (!isReady) return message;
  return next !== undefined && next === wanted ? "Flux brings it" : "Flux has not begun to bring it";
}

function ofRing(ring: string, spokes: readonly SpokeReport[], source: KubeObject | undefined): Reach {
  const offered = textAt(source?.status, "artifact", "revision");
  const has = spokes.map((spoke): Has => {
    const isThere = offered === undefined || (spoke.revision === offered && spoke.next === undefined);
    return { spoke: spoke.name, revision: spoke.revision, missing: isThere ? undefined : whyNot(spoke, offered) };
  });
  return reachOf({ kind: "ring", name: ring }, has, {
    offered,
    since: textAt(source?.status, "artifact", "lastUpdateTime") ?? written(source && transition(source, "Ready")),
    link: repositoryLink(textAt(source?.spec, "url")),
  });
}

/** Without rings a Spoke's revision is that of the last commit which changed its chain: an older one may be all that there is for it. */
const ofEnvironment = (environment: string, spokes: readonly SpokeReport[]): Reach =>
  reachOf(
    { kind: "environment", name: environment },
    spokes.map((spoke) => ({
      ...{ spoke: spoke.name, revision: spoke.revision },
      missing: spoke.revision === undefined ? whyNot(spoke, undefined) : undefined,
    })),
  );

const ofApplication = (name: string, all: readonly (readonly [string, Application])[]): Reach =>
  reachOf(
    { kind: "application", name },
    all.map(([spoke, { revision, next, says }]) => ({
      ...{ spoke, revision },
      missing: next === undefined ? undefined : (says ?? `Flux applies ${next}`),
    })),
  );

export function reaches(spokes: readonly SpokeReport[], sources: readonly KubeObject[]): Reach[] {
  const rings = Map.groupBy(
    spokes.filter(({ ring }) => ring !== undefined),
    ({ ring = "" }) => ring,
  );
  const environments = Map.groupBy(
    spokes.filter(({ ring }) => ring === undefined),
    ({ environment }) => environment,
  );
  const applications = spokes.flatMap(({ name, applications = [] }) =>
    applications.map((application) => [name, application] as const),
  );
  const byName = Map.groupBy(applications, ([, { name }]) => name);
  return [
    ...[...rings].map(([ring, those]) =>
      ofRing(
        ring,
        those,
        sources.find(({ metadata }) => metadata.name === ringSource(ring)),
      ),
    ),
    ...[...environments].map(([name, those]) => ofEnvironment(name, those)),
    ...[...byName].sort(([a], [b]) => a.localeCompare(b)).map(([name, those]) => ofApplication(name, those)),
  ];
}
