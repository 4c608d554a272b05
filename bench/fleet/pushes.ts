import type { Kubectl, LocalFleet } from "@eks-gitops-fleet/local/cli";
import type { Bench } from "../bench.ts";
import { hub, kubectlOn, until } from "../cluster.ts";
import { seconds } from "../report.ts";
import { median } from "../statistics.ts";
import { snapshot } from "./changes.ts";
import { type Cost, costOf, toSpoke } from "./commits.ts";
import { raiseLimits } from "./limits.ts";
import { addSpokes, nameOf, removeSpokes } from "./spokes.ts";

/** Commits to the first, a middle and the last spoke by name, each; the medians count. */
const ROUNDS = 5;
/** Most that a push may take in the largest fleet, as a multiple of what it takes in the smallest one. */
const LIMIT = 1.3;
/** Milliseconds that Flux may take to add or remove one Spoke. */
const EACH = 5000;

/** What was measured in a fleet of one size. */
export interface Pushes {
  readonly size: number;
  /** By which spoke of the fleet was changed. */
  readonly costs: Readonly<Record<string, readonly Cost[]>>;
}

async function untilSpokes(kubectl: Kubectl, count: number, what: string): Promise<void> {
  let found = Number.NaN;
  await until(
    async () => {
      const objects = await snapshot(kubectl);
      found = objects.filter(({ kind }) => kind === "Spoke").length;
      const applied = objects.filter(
        ({ kind, name, revision }) => kind === "Kustomization" && /^spoke-/.test(name) && revision !== "",
      );
      return found === count && applied.length === count;
    },
    { pause: 2000, limit: 300_000 + EACH * 500, state: () => `${what}: there are ${found} Spokes of ${count}` },
  );
}

async function measured(
  fleet: LocalFleet,
  kubectl: Kubectl,
  size: number,
  report: (line: string) => void,
): Promise<Pushes> {
  const spokes = { first: 1, middle: Math.ceil(size / 2), last: size };
  const costs: Record<string, Cost[]> = {};
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, [which, number]] of Object.entries(spokes).entries()) {
      const cost = await costOf(fleet, kubectl, toSpoke(number, round * 3 + index));
      report(`${size} spokes, the ${which}: ${seconds(cost.took)}`);
      costs[which] = [...(costs[which] ?? []), cost];
    }
  return { size, costs };
}

const tookOf = (costs: readonly Cost[] = []): number => median(costs.map(({ took }) => took));

/** A column for each size. */
export function rowsOf(stages: readonly Pushes[]): string[][] {
  const row = (name: string, cell: (stage: Pushes) => string) => [name, ...stages.map(cell)];
  return [
    row("", ({ size }) => `${size} spokes`),
    ...Object.keys(stages[0]?.costs ?? {}).flatMap((which) => {
      const of = ({ costs }: Pushes) => costs[which] ?? [];
      const milestones = Object.keys(stages[0] === undefined ? {} : (of(stages[0])[0]?.reached ?? {}));
      return [
        ...milestones.map((milestone) =>
          row(`${which} spoke by name: ${milestone}, after`, (stage) =>
            seconds(median(of(stage).map(({ reached }) => reached[milestone] ?? Number.NaN))),
          ),
        ),
        row(`${which} spoke by name: slowest`, (stage) => seconds(Math.max(...of(stage).map(({ took }) => took)))),
        row(`${which} spoke by name: artifacts written to`, (stage) => {
          const { written, all } = of(stage).at(-1)?.counts.artifacts ?? { written: Number.NaN, all: Number.NaN };
          return `${written} of ${all}`;
        }),
      ];
    }),
  ];
}

/** How the largest fleet compares with the smallest, and where that exceeds the limit. */
export function compared(stages: readonly Pushes[]): { rows: string[][]; exceeded: string[] } {
  const [few] = stages;
  const many = stages.at(-1);
  if (few === undefined || many === undefined || few === many) return { rows: [], exceeded: [] };
  const ratios = Object.keys(few.costs).map((which) => ({
    words: `${many.size} spokes against ${few.size}: push to Spoke, the ${which} by name`,
    ratio: tookOf(many.costs[which]) / tookOf(few.costs[which]),
  }));
  return {
    rows: ratios.map(({ words, ratio }) => [words, ratio.toFixed(2)]),
    exceeded: ratios
      .filter(({ ratio }) => ratio > LIMIT)
      .map(({ words, ratio }) => `${words} is ${ratio.toFixed(2)} times, limit ${LIMIT}`),
  };
}

/** How long a commit to one spoke takes to reach it in a fleet that grows through `sizes`; the spokes are removed afterwards. */
export const pushesTo = (sizes: readonly number[]): Bench => ({
  title:
    "From the push of a change of one spoke to its Spoke, by the number of spokes. Real: the Git server's call, Flux, source-watcher, the API\n" +
    "server and its policies. The Spokes are paused: Crossplane makes nothing of them, so the hub has no managed resources and no chains",
  run: async ({ fleet, report }) => {
    const kubectl = kubectlOn(fleet, hub);
    await raiseLimits(kubectl, Math.max(...sizes));
    const stages: Pushes[] = [];
    const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index + 1);
    for (const size of sizes) {
      await addSpokes(fleet, numbers(stages.at(-1)?.size ?? 0, size), { paused: true });
      await untilSpokes(kubectl, size, "adding spokes");
      stages.push(await measured(fleet, kubectl, size, report));
    }
    await removeSpokes(fleet, numbers(0, Math.max(...sizes)).map(nameOf));
    await untilSpokes(kubectl, 0, "removing spokes");
    const { rows, exceeded } = compared(stages);
    return { rows: [...rowsOf(stages), ...rows], exceeded };
  },
});
