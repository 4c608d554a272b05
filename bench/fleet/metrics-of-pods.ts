import { run } from "@eks-gitops-fleet/local/instance";
import { counter } from "../metrics.ts";
import type { Process } from "./processes.ts";

/** Controllers that tell their reconciliations, on port 8080 of their pods. */
const WITH_METRICS = [
  "source-controller",
  "source-watcher",
  "kustomize-controller",
  "helm-controller",
  "notification-controller",
  "crossplane",
];
const METRICS = "http://127.0.0.1:8080/metrics";
const FETCH = `const answer = await fetch("${METRICS}"); if (!answer.ok) throw new Error("HTTP " + answer.status); process.stdout.write(await answer.text());`;

/** The metrics of a pod by one of its processes: in its network namespace, so that neither the API server nor a NetworkPolicy is asked. */
const metricsOf = (pid: number): Promise<string> =>
  run(["nsenter", `--net=/proc/${pid}/ns/net`, process.execPath, "--input-type=module", "--eval", FETCH]);

const RECONCILES = "controller_runtime_reconcile_total";

/** How often a controller has reconciled. One that is not the leader yet has begun nothing, and so has no counter. */
const reconcilesIn = (metrics: string): number => (metrics.includes(RECONCILES) ? counter(metrics, RECONCILES) : 0);

/** How often each controller has reconciled an object since it started. */
export async function reconcilesOf(processes: readonly Process[]): Promise<Map<string, number>> {
  const found = processes.filter(({ group }) => WITH_METRICS.includes(group));
  const counts = new Map<string, number>();
  for (const { pid, group } of found) if (!counts.has(group)) counts.set(group, reconcilesIn(await metricsOf(pid)));
  return counts;
}
