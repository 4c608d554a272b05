/** How a policy is written: a check that yields what is wrong. If a value is not known at the preview, the check is made at the update. */
import {
  type PolicyConfigSchema,
  type PolicyResource,
  type ResourceValidationArgs,
  type ResourceValidationPolicy,
  type StackValidationPolicy,
  UnknownValueError,
} from "@pulumi/policy";

/** A parameter of a policy: JSON schema, with the value that holds when the configuration of the pack names none. */
export type Parameter<T> = Omit<PolicyConfigSchema["properties"][string], "default"> & {
  readonly description: string;
  readonly default: T;
};
type Parameters = Readonly<Record<string, Parameter<unknown>>>;
type ConfigOf<P extends Parameters> = { readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never };

/** A whole number of at least `minimum`. */
export function integer(description: string, value: number, minimum: number): Parameter<number> {
  return { type: "integer", description, minimum, default: value };
}

/** A list of strings. */
export function strings(description: string, value: readonly string[]): Parameter<readonly string[]> {
  return { type: "array", items: { type: "string" }, description, default: value };
}

/** What a resource rule checks. */
export type Checked = Pick<ResourceValidationArgs, "type" | "name" | "props" | "provider">;

interface Header<P extends Parameters> {
  /** Name of the policy, by which it is configured. */
  readonly id: string;
  readonly description: string;
  /** What to do about a violation. */
  readonly remediation: string;
  readonly parameters?: P;
}

/** A rule about one resource at a time, with the inputs that its provider gets. */
export interface ResourceRule<P extends Parameters> extends Header<P> {
  /** Types of the resources, or which ones. */
  readonly types: readonly string[] | ((type: string) => boolean);
  /** Yields a message for each violation. */
  readonly check: (resource: Checked, config: ConfigOf<P>) => Iterable<string>;
}

/** A violation in a stack, at the resource where it can be fixed. */
export interface Violation {
  readonly message: string;
  readonly at: PolicyResource;
}

/** A rule about all resources of a stack together, with their outputs. */
export interface StackRule<P extends Parameters> extends Header<P> {
  readonly check: (resources: readonly PolicyResource[], config: ConfigOf<P>) => Iterable<Violation>;
}

export function resourceRule<P extends Parameters = Record<never, never>>(
  rule: ResourceRule<P>,
): ResourceValidationPolicy {
  const { types, check } = rule;
  const applies = typeof types === "function" ? types : (type: string) => types.includes(type);
  return {
    ...header(rule),
    validateResource: (args, report) => {
      if (!applies(args.type)) return args.notApplicable("about resources of other types");
      const unknown = drain(check(args, configOf(rule, args)), (message) => report(message));
      if (unknown) args.notApplicable(`decided at the update: ${unknown.message}`);
    },
  };
}

export function stackRule<P extends Parameters = Record<never, never>>(rule: StackRule<P>): StackValidationPolicy {
  return {
    ...header(rule),
    validateStack: (args, report) => {
      const unknown = drain(rule.check(args.resources, configOf(rule, args)), ({ message, at }) =>
        report(message, at.urn),
      );
      if (unknown) args.notApplicable(`decided at the update: ${unknown.message}`);
    },
  };
}

function header<P extends Parameters>({ id, description, remediation, parameters }: Header<P>) {
  const properties = parameters as PolicyConfigSchema["properties"] | undefined;
  return {
    name: id,
    description,
    remediationSteps: remediation,
    ...(properties ? { configSchema: { properties } } : {}),
  };
}

/** The configured parameters over the defaults: not every caller fills these in. */
function configOf<P extends Parameters>(
  { parameters }: Header<P>,
  args: Pick<ResourceValidationArgs, "getConfig">,
): ConfigOf<P> {
  const defaults = Object.entries(parameters ?? {}).map(([name, parameter]) => [name, parameter.default]);
  return { ...Object.fromEntries(defaults), ...args.getConfig<object>() } as ConfigOf<P>;
}

/** Reports every violation up to the end, or up to a value that a preview does not know: then returns that. */
function drain<T>(violations: Iterable<T>, report: (violation: T) => void): UnknownValueError | undefined {
  try {
    for (const violation of violations) report(violation);
  } catch (error) {
    if (error instanceof UnknownValueError) return error;
    throw error;
  }
  return undefined;
}

/** Checks each item, all of them: an unknown value in one leaves the others to be decided, and puts off what is left. */
export function* each<T, F>(items: readonly T[], check: (item: T) => Iterable<F>): Generator<F> {
  let unknown: UnknownValueError | undefined;
  // By index: reading an element that is unknown throws too.
  for (let index = 0; index < items.length; index++) {
    try {
      yield* check(items[index] as T);
    } catch (error) {
      if (!(error instanceof UnknownValueError)) throw error;
      unknown ??= error;
    }
  }
  if (unknown) throw unknown;
}

/** What `read` gives, undefined when it meets a value that a preview does not know. */
export function known<T>(read: () => T): { readonly value: T } | undefined {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof UnknownValueError) return undefined;
    throw error;
  }
}
