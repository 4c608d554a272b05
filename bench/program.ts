import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cloudEnvironment } from "@eks-gitops-fleet/local/cli";
import type { Instance } from "@eks-gitops-fleet/local/instance";
import { CHECKOUT, prepareStack, runPulumi } from "@eks-gitops-fleet/local/pulumi";
import { parse, stringify } from "yaml";
import type { Bench } from "./bench.ts";
import { defaultRunnerCopy } from "./default-runner.ts";
import { seconds } from "./report.ts";
import { interleaved, median } from "./statistics.ts";

const ROUNDS = 5;
const STACK = "local";

/** Medians in milliseconds, of the checkout and of its copy for Pulumi's default TypeScript runner. */
interface RunnerTimes {
  readonly own: number;
  readonly default: number;
}

/** A preview with a stack's configuration, and how it shows that the program did what is measured. */
interface Run {
  readonly config: string;
  readonly code: number;
  readonly shows: string;
}

/** Starts and previews the deployed program on both runners, in turn. Rejects when a run does not end as it must. */
async function compareRunners(instance: Instance): Promise<{ start: RunnerTimes; preview: RunnerTimes }> {
  const config = await prepareStack(instance.dir, STACK);
  const copy = await defaultRunnerCopy();
  const preview =
    (cwd: string, { config, code: expected, shows }: Run) =>
    async () => {
      const { code, stdout, stderr } = await runPulumi({
        dir: instance.dir,
        args: ["preview", "--non-interactive", "--stack", STACK, "--config-file", config, "--expect-no-changes"],
        cwd,
        env: cloudEnvironment(instance),
        onLine: () => {},
      });
      if (code !== expected || !stdout.includes(shows))
        throw new Error(
          `pulumi preview in ${cwd} ended with exit code ${code}, not with ${expected} and '${shows}':\n${stdout}\n${stderr}`,
        );
    };
  const measure = async (run: Run): Promise<RunnerTimes> => {
    const times = await interleaved(ROUNDS, { own: preview(CHECKOUT, run), default: preview(copy, run) });
    return { own: median(times.own), default: median(times.default) };
  };
  try {
    const refused = await refusedConfig(config, copy);
    return {
      start: await measure({ config: refused, code: 1, shows: "1 problem in the configuration" }),
      preview: await measure({ config, code: 0, shows: "unchanged" }),
    };
  } finally {
    await rm(copy, { recursive: true });
  }
}

/** A configuration that the program refuses as the first thing it does: the run ends when the program has started. */
async function refusedConfig(config: string, folder: string): Promise<string> {
  const stack = parse(await readFile(config, "utf8")) as { config: Record<string, unknown> };
  const file = join(folder, "refused.yaml");
  await writeFile(file, stringify({ ...stack, config: { ...stack.config, "eks-gitops-fleet:zones": 9 } }));
  return file;
}

const row = (what: string, { own, default: standard }: RunnerTimes) => [
  what,
  (own / standard).toFixed(2),
  `${seconds(own)} against ${seconds(standard)}`,
];

/** This program against the same program on Pulumi's default TypeScript runner. */
export const program: Bench = {
  title: "This program against the same program on Pulumi's default TypeScript runner (time ratio, medians)",
  run: async ({ fleet }) => {
    const { start, preview } = await compareRunners(fleet.instance());
    return { rows: [row("program start", start), row("preview without changes", preview)] };
  },
};
