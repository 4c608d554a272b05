import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { KubeConfig } from "@kubernetes/client-node";
import { inventoryApi } from "./api.ts";
import { readHubFacts } from "./cluster.ts";
import { pass } from "./pass.ts";

/**
 * Keeps the hub's ClusterProfiles (repos/gitops-system/platform/hub/cluster-inventory). It looks at everything again and again instead of
 * watching: KEP-4322 has no more than one change of a profile in half a minute in mind.
 */

/** Milliseconds between two looks, and for one. */
const INTERVAL = 30_000;
const PATIENCE = 25_000;

const PORT = 8080;

// The first process of a container ends by no signal that it doesn't handle.
process.on("SIGTERM", () => process.exit());

const hub = readHubFacts(process.env);
const namespace = readFileSync("/var/run/secrets/kubernetes.io/serviceaccount/namespace", "utf8").trim();
const config = new KubeConfig();
config.loadFromCluster();
const authority = config.getCurrentCluster()?.caFile;
if (authority === undefined)
  throw new Error("this program runs in a pod with a service account: it found no authority");

/** What is wrong; empty when the last look went well. */
let problems: readonly string[] = ["nothing has been looked at yet"];

createServer((_, response) => {
  response.statusCode = problems.length === 0 ? 200 : 503;
  response.end(`${problems.join("\n") || "ok"}\n`);
}).listen(PORT);

for (;;) {
  try {
    const api = inventoryApi(config, namespace, AbortSignal.timeout(PATIENCE));
    const certificateAuthority = readFileSync(authority).toString("base64");
    const { done, failed } = await pass({ api, hub, certificateAuthority, now: new Date() });
    for (const line of done) console.log(line);
    problems = failed;
  } catch (error) {
    problems = [(error as Error).message];
  }
  for (const problem of problems) console.error(problem);
  await sleep(INTERVAL);
}
