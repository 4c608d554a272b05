import { runsPodIdentityAgent } from "../addons.ts";
import { isAuto } from "../auto-mode.ts";
import { type NodesContext, startedNodesOf } from "./nodegroup-nodes.ts";

/** Starts or stops the EKS Pod Identity Agent on all started nodes of a cluster, as its add-on is there or not. */
export async function podIdentityAgentStep(context: NodesContext, name: string): Promise<void> {
  const record = context.store.get(name);
  // Nodes of EKS Auto Mode have it built in; here all of such a cluster.
  const running = isAuto(record.cluster) || runsPodIdentityAgent(record);
  await Promise.all(
    startedNodesOf(context, record).map(async ({ number, started }) => {
      if (started.agent === running) return;
      await context.clusters.of(name).runPodIdentityAgent(number, running);
      started.agent = running;
    }),
  );
}
