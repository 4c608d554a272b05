// `npm run bench:cli`: how long the npm package of fleet takes to print its help, beside what Node takes to do nothing, in turn in one
// run. Ends with exit code 1 above the limit.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { main } from "@eks-gitops-fleet/local/cli";
import { originOf, packageFiles, writePackage } from "../scripts/cli-package/package.ts";
import { table } from "./report.ts";
import { duration, interleaved, median } from "./statistics.ts";

const ROUNDS = 41;
/** Milliseconds that help may take: it is read between two thoughts. */
const LIMIT = 150;

const milliseconds = (value: number): string => `${value.toFixed(0)} ms`;

await main(async () => {
  const folder = await mkdtemp(join(tmpdir(), "fleet-bench-cli-"));
  try {
    const made = join(folder, "package");
    await writePackage(made, await packageFiles(originOf("acme/eks-gitops-fleet")));
    const node =
      (...args: string[]) =>
      () =>
        duration(() => promisify(execFile)(process.execPath, args, { cwd: folder }));
    const fleet = (...args: string[]) => node(join(made, "fleet.mjs"), ...args);
    const [load = 0] = loadavg();
    console.log(`${availableParallelism()} processors (${cpus()[0]?.model}), load ${load.toFixed(1)} before the start`);
    const times = await interleaved(ROUNDS, {
      "node -e 0": node("-e", "0"),
      "fleet --help": fleet("--help"),
      "fleet onboard --help": fleet("onboard", "--help"),
      "fleet completion bash": fleet("completion", "bash"),
    });
    console.log(`\nHelp of the package, Node ${process.version}, ${ROUNDS} runs each in turn:`);
    const rows = Object.entries(times).map(([name, each]) => [
      name,
      milliseconds(median(each)),
      milliseconds(Math.max(...each)),
    ]);
    for (const line of table([["", "median", "slowest"], ...rows])) console.log(line);
    const help = Math.max(median(times["fleet --help"]), median(times["fleet onboard --help"]));
    console.log(`\nhelp takes ${milliseconds(help)}, limit ${milliseconds(LIMIT)}`);
    return help > LIMIT ? 1 : 0;
  } finally {
    await rm(folder, { recursive: true });
  }
});
