/** Names of clusters in an instance: EKS has names of its own in each account, an instance runs the clusters of all of them. */

/** The account of an instance's hub: ministack's default. */
export const ACCOUNT = "000000000000";

/** What an instance calls a cluster: in the hub's account by its name, which has no dot (CreateCluster, API reference), in another with the account behind it. */
export const clusterId = (name: string, account: string): string => (account === ACCOUNT ? name : `${name}.${account}`);

/** The name and the account of a cluster by what the instance calls it. */
export function parseClusterId(id: string): { readonly name: string; readonly account: string } {
  const [name = "", account = ACCOUNT] = id.split(".");
  return { name, account };
}

/** What an instance calls the cluster with this ARN. */
export function clusterIdOf({ name, arn }: { readonly name: string; readonly arn: string }): string {
  return clusterId(name, arn.split(":")[4] ?? ACCOUNT);
}
