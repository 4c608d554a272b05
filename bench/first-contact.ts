// `npm run bench:first`: a newcomer's first hour. Clones this checkout into a directory whose path has 120 characters, with an empty home
// directory, and runs `npm start`, `npm test` and `npm run down` there. Prints the phases of each command with their time, and the
// processor time of the whole machine, so nothing else must run. `-- --warm` keeps this user's caches; `-- start` or `-- test` measures one.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { git, root } from "../test/support/process.ts";
import { type Phase, phaseOf } from "./phases.ts";
import { seconds, table } from "./report.ts";

const PATH_LENGTH = 120;
/** Clock ticks in a second (USER_HZ), the unit of /proc/stat. */
const TICKS = 100;

/** Processor time of the machine since its start, in milliseconds: user, nice, system, irq and softirq (proc_stat(5)). */
function processorTime(): number {
  const fields = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "").trim().split(/\s+/).slice(1).map(Number);
  return ([0, 1, 2, 5, 6].reduce((sum, field) => sum + (fields[field] ?? 0), 0) * 1000) / TICKS;
}

/** Runs an npm script to its end and prints its phases. @returns its exit code */
async function measure(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const [started, used] = [performance.now(), processorTime()];
  const phases: Phase[] = [];
  const child = spawn("npm", args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  createInterface({ input: child.stdout }).on("line", (line) => {
    console.log(line);
    const phase = phaseOf(line);
    if (phase !== undefined) phases.push(phase);
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exit) => resolve(exit ?? 1));
  });
  const total = [seconds(performance.now() - started), `${Math.round((processorTime() - used) / 1000)} CPU-s`];
  console.log(`\nnpm ${args.join(" ")}: exit code ${code}`);
  for (const line of table([...phases.map(({ name, time }) => [name, time]), ["together", ...total]]))
    console.log(line);
  return code;
}

/** Variables that lead to this user's caches, or that npm sets for the command that it runs. Those that lead to mirrors and certificates stay. */
const OWN =
  /^(npm_(?!config_)|npm_config_(userconfig|cache|init_module|local_prefix)$|NODE_(COMPILE_CACHE|OPTIONS|PATH)$|GO(CACHE|MODCACHE|PATH|FLAGS)$|XDG_CACHE_HOME$|FLEET_)/;

const { values, positionals } = parseArgs({ options: { warm: { type: "boolean" } }, allowPositionals: true });
const commands = ["start", "test"];
const unknown = positionals.filter((name) => !commands.includes(name));
if (unknown.length > 0) throw new Error(`unknown command ${unknown.join(", ")}: allowed are ${commands.join(", ")}`);
const chosen = positionals.length === 0 ? commands : positionals;

const base = mkdtempSync(join(tmpdir(), "fleet-first-"));
const checkout = join(base, "d".repeat(PATH_LENGTH - base.length - 1));
const home = values.warm ? {} : { HOME: join(base, "home") };
const env = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.test(name))), ...home };
// An interruption ends the running npm script, which is in the same process group; then everything is removed as usual.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
await git(["clone", "--quiet", root, checkout]);
let worst = 0;
for (const command of chosen) {
  const code = await measure([command], checkout, env);
  worst = Math.max(worst, code);
  if (code !== 0) break;
}
const removed = await measure(["run", "down"], checkout, env);
if (removed === 0) rmSync(base, { recursive: true });
else console.log(`${base} stays: npm run down failed`);
process.exitCode = Math.max(worst, removed);
