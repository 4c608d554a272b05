/** Reads requests of an API by the SDK's model: which operation, where its members are, what is wrong with them. */
import type * as z from "zod";
import type { ApiError } from "./errors.ts";
import { decoded } from "./http.ts";
import type { Operation, Unchecked } from "./operation.ts";

/** As the SDK has it: [kind, namespace, name, traits, names of the members, their types, how many of them are required]. */
export type StructureSchema = readonly [3, string, string, unknown, readonly string[], readonly unknown[], number?];
type OperationSchema = readonly [
  ...[kind: 9, namespace: string, name: string],
  { http: [method: string, path: string, status: number] },
  () => StructureSchema,
];

/** Types of members that a query can have (Smithy's numbers). */
const NUMBER = 1;
const BOOLEAN = 2;
const STRINGS = 64;

/** What the SDK's model (the module of its client) says of an operation. */
export const schemaOf = (sdk: object, name: string): OperationSchema =>
  (sdk as Record<string, OperationSchema>)[`${name}$`] as OperationSchema;

interface Parts {
  readonly method: string;
  /** Undecoded, as signed. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Unchecked;
}

/** Gives a function that reads the members of an operation's request; undefined for a request of another operation. */
export function routeOf([, , , { http }, input]: OperationSchema): (parts: Parts) => Unchecked | undefined {
  const [method, path] = http;
  const [, , , , members, types] = input();
  const labels = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "([^/]+)")}$`);
  const inQuery = members.flatMap((member, at) => {
    const [type, traits] = [types[at]].flat() as [number, { httpQuery?: string } | undefined];
    return traits?.httpQuery === undefined ? [] : [{ member, type, parameter: traits.httpQuery }];
  });
  return (parts) => {
    const match = parts.method === method ? pattern.exec(parts.path) : null;
    if (match === null) return undefined;
    const read: Record<string, unknown> = { ...parts.body };
    for (const { member, type, parameter } of inQuery)
      if (parts.query.has(parameter)) read[member] = inQueryAs(type, parts.query.getAll(parameter));
    for (const [at, label] of labels.entries()) read[label] = decoded(match[at + 1] ?? "");
    return labels.every((label) => read[label] !== undefined) ? read : undefined;
  };
}

function inQueryAs(type: number, values: string[]): unknown {
  if (type === STRINGS) return values;
  const [value = ""] = values;
  return type === NUMBER ? Number(value) : type === BOOLEAN ? value === "true" : value;
}

/** The request with the defaults of the operation. Throws what `refuse` makes of everything wrong, by name. */
export function checked<Context>(
  { name, request }: Operation<Context>,
  members: Unchecked,
  refuse: (problems: string) => ApiError,
): Unchecked {
  const result = request.safeParse(members, { error: describe, reportInput: true });
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ code, path, message }) =>
    // Messages of our own checks are whole sentences, in AWS's words where it has some.
    code === "custom" ? message : `${path.join(".") || name}: ${message}`,
  );
  throw refuse(problems.join("; "));
}

function describe(issue: z.core.$ZodRawIssue): string | undefined {
  const got = `got ${JSON.stringify(issue.input ?? null)}`;
  if (issue.code === "invalid_type") return `${got}, allowed is a value of type ${issue.expected}`;
  if (issue.code === "invalid_value") return `${got}, allowed are ${issue.values.join(", ")}`;
  return undefined;
}
