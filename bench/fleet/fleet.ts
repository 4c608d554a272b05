import { availableParallelism } from "node:os";
import type { Kubectl, LocalFleet } from "@eks-gitops-fleet/local/cli";
import type { Bench } from "../bench.ts";
import { hub, kubectlOn } from "../cluster.ts";
import { table } from "../report.ts";
import { layChainOnTheHub } from "./chain.ts";
import { type Cost, costOf, toChain, toSpoke, toTool } from "./commits.ts";
import { grow, IDLE_SECONDS } from "./grow.ts";
import { raiseLimits } from "./limits.ts";
import { growth } from "./limits-of-growth.ts";
import { type Costs, type Stage, stageOf } from "./result.ts";
import { room } from "./room.ts";
import { rowsOf } from "./rows.ts";
import { ENVIRONMENT } from "./spokes.ts";
import { availableMemory } from "./usage.ts";

/** Commits to the first and to the last spoke, each; the median counts. */
const ROUNDS = 3;

/** Commits to one spoke, a tool and the chain, in a fleet of this size. Turns make every commit of a run another one. */
async function commits(
  fleet: LocalFleet,
  kubectl: Kubectl,
  size: number,
  turn: number,
  report: (line: string) => void,
): Promise<Costs> {
  const [first, last]: [Cost[], Cost[]] = [[], []];
  const cost = async (commit: Parameters<typeof costOf>[2]) => {
    const measured = await costOf(fleet, kubectl, commit);
    report(`${measured.what}: ${(measured.took / 1000).toFixed(1)} s`);
    return measured;
  };
  for (let round = 0; round < ROUNDS; round++) {
    first.push(await cost(toSpoke(1, 2 * (turn * ROUNDS + round))));
    last.push(await cost(toSpoke(size, 2 * (turn * ROUNDS + round) + 1)));
  }
  return { first, last, tool: [await cost(toTool(turn))], chain: [await cost(toChain(size, turn))] };
}

/** What a fleet costs the hub that grows through `sizes`, and what a commit costs; ends before the machine has no memory left. */
export const fleetOf = (sizes: readonly number[]): Bench => ({
  title:
    "The hub by the number of spokes. Real: Flux, source-watcher, Crossplane, the function, the API server, etcd. Stand-ins: AWS and\n" +
    "its provider. The EKS clusters are recorded and do not run, so each step of a chain applies one ConfigMap on the hub in place of\n" +
    "what it applies to the spoke, and there are no releases of helm-controller. Processor time and memory of the hub alone",
  run: async ({ fleet, report }) => {
    const kubectl = kubectlOn(fleet, hub);
    await raiseLimits(kubectl, Math.max(...sizes));
    await layChainOnTheHub(fleet, kubectl, ENVIRONMENT);
    const stages: Stage[] = [];
    for (const [turn, size] of sizes.entries()) {
      const last = stages.at(-1);
      if (last !== undefined) {
        const { cpu, memory } = last.each;
        const step = { size: last.size, memoryEach: memory, cpuEach: cpu };
        const { fits, words } = room(step, size, await availableMemory(), availableParallelism());
        report(words);
        if (!fits) break;
      }
      const measured = await grow(fleet, kubectl, last?.size ?? 0, size, report);
      const stage = stageOf(measured, await commits(fleet, kubectl, size, turn, report), IDLE_SECONDS);
      stages.push(stage);
      // A larger fleet takes long, and may fail.
      if (size !== sizes.at(-1)) for (const line of table(rowsOf([stage]))) report(line);
    }
    const { rows, exceeded } = growth(stages);
    return { rows: [...rowsOf(stages), ...rows], exceeded };
  },
});
