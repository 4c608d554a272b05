import { accessEntries } from "./access-entries.ts";
import { addons } from "./addons.ts";
import { noSuchArn } from "./errors.ts";
import type { ClusterRecord } from "./model.ts";
import { nodegroups } from "./nodegroups.ts";
import { type EksContext, type Operation, tagOperations as operationsOn, tags } from "./operation.ts";
import { podIdentities } from "./pod-identity.ts";

type Tagged = { tags: Record<string, string> };

/** The tags of the resource with this ARN and the cluster that it belongs to, or undefined. */
export function findTagged({ store }: Pick<EksContext, "store">, arn: string) {
  return store
    .list()
    .flatMap((record) => taggedIn(record, arn).map((tagged) => ({ id: record.cluster.name, tags: tagged.tags })))[0];
}

const taggedIn = (record: ClusterRecord, arn: string): Tagged[] =>
  [
    { arn: record.cluster.arn, target: record.cluster },
    ...[nodegroups, accessEntries, addons, podIdentities].flatMap((kind) => kind.tagged(record)),
  ].flatMap((candidate) => (candidate.arn === arn ? [candidate.target] : []));

export const tagOperations: readonly Operation[] = operationsOn({
  shape: tags,
  find: findTagged,
  change: ({ store }, cluster, arn, edit) =>
    store.change(cluster, (record) => {
      for (const target of taggedIn(record, arn)) edit(target.tags);
    }),
  missing: (arn) => noSuchArn(`there is no EKS resource with ARN ${arn}`),
});
