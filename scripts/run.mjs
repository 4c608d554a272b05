// Runs a script of the project: `node scripts/run.mjs <script> [arguments]`.
// Works on a plain Node 20 with nothing installed: brings node_modules to the state of package-lock.json first, then
// hands over to the project's own Node (npm package `node`) with the arguments, the signals and the exit code.
import { spawn } from "node:child_process";
import { existsSync, lstatSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The packages that differ between what the lock file wants and what npm recorded at the end of its last install. */
export function outdated(lock, installed) {
  return Object.entries(lock.packages)
    .filter(([path, wanted]) => {
      const got = installed?.packages[path];
      if (path === "" || (got === undefined && (wanted.optional || wanted.devOptional))) return false;
      const same = (key) => JSON.stringify(wanted[key]) === JSON.stringify(got?.[key]);
      return got === undefined || !["version", "integrity", "dependencies"].every(same);
    })
    .map(([path]) => path);
}

function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

/** Runs a command to its end; resolves to its exit code, 128 + n when a signal ended it. */
function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: "inherit", ...options });
    // A terminal sends Ctrl-C to the whole foreground group by itself; anything else reaches only this process.
    const forward = (signal) => (signal === "SIGINT" && process.stdin.isTTY) || child.kill(signal);
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, forward);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

async function install(changed, total) {
  const modules = join(root, "node_modules");
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    // npm ci would empty the folder behind the link, under whoever works there.
    console.log(`[npm] ${modules} was a link to ${readlinkSync(modules)}; this checkout gets packages of its own`);
    rmSync(modules);
  }
  const started = Date.now();
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
  console.log(`[npm] ${changed} of ${total} packages are missing or of another version: npm ci`);
  const timer = setInterval(() => console.log(`[npm] still installing, ${seconds()}`), 10_000);
  // npm's own script path: `npm` may not be on PATH under a version manager.
  const npm = process.env.npm_execpath?.endsWith("npm-cli.js") ? [process.execPath, process.env.npm_execpath] : ["npm"];
  const code = await run(npm[0], [...npm.slice(1), "ci", "--no-audit", "--no-fund", "--loglevel", "error"]).finally(
    () => clearInterval(timer),
  );
  if (code !== 0) {
    console.error(
      `[npm] npm ci ended with exit code ${code}: see its message above; running this again resumes from npm's cache`,
    );
    process.exit(code);
  }
  console.log(`[npm] installed in ${seconds()}`);
}

/**
 * Brings node_modules up to date and runs a script of the project in the folder `cwd`, with flags for Node; its exit code becomes
 * the process's.
 */
export async function main([script, ...args], cwd = root, flags = []) {
  if (script === undefined) throw new Error("usage: node scripts/run.mjs <script> [arguments]");
  // Node.js replaces it by a part of a module's name, in the patterns of a package's exports.
  if (root.includes("*")) {
    console.error(`[npm] ${root}: Node.js can't load packages below a path with "*": move this clone`);
    process.exit(1);
  }
  const lock = readJson(join(root, "package-lock.json"));
  const node = join(root, "node_modules", "node", "bin", "node");
  const changed = outdated(lock, readJson(join(root, "node_modules", ".package-lock.json"))).length;
  if (changed > 0 || !existsSync(node)) await install(changed, outdated(lock).length);
  const PATH = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  process.exitCode = await run(node, [...flags, join(root, script), ...args], { cwd, env: { ...process.env, PATH } });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(process.argv.slice(2));
}
