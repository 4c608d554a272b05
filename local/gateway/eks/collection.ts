import type * as z from "zod";
import { EksError, inUse } from "./errors.ts";
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
  /** As operations name one. */
  readonly noun: "Addon" | "Nodegroup" | "AccessEntry" | "PodIdentityAssociation";
  /** The member that names one in requests. */
  readonly id: keyof View & string;
  /** The member of answers that has one. */
  readonly member: string;
  items(record: ClusterRecord): Record<string, Item>;
  view(item: Item): View;
  arn(view: View): string;
  /** The resource in the ARN of one that does not exist, whose last part only the record would know. */
  resource(clusterName: string, id: string): string;
  notFound(id: string, clusterName: string): string;
  /** The member with a role that requests pass, and the service that gets it. */
  readonly passes?: { readonly member: string; readonly service: string };
  /** Condition keys of requests. */
  conditions?(name: OperationName, request: Unchecked): Authorization["context"];
}

interface Named {
  readonly clusterName: string;
  readonly clientRequestToken?: string | undefined;
}

/** How one is made: `make` checks the request, the rest happens in one edit of the record. */
interface Creation<Item, Shape extends z.ZodRawShape> {
  /** One that an earlier request of the same token has made. */
  repeated?(record: ClusterRecord, request: Request<Shape> & Named): Item | undefined;
  make(context: EksContext, request: Request<Shape> & Named, record: ClusterRecord): Item | Promise<Item>;
  /** What is wrong when one is there already; undefined where none is. */
  taken(record: ClusterRecord, item: Item): string | undefined;
  /** Throws where the cluster can't have one now. */
  added?(context: EksContext, record: ClusterRecord, item: Item): void;
}

type Edit<Item> = (item: Item, record: ClusterRecord) => unknown;

/** The operations of a kind, with its errors and its authorization. */
export function collection<Item, View extends { tags: Record<string, string> }>(kind: Kind<Item, View>) {
  const { id, member, noun } = kind;
  const idIn = (request: Unchecked): string => stringOf(request[id]);
  const of = (record: ClusterRecord, one: string): Item => {
    const found = kind.items(record)[one];
    if (found !== undefined) return found;
    const { name } = record.cluster;
    throw new EksError("ResourceNotFoundException", kind.notFound(one, name), { clusterName: name, [id]: one });
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
      const found = record && kind.items(record)[idIn(request)];
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
      { repeated, make, taken, added }: Creation<Item, Shape>,
    ): Operation {
      const name = `Create${noun}` as const;
      const authorize: Operation["authorize"] = (context, request) => ({
        ...onCluster(context, request),
        ...authorization(name, request),
      });
      return operation(
        name,
        { clusterName: text, ...shape, tags: tags.default({}), clientRequestToken },
        authorize,
        async (context, checked) => {
          const request = checked as unknown as Request<Shape> & Named;
          const before = context.store.get(request.clusterName);
          const same = repeated?.(before, request);
          if (same !== undefined) return { [member]: kind.view(same) };
          const item = await make(context, request, before);
          return changed(context, request.clusterName, (record) => {
            const obstacle = taken(record, item);
            if (obstacle !== undefined) throw inUse(obstacle, { clusterName: request.clusterName });
            added?.(context, record, item);
            const view = Object.assign(kind.view(item), { tags: (checked as Unchecked)["tags"] });
            kind.items(record)[view[id] as string] = item;
            return { [member]: view };
          });
        },
      );
    },

    describe: (): Operation =>
      operation(`Describe${noun}`, named, onOne(`Describe${noun}`), (context, request) => ({
        [member]: kind.view(of(context.store.get(request["clusterName"] as string), idIn(request))),
      })),

    list<Shape extends z.ZodRawShape>(
      name: OperationName,
      {
        member: members,
        shape,
        keep = () => true,
        row,
      }: {
        member: string;
        shape: Shape;
        keep?(item: Item, request: Request<Shape>): boolean;
        row?(view: View): unknown;
      },
    ): Operation {
      return list(name, {
        member: members,
        shape: { clusterName: text, ...shape },
        authorize: onCluster,
        items: (context, request) =>
          Object.values(kind.items(context.store.get((request as unknown as Named).clusterName)))
            .filter((item) => keep(item, request as unknown as Request<Shape>))
            .map(kind.view),
        keyOf: (view) => view[id] as string,
        ...(row && { row }),
      });
    },

    /** An operation that changes one. `prepare` checks the request; the edit that it gives changes the record and answers. */
    edit<Shape extends z.ZodRawShape>(
      name: OperationName,
      shape: Shape,
      prepare: (
        context: EksContext,
        request: Request<Shape> & Named,
        item: Item,
        record: ClusterRecord,
      ) => Edit<Item> | Promise<Edit<Item>>,
    ): Operation {
      return operation(name, { ...named, ...shape }, onOne(name), async (context, checked) => {
        const request = checked as unknown as Request<Shape> & Named;
        const before = context.store.get(request.clusterName);
        const edit = await prepare(context, request, of(before, idIn(checked)), before);
        return changed(context, request.clusterName, (record) => edit(of(record, idIn(checked)), record));
      });
    },
  };
}
