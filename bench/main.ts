// `npm run bench`: on an instance of its own, how long each phase of `npm start` takes with a cached toolchain, and the
// program against the same program on Pulumi's default TypeScript runner. Shares and ratios of one run: machines differ.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../local/cli/command.ts";
import type { Timings } from "../local/cli/steps.ts";
import { tearDown } from "../local/cli/teardown.ts";
import { bringUp } from "../local/cli/up.ts";
import { ensureToolchain } from "../local/toolchain/index.ts";
import { compareRunners, type RunnerTimes } from "./program.ts";

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;

function phases(timings: Timings): string[] {
  const all = [...timings.values()].reduce((sum, time) => sum + time, 0);
  const line = (name: string, time: number) =>
    `${name.padEnd(60)} ${seconds(time).padStart(8)} ${((100 * time) / all).toFixed(0).padStart(4)} %`;
  return [...[...timings].map(([name, time]) => line(name, time)), line("together", all)];
}

const ratio = (what: string, { own, default: standard }: RunnerTimes) =>
  `${what.padEnd(60)} ${(own / standard).toFixed(2).padStart(6)}   (${seconds(own)} against ${seconds(standard)})`;

await main(async () => {
  await ensureToolchain((line) => console.log(line));
  const dir = await mkdtemp(join(tmpdir(), "fleet-bench-"));
  try {
    const { fleet, timings } = await bringUp(dir, "local", { hubOnly: true });
    const { start, preview } = await compareRunners(fleet.instance());
    console.log("\nFrom npm start to all pods Ready, toolchain cached:");
    for (const line of phases(timings)) console.log(line);
    console.log("\nThis program against the same program on Pulumi's default TypeScript runner (time ratio, medians):");
    console.log(ratio("program start", start));
    console.log(ratio("preview without changes", preview));
    return 0;
  } finally {
    await tearDown(dir, "local", { force: false });
  }
});
