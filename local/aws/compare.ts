import { isDeepStrictEqual } from "node:util";

export type Equality = (a: unknown, b: unknown) => boolean;

/** A block of properties: a plain object, not a list, a date or a value that an adapter wraps. */
export const isBlock = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Undefined, null, and what Terraform treats as not set: empty lists, maps and strings. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.values(value).every(isEmpty);
}

/** Equality of values with lists as sets and unset members ignored (most lists of the AWS schema are sets). */
export const sameSet: Equality = (a, b) => isDeepStrictEqual(canonical(a, true), canonical(b, true));

/** Equality of values where the order of lists counts. */
export const sameList: Equality = (a, b) => isDeepStrictEqual(canonical(a, false), canonical(b, false));

/** Equality of JSON documents: white space and the order of members do not count. */
export const sameJson: Equality = (a, b) => compareParsed(a, b, (document) => canonical(document, false));

/** Equality of IAM policy documents: one value equals a list of one, the order of statements, actions and values does not count. */
export const samePolicy: Equality = (a, b) => compareParsed(a, b, canonicalPolicy);

function compareParsed(a: unknown, b: unknown, normalise: (document: unknown) => unknown): boolean {
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  const [left, right] = [parsed(a), parsed(b)];
  if (left === undefined || right === undefined) return a === b;
  return isDeepStrictEqual(normalise(left), normalise(right));
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined; // not JSON: the caller compares the texts
  }
}

function canonical(value: unknown, unordered: boolean): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item, unordered));
    return unordered ? sorted(items) : items;
  }
  if (value !== null && typeof value === "object")
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => !isEmpty(member))
        .map(([key, member]) => [key, canonical(member, unordered)] as const)
        .sort(([left], [right]) => (left < right ? -1 : 1)),
    );
  return value ?? undefined;
}

const sorted = (items: unknown[]): unknown[] =>
  items
    .map((item) => ({ item, text: JSON.stringify(item) ?? "" }))
    .sort((left, right) => (left.text < right.text ? -1 : left.text > right.text ? 1 : 0))
    .map(({ item }) => item);

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

function canonicalPolicy(document: unknown): unknown {
  const { Statement, ...rest } = document as Record<string, unknown>;
  return canonical({ ...rest, Statement: sorted(asList(Statement ?? []).map(canonicalStatement)) }, false);
}

function canonicalStatement(statement: unknown): unknown {
  const members = Object.entries(statement as Record<string, unknown>).map(([key, value]) => {
    if (/^(Not)?(Action|Resource)$/.test(key)) return [key, sorted(asList(value))] as const;
    if (/^(Not)?Principal$/.test(key)) return [key, canonicalPrincipal(value)] as const;
    if (key === "Condition") return [key, canonicalCondition(value)] as const;
    return [key, value] as const;
  });
  return canonical(Object.fromEntries(members), false);
}

const accountRoot = /^arn:[\w-]+:iam::(\d{12}):root$/;

function canonicalPrincipal(principal: unknown): unknown {
  if (principal === "*") return { AWS: ["*"] };
  return mapMembers(principal, (values) => sorted(asList(values).map((v) => String(v).replace(accountRoot, "$1"))));
}

const canonicalCondition = (condition: unknown): unknown =>
  mapMembers(condition, (keys) => mapMembers(keys, (values) => sorted(asList(values).map(String))));

const mapMembers = (value: unknown, change: (member: unknown) => unknown): unknown =>
  Object.fromEntries(Object.entries(value as Record<string, unknown>).map(([key, member]) => [key, change(member)]));
