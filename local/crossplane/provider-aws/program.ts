/** What every program of the family does around its controller: flags, log, orderly end. */
import { ClusterClient, inCluster } from "./cluster/client.ts";
import { type Log, runController } from "./controller.ts";
import { runFamily } from "./family.ts";
import type { Kind } from "./kind.ts";
import { type Options, parseOptions } from "./options.ts";

/** Log lines are JSON, one each, on standard error. */
const logFor =
  (debug: boolean): Log =>
  (level, message, details = {}) => {
    if (level === "debug" && !debug) return;
    process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...details })}\n`);
  };

type Body = (client: ClusterClient, options: Options, log: Log, signal: AbortSignal) => Promise<void>;

/** Runs until SIGTERM or SIGINT; passes that run then come to their end, so that no id of a new resource is lost. */
async function run(body: Body): Promise<void> {
  try {
    await runUntilStopped(body);
    process.exit(0);
  } catch (error) {
    logFor(false)("error", (error as Error).message);
    process.exit(1);
  }
}

async function runUntilStopped(body: Body): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const log = logFor(options.debug);
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const)
    process.on(name, () => {
      log("info", "stopping", { signal: name });
      stop.abort();
    });
  await body(new ClusterClient(await inCluster(process.env)), options, log, stop.signal);
}

/** The program of a member of the family, by the short name of its API group. */
export const runProgram = (group: string, kinds: readonly Kind[]): Promise<void> =>
  run((client, options, log, signal) => {
    const name = process.env["PROVIDER_NAME"] ?? `provider-aws-${group}`;
    return runController(name, kinds, client, options, log, signal);
  });

/** The program of the family's own package. */
export const runFamilyProgram = (): Promise<void> => run(runFamily);
