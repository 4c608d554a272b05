import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kubectl, LocalFleet } from "@eks-gitops-fleet/local/cli";
import { bareRepository, commitTo } from "@eks-gitops-fleet/local/git";
import { parse, stringify } from "yaml";
import { chainArtifact, spokeFolder, spokeSync } from "../../lib/layout.ts";
import { adminOf, hub, until } from "../cluster.ts";
import { writeChain } from "./chain.ts";
import { type Change, snapshot, watch } from "./changes.ts";
import { type Counts, countsBetween, firstChange, partOf } from "./counts.ts";
import { ENVIRONMENT, FLEET, nameOf } from "./spokes.ts";
import { type Usage, usageOf } from "./usage.ts";

/** Values that the Spoke API allows (platform/api/definition.yaml), without its default. */
const DAYS = [14, 30, 60, 120, 150, 180, 365, 400, 545, 731, 1096, 1827] as const;
/** How long kubectl's watches take to begin, and a commit's last writes to arrive. */
const SETTLE = 5000;

export interface Cost {
  readonly what: string;
  /** Milliseconds from the push until what the commit changes is everywhere. */
  readonly took: number;
  /** Milliseconds from the push until each thing on the way had it. */
  readonly reached: Readonly<Record<string, number>>;
  readonly counts: Counts;
  /** Milliseconds between `before` and `after`. */
  readonly window: number;
  readonly before: Usage;
  readonly after: Usage;
}

interface Commit {
  readonly what: string;
  readonly change: (checkout: string) => Promise<void>;
  /** What is looked for on the way; the commit is done when all of it has been seen. */
  readonly milestones: Readonly<Record<string, (change: Change, commit: string) => boolean>>;
  /** Most milliseconds that it may take. */
  readonly limit: number;
  /** Whether every object that the commit concerns has it; asked after the milestones. */
  readonly done?: (kubectl: Kubectl) => Promise<boolean>;
}

const isOf = (commit: string) => (change: Change) => change.origin.endsWith(commit) || change.revision.endsWith(commit);
const is = (change: Change, kind: string, name: string) => change.kind === kind && change.name === name;

/** Pushes a commit and watches what it does on the hub. */
export async function costOf(fleet: LocalFleet, kubectl: Kubectl, commit: Commit): Promise<Cost> {
  const instance = fleet.instance();
  const watching = new AbortController();
  const changes = watch(adminOf(fleet, hub), watching.signal);
  try {
    await sleep(SETTLE);
    const began = performance.now();
    const [objects, before] = [await snapshot(kubectl), await usageOf(instance, kubectl)];
    let pushed = 0;
    const id = await commitTo(bareRepository(instance, "gitops-system"), commit.what, async (checkout) => {
      await commit.change(checkout);
      pushed = performance.now();
    });
    if (id === undefined) throw new Error(`the commit "${commit.what}" changes nothing`);
    const reached = await milestones(changes, commit, pushed, id);
    let took = Math.max(...Object.values(reached));
    if (commit.done !== undefined) {
      const { done, limit, what } = commit;
      await until(() => done(kubectl), { pause: 1000, limit, state: () => `${what} is not everywhere` });
      took = performance.now() - pushed;
    }
    await sleep(SETTLE);
    const after = await usageOf(instance, kubectl);
    const window = performance.now() - began;
    return {
      what: commit.what,
      took,
      reached,
      counts: countsBetween(objects, await snapshot(kubectl)),
      window,
      before,
      after,
    };
  } finally {
    watching.abort();
  }
}

async function milestones(
  changes: () => readonly Change[],
  commit: Commit,
  pushed: number,
  id: string,
): Promise<Record<string, number>> {
  const reached: Record<string, number> = {};
  const look = async () => {
    for (const [name, wanted] of Object.entries(commit.milestones)) {
      const at = firstChange(changes(), pushed, (change) => wanted(change, id))?.at;
      if (at !== undefined) reached[name] = at - pushed;
    }
    return Object.keys(reached).length === Object.keys(commit.milestones).length;
  };
  await until(look, {
    pause: 100,
    limit: commit.limit,
    state: () =>
      `${commit.what}: seen ${Object.keys(reached).join(", ") || "nothing"} of ${Object.keys(commit.milestones).join(", ")}`,
  });
  return reached;
}

/** A commit to one spoke; `turn` makes each of them another change. */
export const toSpoke = (number: number, turn: number): Commit => {
  const name = nameOf(number);
  const days = DAYS[turn % DAYS.length] as number;
  return {
    what: `Keep the logs of ${name} for ${days} days`,
    change: async (checkout) => {
      const file = join(checkout, spokeFolder(FLEET, name), "spoke.yaml");
      const spoke = parse(await readFile(file, "utf8"));
      spoke.spec.logRetentionDays = days;
      await writeFile(file, stringify(spoke));
    },
    milestones: {
      "source-controller has the commit": (change, id) =>
        is(change, "GitRepository", "gitops-system") && isOf(id)(change),
      "artifact of all spokes": (change, id) => is(change, "ExternalArtifact", "spokes") && isOf(id)(change),
      "artifact of the spoke": (change, id) => is(change, "ExternalArtifact", spokeSync(name)) && isOf(id)(change),
      "the Spoke": (change) => is(change, "Spoke", name) && change.days === String(days),
    },
    limit: 300_000,
  };
};

/** A commit that touches one tool, which spokes' own Flux installs. */
export const toTool = (turn: number): Commit => ({
  what: `Note something in metrics-server's release (${turn})`,
  change: (checkout) =>
    appendFile(join(checkout, "tools/base/addons/metrics_server/release/release.yaml"), `# Benchmark, turn ${turn}\n`),
  milestones: { "the hub's root": (change, id) => is(change, "Kustomization", "hub") && isOf(id)(change) },
  limit: 300_000,
});

/** A commit that touches the chain of all spokes. */
export const toChain = (spokes: number, turn: number): Commit => ({
  what: `Change every step of the chain (${turn})`,
  change: (checkout) => writeChain(checkout, ENVIRONMENT, turn + 2),
  milestones: {
    "the artifact of the chain": (change, id) => is(change, "ExternalArtifact", chainArtifact) && isOf(id)(change),
  },
  limit: 120_000 + spokes * 10_000,
  done: async (kubectl) => {
    const objects = await snapshot(kubectl);
    const wanted = objects.find(({ kind, name }) => kind === "ExternalArtifact" && name === chainArtifact)?.revision;
    // The step secrets has the artifact of the spoke.
    const secrets = new Set(Array.from({ length: spokes }, (_, index) => `${nameOf(index + 1)}-secrets`));
    const chains = objects.filter((object) => object.kind === "Kustomization" && partOf(object) === "chains");
    return chains.every(({ name, revision }) => secrets.has(name) || revision === wanted);
  },
});
