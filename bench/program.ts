import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cloudEnvironment } from "@eks-gitops-fleet/local/cli";
import { CHECKOUT, prepareStack, runPulumi } from "@eks-gitops-fleet/local/pulumi";
import { parse, stringify } from "yaml";
import type { Bench } from "./bench.ts";
import { defaultRunnerCopy } from "./default-runner.ts";
import { seconds } from "./report.ts";
import { duration, interleaved, median } from "./statistics.ts";

const ROUNDS = 5;
const STACK = "local";

/** Milliseconds of a run: of the whole command, and of the program's process in it. */
interface Times {
  readonly command: number;
  readonly program: number;
}

/** A preview with a stack's configuration, how it shows that the program did what is measured, and its environment. */
interface Run {
  readonly config: string;
  readonly code: number;
  readonly shows: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Nothing that Node or ts-node kept of an earlier run is used, as on a new machine or after a change of every file. */
const withoutCaches = { NODE_DISABLE_COMPILE_CACHE: "1", TS_NODE_CACHE: "false" };

type Comparison = Readonly<Record<"own" | "default", readonly Times[]>>;

/** Runs previews of the deployed program on both runners, in turn. Rejects when a run does not end as it must. */
const compare = (dir: string, env: Readonly<Record<string, string>>, copy: string, run: Run): Promise<Comparison> => {
  const clock = join(copy, "clock");
  const preview = (cwd: string) => async (): Promise<Times> => {
    const command = await duration(async () => {
      const { code, stdout, stderr } = await runPulumi({
        dir,
        args: ["preview", "--non-interactive", "--stack", STACK, "--config-file", run.config, "--expect-no-changes"],
        cwd,
        env: {
          ...env,
          ...run.env,
          NODE_OPTIONS: `--import=${pathToFileURL(join(CHECKOUT, "bench", "program-clock.mjs")).href}`,
          FLEET_BENCH_CLOCK: clock,
        },
        onLine: () => {},
      });
      if (code !== run.code || !stdout.includes(run.shows))
        throw new Error(
          `pulumi preview in ${cwd} ended with exit code ${code}, not with ${run.code} and '${run.shows}':\n${stdout}\n${stderr}`,
        );
    });
    return { command, program: Number(await readFile(clock, "utf8")) };
  };
  return interleaved(ROUNDS, { own: preview(CHECKOUT), default: preview(copy) });
};

/** Rows for the start, up to the refusal of a wrong configuration: it needs no cloud. */
async function compareStarts(dir: string, env: Readonly<Record<string, string>>, copy: string): Promise<string[][]> {
  const config = await refusedConfig(await prepareStack(dir, STACK), copy);
  const refused = { config, code: 1, shows: "in the configuration of stack" };
  const cold = await compare(dir, env, copy, { ...refused, env: withoutCaches });
  const warm = await compare(dir, env, copy, refused);
  return [
    row("start, nothing cached: the program", "program", cold),
    row("start, nothing cached: the whole command", "command", cold),
    row("start: the program", "program", warm),
    row("start: the whole command", "command", warm),
  ];
}

/** A configuration that the program refuses as the first thing it does: the run ends when the program has started. */
async function refusedConfig(config: string, folder: string): Promise<string> {
  const stack = parse(await readFile(config, "utf8")) as { config: Record<string, unknown> };
  const file = join(folder, "refused.yaml");
  await writeFile(file, stringify({ ...stack, config: { ...stack.config, "eks-gitops-fleet:zones": 9 } }));
  return file;
}

function row(what: string, part: keyof Times, times: Comparison): string[] {
  const [own, standard] = [times.own, times.default].map((runs) => median(runs.map((run) => run[part]))) as [
    number,
    number,
  ];
  return [what, (own / standard).toFixed(2), `${seconds(own)} against ${seconds(standard)}`];
}

/** This program against the same program on Pulumi's default TypeScript runner. */
export const program: Bench = {
  title: "This program against the same program on Pulumi's default TypeScript runner (time ratio, medians)",
  run: async ({ fleet }) => {
    const instance = fleet.instance();
    const env = cloudEnvironment(instance);
    const copy = await defaultRunnerCopy();
    try {
      const config = await prepareStack(instance.dir, STACK);
      const starts = await compareStarts(instance.dir, env, copy);
      const preview = await compare(instance.dir, env, copy, { config, code: 0, shows: "unchanged" });
      return { rows: [...starts, row("preview without changes: the whole command", "command", preview)] };
    } finally {
      await rm(copy, { recursive: true });
    }
  },
};
