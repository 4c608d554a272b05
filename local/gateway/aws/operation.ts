/** Operations of the APIs that the gateway answers itself: what the EKS API and that of Managed Prometheus have in common. */
import * as z from "zod";

/** What ministack must allow before an operation runs. */
export interface Authorization {
  /** ARN of the resource; "*" for operations without one. */
  readonly resource: string;
  /** Roles that the call hands to a service: each needs iam:PassRole. */
  readonly passRoles?: readonly { readonly arn: string; readonly service: string }[];
  /** Actions of the same service that the call needs besides its own, each on a resource. */
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
const paging = (most: number) => ({
  maxResults: z.number().int().min(1).max(most).default(100),
  nextToken: z.string().optional(),
});

/** The member if it is a string, otherwise "": for ARNs and condition keys of requests that are not checked yet. */
export const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Authorization on the resource that a request names by its ARN. Of requests, ministack reads tags, but not keys that it removes. */
export const onArn = (_context: unknown, { resourceArn, tagKeys }: Unchecked): Authorization => ({
  resource: stringOf(resourceArn) || "*",
  ...(Array.isArray(tagKeys) ? { context: { "aws:TagKeys": tagKeys } } : {}),
});

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

  return { operation, list };
}
