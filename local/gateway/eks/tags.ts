import { EksError } from "./errors.ts";
import type { ClusterRecord } from "./model.ts";
import { type Call, type EksContext, type Operation, pathPart, tagsOf } from "./operation.ts";
import type { Store } from "./store.ts";

const onArn = (_context: EksContext, call: Omit<Call, "caller">) => ({ resource: call.path["resourceArn"] ?? "*" });
const PATH = "/tags/{resourceArn}";

export const tagOperations: readonly Operation[] = [
  {
    name: "ListTagsForResource",
    method: "GET",
    path: PATH,
    authorize: onArn,
    run: (context, call) => ({ tags: found(context, call).tags }),
  },
  {
    name: "TagResource",
    method: "POST",
    path: PATH,
    accepts: ["tags"],
    authorize: onArn,
    run: (context, call) => retag(context, call, (tags) => ({ ...tags, ...tagsOf(call.body) })),
  },
  {
    name: "UntagResource",
    method: "DELETE",
    path: PATH,
    authorize: onArn,
    run: (context, call) => {
      const gone = call.query.getAll("tagKeys");
      return retag(context, call, (tags) =>
        Object.fromEntries(Object.entries(tags).filter(([name]) => !gone.includes(name))),
      );
    },
  },
];

type Tagged = { tags: Record<string, string> };

async function retag(
  context: EksContext,
  call: Call,
  edit: (tags: Record<string, string>) => Record<string, string>,
): Promise<object> {
  const { cluster } = found(context, call);
  await context.store.change(cluster, (record) => {
    const target = taggedOf(record, pathPart(call, "resourceArn"));
    if (target !== undefined) target.tags = edit(target.tags);
  });
  return {};
}

function found(context: EksContext, call: Call): { cluster: string; tags: Record<string, string> } {
  const arn = pathPart(call, "resourceArn");
  const target = findTagged(context.store, arn);
  if (target === undefined) throw new EksError("NotFoundException", `there is no EKS resource with ARN ${arn}`);
  return target;
}

/** The tags of the resource with this ARN and the cluster that it belongs to, or undefined. */
export function findTagged(
  store: Pick<Store, "list">,
  arn: string,
): { cluster: string; tags: Record<string, string> } | undefined {
  for (const record of store.list()) {
    const target = taggedOf(record, arn);
    if (target !== undefined) return { cluster: record.cluster.name, tags: target.tags };
  }
  return undefined;
}

function taggedOf(record: ClusterRecord, arn: string): Tagged | undefined {
  const all: [string, Tagged][] = [
    [record.cluster.arn, record.cluster],
    ...Object.values(record.nodegroups).map(({ nodegroup }): [string, Tagged] => [nodegroup.nodegroupArn, nodegroup]),
    ...Object.values(record.accessEntries).map(({ entry }): [string, Tagged] => [entry.accessEntryArn, entry]),
    ...Object.values(record.addons).map((addon): [string, Tagged] => [addon.addonArn, addon]),
    ...Object.values(record.podIdentityAssociations).map((item): [string, Tagged] => [item.associationArn, item]),
  ];
  return all.find(([candidate]) => candidate === arn)?.[1];
}
