import { preparedAddons } from "../clusters/index.ts";
import { currentInstance } from "../instance/index.ts";
import { ensureToolchain } from "../toolchain/index.ts";
import { localWorkspaces } from "./aps/local-workspaces.ts";
import { ensureInstanceCa } from "./ca.ts";
import { localClusters } from "./eks/local-clusters.ts";
import { clustersBut, RECORDED_CLUSTERS } from "./eks/recorded-clusters.ts";
import { startGateway, tokenWebhookUrl } from "./gateway.ts";

/** Each line with its time; the supervisor keeps the output in a file. */
const consoleLog = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);

const instance = await currentInstance();

let charts: Promise<string> | undefined;
const gateway = await startGateway({
  instance,
  clusters: clustersBut(
    localClusters(instance, (cluster) => tokenWebhookUrl(instance, cluster)),
    process.env[RECORDED_CLUSTERS],
    (await ensureInstanceCa(instance)).certificate,
  ),
  workspaces: localWorkspaces(instance),
  charts: async () => {
    charts ??= ensureToolchain().then((toolchain) => toolchain.charts);
    // Add-ons may be prepared while it runs.
    return (await preparedAddons(instance))?.charts ?? charts;
  },
  log: consoleLog,
});
consoleLog(
  `listening for instance ${instance.index}: AWS API on ${instance.awsEndpoint}, AWS names on ${instance.gatewayAddress}:443`,
);

for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.once(signal, () => {
    void gateway.close().then(() => process.exit(0));
  });
