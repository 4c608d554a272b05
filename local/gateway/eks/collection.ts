import * as z from "zod";
import { inUse, notFound } from "./errors.ts";
import type { ClusterRecord } from "./model.ts";
import {
  type Authorization,
  changed,
  clientRequestToken,
  type EksContext,
  eksArn,
  list,
  type Operation,
  type OperationName,
  onCluster,
  operation,
  passedRole,
  type Request,
  stringOf,
  tags,
  text,
  type Unchecked,
} from "./operation.ts";

/** One kind of thing that a cluster has: add-ons, node groups, access entries, pod identity associations. */
export interface Kind<Item, View> {
  /** Its name in operations. */
  readonly noun: "Addon" | "Nodegroup" | "AccessEntry" | "PodIdentityAssociation";
  /** The request member that identifies one. */
  readonly id: keyof View & string;
  /** The response member that holds one. */
  readonly member: string;
  items(record: ClusterRecord): Record<string, Item>;
  view(item: Item): View;
  arn(view: View): string;
  /** Resource part of the ARN of one that does not exist, with `*` for the id that only a record has. */
  resource(clusterName: string, id: string): string;
  notFound(id: string, clusterName: string): string;
  /** The request member that passes a role, and the service that receives it. */
  readonly passes?: { readonly member: string; readonly service: string };
  /** Condition keys of requests. */
  conditions?(name: OperationName, request: Unchecked): Authorization["context"];
}

type Members<Shape extends z.ZodRawShape> = Request<Shape> & {
  readonly clusterName: string;
  readonly clientRequestToken?: string | undefined;
};

/** How one is created: `make` checks the request, the rest happens in one edit of the record. */
interface Creation<Item, View, Shape extends z.ZodRawShape> {
  make(context: EksContext, request: Members<Shape>, record: ClusterRecord): Item | Promise<Item>;
  /** The message when it already exists. */
  exists(view: View): string;
  /** Client token of the request that created it: repeating the request gives the same answer. */
  tokenOf?(item: Item): string | undefined;
  /** The one that the request would make a second time, where not the request but EKS gives the id. */
  same?(record: ClusterRecord, request: Members<Shape>): Item | undefined;
  /** Throws when the cluster can't take it now; adds what comes with it. */
  added?(context: EksContext, record: ClusterRecord, item: Item): void;
}

type Edit<Item> = (item: Item, record: ClusterRecord) => unknown;

/** The operations of a kind, with its errors and its authorization. */
export function collection<Item, View extends { tags: Record<string, string> }>(kind: Kind<Item, View>) {
  const { id, member, noun } = kind;
  const idIn = (request: Unchecked): string => stringOf(request[id]);
  const find = (record: ClusterRecord, one: string): Item | undefined => {
    const items = kind.items(record);
    return Object.hasOwn(items, one) ? items[one] : undefined;
  };
  const of = (record: ClusterRecord, one: string): Item => {
    const found = find(record, one);
    if (found !== undefined) return found;
    const { name } = record.cluster;
    throw notFound(kind.notFound(one, name), { clusterName: name, [id]: one });
  };
  const authorization = (name: OperationName, request: Unchecked) => ({
    passRoles: kind.passes === undefined ? [] : passedRole(request[kind.passes.member], kind.passes.service),
    context: kind.conditions?.(name, request) ?? {},
  });
  const onOne =
    (name: OperationName): Operation["authorize"] =>
    (context, request) => {
      const cluster = stringOf(request["clusterName"]);
      const record = context.store.find(cluster);
      const found = record && find(record, idIn(request));
      const resource =
        found === undefined ? eksArn(context, kind.resource(cluster, idIn(request))) : kind.arn(kind.view(found));
      return { resource, ...authorization(name, request) };
    };
  const named = { clusterName: text, [id]: text };
  return {
    of,
    onOne,
    /** ARN and tags of all that a cluster has. */
    tagged: (record: ClusterRecord): { arn: string; target: { tags: Record<string, string> } }[] =>
      Object.values(kind.items(record)).map((item) => {
        const view = kind.view(item);
        return { arn: kind.arn(view), target: view };
      }),

    create<Shape extends z.ZodRawShape>(
      shape: Shape,
      {
        make,
        exists,
        tokenOf,
        same: sameAs = (record, request) => find(record, idIn(request)),
        added,
      }: Creation<Item, View, Shape>,
    ): Operation {
      const name = `Create${noun}` as const;
      const all = { clusterName: text, ...shape, tags: tags.default({}), clientRequestToken };
      const authorize: Operation["authorize"] = (context, request) => ({
        ...onCluster(context, request),
        ...authorization(name, request),
      });
      return operation(name, all, authorize, async (context, checked) => {
        const request = checked as unknown as Members<Shape> & { tags: Record<string, string> };
        const { clusterName, clientRequestToken: token } = request;
        const before = context.store.get(clusterName);
        const same = sameAs(before, request);
        if (same !== undefined && token !== undefined && tokenOf?.(same) === token)
          return { [member]: kind.view(same) };
        const item = await make(context, request, before);
        return changed(context, clusterName, (record) => {
          const view = Object.assign(kind.view(item), { tags: request.tags });
          const one = stringOf(view[id]);
          const other = sameAs(record, request);
          if (other !== undefined)
            throw inUse(exists(kind.view(other)), { clusterName, [id]: stringOf(kind.view(other)[id]) });
          added?.(context, record, item);
          kind.items(record)[one] = item;
          return { [member]: view };
        });
      });
    },

    describe: (): Operation =>
      operation(`Describe${noun}`, named, onOne(`Describe${noun}`), (context, request) => ({
        [member]: kind.view(of(context.store.get(request["clusterName"] as string), idIn(request))),
      })),

    /** Lists ids, or what `row` makes of each; the answer has them as `members`. `filters` are members that both have. */
    list: (
      name: OperationName,
      members: string,
      { filters = [], row }: { filters?: readonly (keyof View & string)[]; row?: (view: View) => unknown } = {},
    ): Operation =>
      list(name, {
        member: members,
        shape: { clusterName: text, ...Object.fromEntries(filters.map((filter) => [filter, z.string().optional()])) },
        authorize: onCluster,
        items: ({ store }, request) => {
          const { clusterName, ...asked } = request as { clusterName: string } & Unchecked;
          const views = Object.values(kind.items(store.get(clusterName))).map(kind.view);
          return views.filter((view) => filters.every((of) => asked[of] === undefined || asked[of] === view[of]));
        },
        keyOf: (view) => view[id] as string,
        ...(row && { row }),
      }),

    /** An operation that changes one. `prepare` checks the request; the edit that it gives changes the record and answers. */
    edit<Shape extends z.ZodRawShape>(
      name: OperationName,
      shape: Shape,
      prepare: (
        context: EksContext,
        request: Members<Shape>,
        item: Item,
        record: ClusterRecord,
      ) => Edit<Item> | Promise<Edit<Item>>,
    ): Operation {
      return operation(name, { ...named, ...shape }, onOne(name), async (context, checked) => {
        const request = checked as unknown as Members<Shape>;
        const before = context.store.get(request.clusterName);
        const edit = await prepare(context, request, of(before, idIn(checked)), before);
        return changed(context, request.clusterName, (record) => edit(of(record, idIn(checked)), record));
      });
    },
  };
}
