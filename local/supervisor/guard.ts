import { join } from "node:path";
import type { Instance } from "../instance/addresses.ts";
import { baseEnv, spawnLogged } from "./launch.ts";
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
  const env = {
    ...baseEnv(instance, SUPERVISOR_ID),
    FLEET_LOCAL_DIR: instance.dir,
    EVENTS: instance.paths.events,
    LOG: path,
  };
  const argv = ["sh", "-c", LOOP, "sh", process.execPath, join(import.meta.dirname, "main.ts")] as const;
  (await spawnLogged(argv, env, path)).unref();
}
