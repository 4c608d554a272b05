import type { ClusterAccess } from "../../lib/kubeconfig.ts";
import type { Api } from "./api.ts";
import type { Reach } from "./reach.ts";

/** Asks a spoke for something, and for no longer than the deadline, whatever its API server and its client do. */
export async function ask<T>(
  reach: Reach,
  [spoke, access]: readonly [string, ClusterAccess],
  question: (api: Api) => Promise<T>,
  deadline: number,
): Promise<T> {
  const signal = AbortSignal.timeout(deadline);
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error(`it did not answer within ${deadline / 1000} s`, { cause: signal.reason }));
    signal.addEventListener("abort", fail, { once: true });
  });
  const answer = async () => question(await reach(spoke, access, signal));
  return Promise.race([answer(), late]);
}
