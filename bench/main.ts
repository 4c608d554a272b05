// `npm run bench`: measures on an instance of its own, with a cached toolchain. `-- start|program|spoke|commits|fleet`
// measures only these, `-- fleet --spokes 1,25` a fleet of these sizes. Machines differ: ratios and shares of one run say more than seconds.
import { availableParallelism, cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { bringUp, main, withTemporaryInstance } from "@eks-gitops-fleet/local/cli";
import { RECORDED_CLUSTERS } from "@eks-gitops-fleet/local/gateway";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import type { Bench } from "./bench.ts";
import { fleetOf } from "./fleet/fleet.ts";
import { defaultSizes, sizesOf } from "./fleet/options.ts";
import { pushesTo } from "./fleet/pushes.ts";
import { RECORDED } from "./fleet/spokes.ts";
import { program } from "./program.ts";
import { table } from "./report.ts";
import { spoke } from "./spoke.ts";
import { start } from "./start.ts";

const STACK = "local";

/** The benches that are asked for, all without an argument, in the order in which they don't disturb each other. */
function chosen(args: readonly string[]): Bench[] {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { spokes: { type: "string" } },
    allowPositionals: true,
  });
  const benches: Readonly<Record<string, Bench>> = {
    start,
    program,
    spoke,
    commits: pushesTo(sizesOf(values.spokes, defaultSizes.commits)),
    fleet: fleetOf(sizesOf(values.spokes, defaultSizes.fleet)),
  };
  const unknown = positionals.filter((name) => !Object.hasOwn(benches, name));
  if (unknown.length > 0)
    throw new Error(`unknown benchmark ${unknown.join(", ")}: choose of ${Object.keys(benches).join(", ")}`);
  const isChosen = (name: string) => positionals.length === 0 || positionals.includes(name);
  return Object.entries(benches).flatMap(([name, bench]) => (isChosen(name) ? [bench] : []));
}

await main(async () => {
  const wanted = chosen(process.argv.slice(2));
  const report = (line: string) => console.log(line);
  await ensureToolchain(report);
  const [load = 0] = loadavg();
  console.log(`${availableParallelism()} processors (${cpus()[0]?.model}), load ${load.toFixed(1)} before the start`);
  process.env[RECORDED_CLUSTERS] = RECORDED;
  return withTemporaryInstance("fleet-bench", STACK, async (dir) => {
    const { fleet, timings } = await bringUp(dir, STACK, { hubOnly: true });
    let code = 0;
    for (const { title, run } of wanted) {
      const { rows, exceeded = [] } = await run({ fleet, timings, report });
      console.log(`\n${title}:`);
      for (const line of [...table(rows), ...exceeded]) console.log(line);
      if (exceeded.length > 0) code = 1;
    }
    return code;
  });
});
