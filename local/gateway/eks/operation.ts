import type * as sdk from "@aws-sdk/client-eks";
import * as z from "zod";
import type { AwsLookups } from "../aws/lookups.ts";
import type { ClusterRecord } from "./model.ts";
import type { Clusters } from "./runtime.ts";
import type { Store } from "./store.ts";

/** What every operation works with. */
export interface EksContext {
  readonly region: string;
  readonly account: string;
  readonly partition: string;
  readonly store: Store;
  readonly clusters: Clusters;
  /** IAM and EC2 as the service sees them (not with the caller's rights). */
  readonly aws: AwsLookups;
  /** Seconds since 1970. */
  now(): number;
  /** Schedules another look at a cluster's background work. */
  wake(cluster: string): void;
}

/** What ministack must allow before an operation runs. */
export interface Authorization {
  /** ARN of the resource; "*" for operations without one. */
  readonly resource: string;
  /** Roles that the call hands to a service: each needs iam:PassRole. */
  readonly passRoles?: readonly { readonly arn: string; readonly service: string }[];
  /** Condition keys of the EKS API, such as eks:principalArn; undefined ones are left out. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** A request before it is checked: any member may be missing or of another type. */
export type Unchecked = Readonly<Record<string, unknown>>;

export type OperationName = {
  [K in keyof typeof sdk]: K extends `${infer Name}Command` ? Name : never;
}[keyof typeof sdk];

/** An operation of the EKS API. Its method, its path and where the members of its request are come from the SDK's model. */
export interface Operation {
  readonly name: OperationName;
  /** The members of the request that are honoured; any other is refused. */
  readonly request: z.ZodObject;
  authorize(context: EksContext, request: Unchecked): Authorization;
  /** `caller` is the ARN that sts:GetCallerIdentity gives. */
  run(context: EksContext, request: Unchecked, caller: string): unknown;
}

export type Request<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

export function operation<Shape extends z.ZodRawShape>(
  name: OperationName,
  shape: Shape,
  authorize: Operation["authorize"],
  run: (context: EksContext, request: Request<Shape>, caller: string) => unknown,
): Operation {
  return { name, request: structure(shape), authorize, run: run as Operation["run"] };
}

/** A structure that refuses any member but these. */
export const structure = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `${issue.keys.join(", ")} is not served by the embedded cloud; allowed are ${Object.keys(shape).join(", ")}`
        : undefined,
  });

export const text = z.string().min(1);
export const texts = z.array(z.string());
export const tags = z.record(z.string(), z.string());
export const clientRequestToken = z.string().optional();
const paging = { maxResults: z.number().int().min(1).max(100).default(100), nextToken: z.string().optional() };

/** ARN of a resource of the EKS API. */
export function eksArn(context: Pick<EksContext, "partition" | "region" | "account">, resource: string): string {
  return `arn:${context.partition}:eks:${context.region}:${context.account}:${resource}`;
}

/** The member if it is a string, otherwise "": for ARNs and condition keys of requests that are not checked yet. */
export const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Authorization on the cluster that a request names. */
export const onCluster: Operation["authorize"] = (context, { name, clusterName = name }) => ({
  resource: eksArn(context, `cluster/${stringOf(clusterName)}`),
});

export const onAnything: Operation["authorize"] = () => ({ resource: "*" });

/** The role that a request hands to a service, for iam:PassRole; none where the member is missing. */
export function passedRole(arn: unknown, service: string): { arn: string; service: string }[] {
  return stringOf(arn) === "" ? [] : [{ arn: stringOf(arn), service }];
}

/** Changes the record of a cluster and schedules its background work. */
export async function changed<T>(context: EksContext, name: string, edit: (record: ClusterRecord) => T): Promise<T> {
  const result = await context.store.change(name, edit);
  context.wake(name);
  return result;
}

/** What a list answers with, in pages: `member` of the answer has a row for each item, in the order of `keyOf`. */
export interface Listing<Item, Shape extends z.ZodRawShape> {
  readonly member: string;
  readonly shape: Shape;
  authorize: Operation["authorize"];
  items(context: EksContext, request: Request<Shape>): readonly Item[];
  keyOf(item: Item): string;
  row?(item: Item, request: Request<Shape>): unknown;
  /** Members of the answer beside the list. */
  beside?(request: Request<Shape>): object;
}

/** An operation that lists; the token of a page is the last key before it. */
export function list<Item, Shape extends z.ZodRawShape>(name: OperationName, of: Listing<Item, Shape>): Operation {
  return operation(name, { ...of.shape, ...paging }, of.authorize, (context, request) => {
    const { maxResults, nextToken } = request as Request<typeof paging>;
    const own = request as Request<Shape>;
    const { keyOf, row = keyOf } = of;
    const after = nextToken === undefined ? "" : Buffer.from(nextToken, "base64url").toString();
    const rest = of
      .items(context, own)
      .filter((item) => keyOf(item) > after)
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    const shown = rest.slice(0, maxResults);
    const last = shown.at(-1);
    return {
      [of.member]: shown.map((item) => row(item, own)),
      ...of.beside?.(own),
      ...(rest.length > shown.length && last !== undefined
        ? { nextToken: Buffer.from(keyOf(last)).toString("base64url") }
        : {}),
    };
  });
}
