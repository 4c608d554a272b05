/** Operations of the APIs that the gateway answers itself: what those of EKS, Managed Prometheus and Managed Grafana have in common. */
import * as z from "zod";
import type { ApiError } from "./errors.ts";

/** What ministack must allow before an operation runs. */
export interface Authorization {
  /** ARN of the resource; "*" for operations without one. */
  readonly resource: string;
  /** Roles that the call hands to a service: each needs iam:PassRole. */
  readonly passRoles?: readonly { readonly arn: string; readonly service: string }[];
  /** Actions that the call needs besides its own, each on a resource; of another service with that one's name, `sso:GetProfile`. */
  readonly also?: readonly { readonly action: string; readonly resource: string }[];
  /** Condition keys of the service, such as eks:principalArn; undefined ones are left out. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** A request before it is checked: any member may be missing or of another type. */
export type Unchecked = Readonly<Record<string, unknown>>;

export type Request<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

/** An operation. Its method, its path and where the members of its request are come from the SDK's model. */
export interface Operation<Context, Name extends string = string> {
  readonly name: Name;
  /** The members of the request that are honoured; any other is refused. */
  readonly request: z.ZodObject;
  authorize(context: Context, request: Unchecked): Authorization;
  /** `caller` is the ARN that sts:GetCallerIdentity gives. An operation without an answer gives undefined. */
  run(context: Context, request: Unchecked, caller: string): unknown;
}

/** The names of a client's operations. */
export type OperationNameOf<Sdk> = { [K in keyof Sdk]: K extends `${infer Name}Command` ? Name : never }[keyof Sdk];

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
/** Tags that a caller may set. */
export const ownTags = z
  .record(z.string(), z.string().max(256))
  .refine((all) => Object.keys(all).every((key) => /^(?!aws:).{1,128}$/i.test(key)), {
    error: 'the keys of tags are of 1 to 128 characters and don\'t begin with "aws:"',
  });
const paging = (most: number) => ({
  maxResults: z.number().int().min(1).max(most).default(100),
  nextToken: z.string().optional(),
});

/** The member if it is a string, otherwise "": for ARNs and condition keys of requests that are not checked yet. */
export const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Authorization on the resource that a request names by its ARN. Of requests, ministack reads tags, but not keys that it removes. */
const onArn = (_context: unknown, { resourceArn, tagKeys }: Unchecked): Authorization => ({
  resource: stringOf(resourceArn) || "*",
  ...(Array.isArray(tagKeys) ? { context: { "aws:TagKeys": tagKeys } } : {}),
});

/** A creation with tags needs TagResource as well. */
export const tagging = (given: unknown, resource: string): Pick<Authorization, "also"> =>
  typeof given === "object" && given !== null && Object.keys(given).length > 0
    ? { also: [{ action: "TagResource", resource }] }
    : {};

/** The role that a request hands to a service, for iam:PassRole; none where the member is missing. */
export function passedRole(arn: unknown, service: string): { arn: string; service: string }[] {
  return stringOf(arn) === "" ? [] : [{ arn: stringOf(arn), service }];
}

type Tags = Record<string, string>;

/** How an API finds what has tags by its ARN, and changes them. */
export interface Tagging<Context> {
  /** What a caller may set. */
  readonly shape: typeof tags;
  /** What has this ARN, or undefined. */
  find(context: Context, arn: string): { readonly id: string; readonly tags: Tags } | undefined;
  /** Applies `edit` to the tags of what `find` found. */
  change(context: Context, id: string, arn: string, edit: (present: Tags) => void): Promise<unknown>;
  missing(arn: string): ApiError;
}

/** What a list answers with, in pages: `member` of the answer has a row for each item, in the order of `keyOf`. */
export interface Listing<Context, Item, Shape extends z.ZodRawShape> {
  readonly member: string;
  readonly shape: Shape;
  authorize: Operation<Context>["authorize"];
  items(context: Context, request: Request<Shape>): readonly Item[];
  keyOf(item: Item): string;
  row?(item: Item, request: Request<Shape>): unknown;
  /** Members of the answer beside the list. */
  beside?(request: Request<Shape>): object;
}

/** How operations of one API are made. `mostResults` is what a page of a list has at most. */
export function operationsOf<Context, Name extends string>({ mostResults }: { readonly mostResults: number }) {
  type Made = Operation<Context, Name>;

  const operation = <Shape extends z.ZodRawShape>(
    name: Name,
    shape: Shape,
    authorize: Made["authorize"],
    run: (context: Context, request: Request<Shape>, caller: string) => unknown,
  ): Made => ({ name, request: structure(shape), authorize, run: run as Made["run"] });

  /** An operation that lists; the token of a page is the last key before it. */
  const list = <Item, Shape extends z.ZodRawShape>(name: Name, of: Listing<Context, Item, Shape>): Made =>
    operation(name, { ...of.shape, ...paging(mostResults) }, of.authorize, (context, request) => {
      const { maxResults, nextToken } = request as Request<ReturnType<typeof paging>>;
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

  /** The operations on tags. */
  const tagOperations = ({ shape, find, change, missing }: Tagging<Context>): readonly Made[] => {
    const found = (context: Context, arn: string) => {
      const target = find(context, arn);
      if (target !== undefined) return target;
      throw missing(arn);
    };
    const retag = async (context: Context, arn: string, edit: (present: Tags) => void): Promise<object> => {
      await change(context, found(context, arn).id, arn, edit);
      return {};
    };
    return [
      operation("ListTagsForResource" as Name, { resourceArn: text }, onArn, (context, { resourceArn }) => ({
        tags: found(context, resourceArn).tags,
      })),
      operation("TagResource" as Name, { resourceArn: text, tags: shape }, onArn, (context, request) =>
        retag(context, request.resourceArn, (present) => Object.assign(present, request.tags)),
      ),
      operation("UntagResource" as Name, { resourceArn: text, tagKeys: texts }, onArn, (context, request) =>
        retag(context, request.resourceArn, (present) => {
          for (const key of request.tagKeys) delete present[key];
        }),
      ),
    ];
  };

  return { operation, list, tagOperations };
}
