import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { foreground } from "./foreground.ts";
import { foldersFile, removeTemporary, temporaryFolder } from "./temporary.ts";

/** Signals that interrupt a run, with the exit code of a command that they end: 128 and their number. */
const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Environment variable with the file where processes list their temporary folders outside of TMPDIR. */
const FOLDERS_FILE = "FLEET_TEMPORARY_FOLDERS";
/** Environment variable with the directory of the instance that a command runs its work on. */
const INSTANCE = "FLEET_TEMPORARY_INSTANCE";

/**
 * Runs `body`, and removes everything that it has started once a signal interrupts it. The processes that `body` starts have their
 * temporary files, and so their instances, in `folder`: this is how the removal finds them, also the next one after this process was killed.
 * @param folder from temporaryFolder()
 * @param body gives an exit code: 130 if what it ran was killed
 */
export async function interruptible(folder: string, stack: string, body: () => Promise<number>): Promise<number> {
  process.env["TMPDIR"] = folder;
  process.env[FOLDERS_FILE] = foldersFile(folder);
  let removal: Promise<unknown> | undefined;
  const remove = () => {
    removal ??= removeApart(folder, stack);
    return removal;
  };
  for (const [signal, code] of Object.entries(CODES))
    process.on(signal, () => {
      if (removal === undefined) console.log(`\n${signal}: removing the instances and processes of this run`);
      void remove().finally(() => process.exit(code));
    });
  try {
    const code = await body();
    if (code === CODES.SIGINT) await remove();
    return code;
  } finally {
    await removal;
  }
}

/**
 * Runs `body` with the directory of an instance that is removed afterwards, even if a signal interrupts `body`. Runs the command of this
 * process again in another process, whose call runs `body`: the removal then finds and ends it as any other process of the run.
 * @param kind begins the name of the temporary folder: `fleet-preview`
 * @param keep keep the instance unless a signal interrupts `body`
 */
export async function withTemporaryInstance(
  kind: string,
  stack: string,
  body: (dir: string) => Promise<number>,
  keep = false,
): Promise<number> {
  const given = process.env[INSTANCE];
  if (given !== undefined) {
    delete process.env[INSTANCE];
    return body(given);
  }
  const folder = await temporaryFolder(kind, stack);
  const dir = join(folder, "instance");
  const argv = [process.execPath, ...process.execArgv, ...process.argv.slice(1)] as const;
  try {
    return await interruptible(folder, stack, () => foreground(argv, { env: { ...process.env, [INSTANCE]: dir } }));
  } finally {
    // The last lines are those of the command.
    if (!keep) await removeTemporary(folder, stack, () => {});
    else if (existsSync(dir)) console.log(`Instance kept: FLEET_LOCAL_DIR=${dir}`);
  }
}

/** Removes a temporary folder in a session apart from the terminal: a second Ctrl-C must not end the commands that the removal runs. */
async function removeApart(folder: string, stack: string): Promise<void> {
  const argv = [join(import.meta.dirname, "remove-temporary.ts"), folder, stack];
  const [code] = await once(
    spawn(process.execPath, argv, { detached: true, stdio: ["ignore", "inherit", "inherit"] }),
    "exit",
  );
  if (code !== 0) console.error(`${folder} is not removed: the next run of the same command tries again`);
}
