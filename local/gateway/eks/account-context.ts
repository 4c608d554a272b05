import { clusterId } from "../../instance/cluster-id.ts";
import type { EksContext } from "./operation.ts";
import type { ReconcileContext } from "./reconcile/context.ts";
import type { InstanceStore } from "./store.ts";

type Instance<C extends EksContext> = C & { readonly store: InstanceStore };

/** The EKS API of one account: its own clusters, by their names, and IAM and EC2 of the account. */
export function accountContext(whole: Instance<EksContext>, account: string): EksContext {
  const { store, clusters, wake } = whole;
  const idOf = (name: string) => clusterId(name, account);
  return {
    ...whole,
    account,
    aws: whole.awsOf(account),
    store: store.ofAccount(account),
    clusters: { ...clusters, of: (name) => clusters.of(idOf(name)) },
    wake: (name) => wake(idOf(name)),
  };
}

/** The background work of one account. */
export const accountWork = (whole: Instance<ReconcileContext>, account: string): ReconcileContext => ({
  ...whole,
  ...accountContext(whole, account),
  webhookUrl: (cluster) => whole.webhookUrl(clusterId(cluster, account)),
});
