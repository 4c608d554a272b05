/** Talking to the supervisor of an instance. */
export { type ProcessSpec, supervisorOf } from "./client.ts";
export { tryProbe } from "./ready.ts";
export { loadRecord } from "./record.ts";
export { SUPERVISOR_ID } from "./supervisor.ts";
