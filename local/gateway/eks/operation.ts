import type { AwsLookups } from "../aws/lookups.ts";
import { invalidParameter } from "./errors.ts";
import type { ClusterRecord } from "./model.ts";
import type { ClusterRuntime } from "./runtime.ts";
import type { Store } from "./store.ts";

/** What every operation works with. */
export interface EksContext {
  readonly region: string;
  readonly account: string;
  readonly partition: string;
  readonly store: Store;
  readonly runtime: ClusterRuntime;
  /** IAM and EC2 as the service sees them (not with the caller's rights). */
  readonly aws: AwsLookups;
  /** Seconds since 1970. */
  now(): number;
  /** Has the background work of a cluster looked at again, soon. */
  wake(cluster: string): void;
}

/** One call, authorized and parsed. */
export interface Call {
  /** Decoded parts of the path, by their names in the route. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  /** ARN of the caller, as sts:GetCallerIdentity gives it. */
  readonly caller: string;
}

/** What ministack must allow before an operation runs. */
export interface Authorization {
  /** ARN of the resource; "*" for operations without one. */
  readonly resource: string;
  /** Roles that the call hands to a service: each needs iam:PassRole. */
  readonly passRoles?: readonly { readonly arn: string; readonly service: string }[];
  /** Condition keys of the EKS API, such as eks:principalArn. */
  readonly context?: Readonly<Record<string, string | string[]>>;
}

/** An operation of the EKS API. */
export interface Operation {
  readonly name: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** As in the API's model: `{name}` is one undecoded segment. */
  readonly path: string;
  /** Members of the body that are honoured; any other is refused. */
  readonly accepts?: readonly string[];
  authorize(context: EksContext, call: Omit<Call, "caller">): Authorization;
  run(context: EksContext, call: Call): unknown;
}

/** ARN of a resource of the EKS API. */
export function eksArn(context: Pick<EksContext, "partition" | "region" | "account">, resource: string): string {
  return `arn:${context.partition}:eks:${context.region}:${context.account}:${resource}`;
}

/** Authorization on the cluster that the path names. */
export const onCluster = (context: EksContext, call: Omit<Call, "caller">): Authorization => ({
  resource: eksArn(context, `cluster/${call.path["name"] ?? ""}`),
});

/** The operation that lists a collection of a cluster by its keys, as the member `member` of the answer. */
export const listOfCluster = (
  name: string,
  path: string,
  member: string,
  collection: (cluster: ClusterRecord) => Readonly<Record<string, unknown>>,
): Operation => ({
  name,
  method: "GET",
  path,
  authorize: onCluster,
  run: (context, call) => {
    const keys = Object.keys(collection(context.store.get(pathPart(call, "name"))));
    const { items, ...rest } = page(keys, call.query, (key) => key);
    return { [member]: items, ...rest };
  },
});

/** The role of a body that is handed to a service, for iam:PassRole; none where the member is missing. */
export function passedRole(arn: unknown, service: string): { arn: string; service: string }[] {
  return typeof arn === "string" && arn !== "" ? [{ arn, service }] : [];
}

/** A member of the body as the value of a condition key: what is no string is no value. */
export function keyValue(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A part of the path; the router has matched it. */
export function pathPart(call: Pick<Call, "path">, name: string): string {
  const value = call.path[name];
  if (value === undefined) throw new Error(`the route has no {${name}}`);
  return value;
}

/** A string of the body. Throws InvalidParameterException where it is missing or no string. */
export function requiredString(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  if (typeof value !== "string" || value === "")
    throw invalidParameter(`${name}: a string is required, got ${JSON.stringify(value ?? null)}`);
  return value;
}

export function optionalString(body: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalidParameter(`${name}: a string is allowed, got ${JSON.stringify(value)}`);
  return value;
}

export function optionalBoolean(body: Readonly<Record<string, unknown>>, name: string): boolean | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean")
    throw invalidParameter(`${name}: true or false is allowed, got ${JSON.stringify(value)}`);
  return value;
}

export function stringList(body: Readonly<Record<string, unknown>>, name: string): string[] | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.some((item) => typeof item !== "string"))
    throw invalidParameter(`${name}: a list of strings is allowed, got ${JSON.stringify(value)}`);
  return value as string[];
}

/** A structure of the body whose members are all honoured. Throws InvalidParameterException that names the others. */
export function structure(
  body: Readonly<Record<string, unknown>>,
  name: string,
  accepts: readonly string[],
): Record<string, unknown> | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value))
    throw invalidParameter(`${name}: a structure is allowed, got ${JSON.stringify(value)}`);
  expectOnly(value as Record<string, unknown>, accepts, name);
  return value as Record<string, unknown>;
}

/** Throws InvalidParameterException that names every member beyond `accepts`. */
export function expectOnly(value: Readonly<Record<string, unknown>>, accepts: readonly string[], where: string): void {
  const unknown = Object.keys(value).filter(
    (name) => value[name] !== undefined && value[name] !== null && !accepts.includes(name),
  );
  if (unknown.length > 0)
    throw invalidParameter(
      `${where}: ${unknown.join(", ")} is not served by the embedded cloud; allowed are ${accepts.join(", ") || "no members"}`,
    );
}

export function tagsOf(body: Readonly<Record<string, unknown>>): Record<string, string> {
  const tags = body["tags"] ?? {};
  if (
    typeof tags !== "object" ||
    Array.isArray(tags) ||
    tags === null ||
    Object.values(tags).some((value) => typeof value !== "string")
  )
    throw invalidParameter(`tags: a map of strings is allowed, got ${JSON.stringify(tags)}`);
  return { ...(tags as Record<string, string>) };
}

/** One page of a list (maxResults 1 to 100, default 100); the token is the last item before the page. */
export function page<T>(
  items: readonly T[],
  query: URLSearchParams,
  keyOf: (item: T) => string,
): { items: T[]; nextToken?: string } {
  const size = Number(query.get("maxResults") ?? 100);
  if (!Number.isInteger(size) || size < 1 || size > 100)
    throw invalidParameter(`maxResults: got ${query.get("maxResults") ?? ""}, allowed are 1 to 100`);
  const sorted = [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const token = query.get("nextToken");
  const after = token === null ? undefined : Buffer.from(token, "base64url").toString();
  const rest = after === undefined ? sorted : sorted.filter((item) => keyOf(item) > after);
  const shown = rest.slice(0, size);
  const last = shown.at(-1);
  return rest.length > size && last !== undefined
    ? { items: shown, nextToken: Buffer.from(keyOf(last)).toString("base64url") }
    : { items: shown };
}
