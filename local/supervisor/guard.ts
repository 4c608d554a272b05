import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Instance } from "../instance/addresses.ts";
import { baseEnv } from "./launch.ts";
import { logOf } from "./logs.ts";
import { SUPERVISOR_ID } from "./supervisor.ts";

// A shell costs 1 MB and has nothing that could fail: it only starts the supervisor again until that ends with 0.
const LOOP = `while :; do
  "$@" && exit 0
  echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) supervisor ended (exit code $?): starting it again. Log: $LOG" >>"$EVENTS"
  sleep 0.5
done`;

/** Starts a supervisor under a guard, in a session of their own, so that both outlive the caller. */
export async function startGuard(instance: Instance): Promise<void> {
  const path = logOf(instance, SUPERVISOR_ID);
  const log = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600);
  try {
    const child = spawn("sh", ["-c", LOOP, "sh", process.execPath, join(import.meta.dirname, "main.ts")], {
      cwd: "/",
      env: {
        ...baseEnv(instance, SUPERVISOR_ID),
        FLEET_LOCAL_DIR: instance.dir,
        EVENTS: instance.paths.events,
        LOG: path,
      },
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    child.unref();
  } finally {
    await log.close();
  }
}
