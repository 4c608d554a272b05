import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

/** Set-up of the unit tests: they start no program, which takes longer than most of them and has to be installed. */

const starting = ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"] as const;

function refused(program: unknown): never {
  throw new Error(`a unit test started ${String(program)}: name its file *.integration.test.ts`);
}

Object.assign(childProcess, Object.fromEntries(starting.map((name) => [name, refused])));
syncBuiltinESMExports();
