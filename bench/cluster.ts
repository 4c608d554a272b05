import { setTimeout as sleep } from "node:timers/promises";
import type { Kubectl, LocalFleet } from "@eks-gitops-fleet/local/cli";
import { adminKubeconfig } from "@eks-gitops-fleet/local/clusters";
import { run } from "@eks-gitops-fleet/local/instance";

/** EKS name of the hub of the local stack. */
export const hub = "fleet-hub";
/** EKS name of a spoke of the local stack. */
export const spokeCluster = (spoke: string): string => `fleet-spoke-${spoke}`;

/** The command of a cluster's administrator: without the AWS CLI, which would cost more than what is measured. */
export const adminOf = ({ instance, toolchain }: LocalFleet, cluster: string): [string, ...string[]] => [
  toolchain().bin("kubectl"),
  "--kubeconfig",
  adminKubeconfig(instance(), cluster),
];

/** kubectl as a cluster's administrator. */
export const kubectlOn =
  (fleet: LocalFleet, cluster: string): Kubectl =>
  (args) =>
    run([...adminOf(fleet, cluster), ...args], {});

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
}

/** What is read of objects with conditions. */
export interface Conditioned {
  readonly metadata: { readonly name: string; readonly creationTimestamp?: string };
  readonly status?: { readonly phase?: string; readonly message?: string; readonly conditions?: readonly Condition[] };
}

/** The condition of an object when it is True. */
export const holding = (object: Conditioned, type: string): Condition | undefined =>
  object.status?.conditions?.find((condition) => condition.type === type && condition.status === "True");

/** Objects in the namespace of spokes. */
export async function listed(kubectl: Kubectl, kinds: string, selector?: string): Promise<Conditioned[]> {
  const labels = selector === undefined ? [] : ["--selector", selector];
  return JSON.parse(await kubectl(["get", kinds, "--namespace", "spokes", ...labels, "--output", "json"])).items;
}

/** Asks every `pause` milliseconds until `done` says so; rejects with what `state` says after `limit` milliseconds. */
export async function until(
  done: () => Promise<boolean>,
  { pause, limit, state }: { readonly pause: number; readonly limit: number; readonly state: () => string },
): Promise<void> {
  const deadline = performance.now() + limit;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`not done after ${limit / 1000} s: ${state()}`);
    await sleep(pause);
  }
}
