import { Environment } from "@marcbachmann/cel-js";
import type { Manifest } from "./kustomize.ts";
import { isJudged } from "./matching.ts";

/** What an admission policy says of a request, without an API server: the same requests are sent to a real one in test/e2e. */

type Judged = Pick<Manifest, "apiVersion" | "kind">;

export interface Request {
  /** Absent: the request removes the object. */
  readonly object?: Judged;
  /** The object before the request changes or removes it. */
  readonly from?: Judged;
  /** Who asks; default: an administrator. */
  readonly by?: string;
  readonly namespace?: string;
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  readonly namespaceAnnotations?: Readonly<Record<string, string>> | undefined;
  readonly dryRun?: boolean;
  /** The object that the policy reads. */
  readonly parameters?: object;
}

/** `url()` of Kubernetes' CEL, which leaves a path as it is. */
class Url {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  constructor(text: string) {
    const { protocol, host } = new URL(text);
    this.scheme = protocol.slice(0, -1);
    this.host = host;
    this.path = /^[^:]+:\/\/[^/?#]*([^?#]*)/.exec(text)?.[1] ?? "";
  }
}

const environment = ["object", "oldObject", "request", "namespaceObject", "variables", "params"]
  .reduce(
    (all, name) => all.registerVariable(name, "dyn"),
    new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true }),
  )
  .registerType("URL", Url)
  // Go takes no blanks around a URL, JavaScript does.
  .registerFunction("isURL(string): bool", (text: string) => text === text.trim() && URL.canParse(text))
  .registerFunction("url(string): URL", (text: string) => new Url(text))
  .registerFunction("URL.getScheme(): string", ({ scheme }: Url) => scheme)
  .registerFunction("URL.getHost(): string", ({ host }: Url) => host)
  .registerFunction("URL.getEscapedPath(): string", ({ path }: Url) => path);

/** A value as CEL has it. */
function celValue(value: unknown): unknown {
  if (typeof value === "number") return BigInt(value);
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== "object" || value === null) return value;
  return new Map(Object.entries(value).map(([key, inner]) => [key, celValue(inner)]));
}

type Named = { readonly name: string; readonly expression: string };
type Validation = Readonly<Record<"expression" | "message" | "messageExpression", string>>;

/** The first reason to refuse the request, on one line; undefined when it passes. An expression that fails refuses, as failurePolicy says. */
export function refusal(policy: Manifest, request: Request): string | undefined {
  const { spec } = policy;
  const operation = request.object === undefined ? "DELETE" : request.from === undefined ? "CREATE" : "UPDATE";
  const about = request.object ?? request.from;
  if (about === undefined) throw new Error("a request is about an object: give object, from, or both");
  if (!isJudged(policy, about, operation, request.namespaceLabels ?? {})) return undefined;
  const variables = new Map<string, unknown>();
  const known = {
    object: celValue(request.object ?? null),
    oldObject: celValue(request.from ?? null),
    request: celValue({
      operation,
      userInfo: { username: request.by ?? "admin" },
      ...(request.dryRun === undefined ? {} : { dryRun: request.dryRun }),
    }),
    // Null for what is of no namespace, and for a Namespace itself.
    namespaceObject: celValue(
      request.namespace === undefined
        ? null
        : {
            metadata: {
              name: request.namespace,
              labels: request.namespaceLabels ?? {},
              ...(request.namespaceAnnotations && { annotations: request.namespaceAnnotations }),
            },
          },
    ),
    params: celValue(request.parameters ?? null),
    variables,
  };
  const evaluate = (expression: string): unknown => environment.parse(expression)(known);
  if (!(spec.matchConditions ?? []).every(({ expression }: Named) => evaluate(expression) === true)) return undefined;
  // The API server evaluates a variable when it is read: one that fails is missing then.
  const failures = new Map<string, Error>();
  for (const { name, expression } of (spec.variables ?? []) as Named[])
    try {
      variables.set(name, evaluate(expression));
    } catch (error) {
      failures.set(name, error as Error);
    }
  for (const { expression, message, messageExpression } of spec.validations as Validation[])
    try {
      if (evaluate(expression) === true) continue;
      return String(messageExpression ? evaluate(messageExpression) : message).replaceAll(/\s+/g, " ");
    } catch (error) {
      const [read = ""] = [...failures.keys()].filter((name) => expression.includes(`variables.${name}`));
      return `${expression}: ${(failures.get(read) ?? (error as Error)).message}`;
    }
  return undefined;
}
