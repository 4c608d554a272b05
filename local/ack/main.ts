/** The program in the images of ACK's controllers: `program.mjs sqs --aws-region=…`. */
import { connectAws } from "../aws/connection.ts";
import { ClusterClient, inCluster } from "../crossplane/provider-aws/cluster/client.ts";
import { logFor, runUntilStopped } from "../program.ts";
import { runController, serveHealth } from "./controller.ts";
import type { Service } from "./definitions.ts";
import type { Kind } from "./kinds/kind.ts";
import { readSettings } from "./settings.ts";

/** Loaded by need: the client of a service that a pod doesn't use would only take its memory. */
const kinds: Readonly<Record<Service, () => Promise<Kind>>> = {
  dynamodb: async () => (await import("./kinds/table.ts")).table,
  sqs: async () => (await import("./kinds/queue.ts")).queue,
};

/** Attempts per call, as the AWS SDK for Go has it by default. */
const MAX_ATTEMPTS = 3;

await runUntilStopped(async (signal) => {
  const settings = readSettings(process.argv.slice(2));
  const { region, service } = settings;
  const version = process.env["CONTROLLER_VERSION"] ?? "unknown";
  const log = logFor(settings.isDebug);
  const client = new ClusterClient(await inCluster(process.env), `ack-${service}-controller`);
  await serveHealth(signal);
  // The SDK's own chain finds the role of the service account.
  const aws = connectAws({ region, maxAttempts: MAX_ATTEMPTS });
  const account = await aws.accountId();
  log("info", "stand-in for ACK's controller", { service, version, region, account });
  await runController(await kinds[service](), client, { aws, settings, version }, log, signal);
});
