/** What every program of the family does around its controller: flags, orderly end. */
import { type Log, logFor, runUntilStopped } from "../../program.ts";
import { ClusterClient, inCluster } from "./cluster/client.ts";
import { runController } from "./controller.ts";
import { runFamily } from "./family.ts";
import type { Kind } from "./kind.ts";
import { type Options, parseOptions } from "./options.ts";

type Body = (client: ClusterClient, options: Options, log: Log, signal: AbortSignal) => Promise<void>;

/** Runs until it is told to stop; passes that run then come to their end, so that no id of a new resource is lost. */
const run = (body: Body): Promise<void> =>
  runUntilStopped(async (signal) => {
    const options = parseOptions(process.argv.slice(2));
    const client = new ClusterClient(await inCluster(process.env), "provider-aws");
    await body(client, options, logFor(options.debug), signal);
  });

/** The program of a member of the family, by the short name of its API group. */
export const runProgram = (group: string, kinds: readonly Kind[]): Promise<void> =>
  run((client, options, log, signal) => {
    const name = process.env["PROVIDER_NAME"] ?? `provider-aws-${group}`;
    return runController(name, kinds, client, options, log, signal);
  });

/** The program of the family's own package. */
export const runFamilyProgram = (): Promise<void> => run(runFamily);
