/** Evaluates policies as @pulumi/policy's server does: unknown values behind its proxy, "not applicable" by an exception. */
import {
  type PolicyResource,
  type ResourceValidationArgs,
  type ResourceValidationPolicy,
  type StackValidationPolicy,
  unknownCheckingProxy,
} from "@pulumi/policy";

// What the engine sends for a value that a preview does not know (sdk/nodejs/runtime/rpc.ts, unknownValue).
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

// biome-ignore lint/suspicious/noExplicitAny: resource inputs have any shape
export type Properties = Record<string, any>;
export type Policy = ResourceValidationPolicy | StackValidationPolicy;

/** A resource as a policy sees it. */
export interface Resource {
  readonly type: string;
  readonly name?: string;
  readonly props: Properties;
  /** Inputs of its provider. */
  readonly provider?: Properties;
  /** Names of the resources on which each property depends. */
  readonly propertyDependencies?: Readonly<Record<string, readonly string[]>>;
}

/** What a policy said, `name: message` for each violation, and why it put off the rest. */
export interface Verdict {
  readonly violations: readonly string[];
  readonly putOff: string | undefined;
}

class NotApplicable extends Error {}

const notApplicable = (reason = ""): never => {
  throw new NotApplicable(reason);
};

const guard = (props: Properties): Properties => unknownCheckingProxy(structuredClone(props));

function providerOf({ provider }: Resource) {
  if (!provider) return {};
  const type = "pulumi:providers:aws";
  return { provider: { type, name: "default", urn: `urn::${type}::default`, props: guard(provider) } };
}

/** Runs one policy on resources: each by itself, or all together as a stack. */
export function evaluate(policy: Policy, resources: readonly Resource[], config: object = {}): Verdict {
  const violations: string[] = [];
  const putOff: string[] = [];
  const attempt = (body: () => unknown) => {
    try {
      body();
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
      if (error.message.startsWith("decided at the update")) putOff.push(error.message);
    }
  };
  const getConfig = <T extends object>() => config as T;
  const stackTags = new Map<string, string>();
  if ("validateStack" in policy) {
    const args = { resources: asStack(resources), getConfig, stackTags, notApplicable };
    attempt(() => policy.validateStack(args, (message, urn = "") => void violations.push(`${urn}: ${message}`)));
  } else {
    for (const resource of resources) {
      const { type, name = "it" } = resource;
      const args = {
        type,
        name,
        props: guard(resource.props),
        ...providerOf(resource),
        getConfig,
        stackTags,
        notApplicable,
      };
      const validate = policy.validateResource as (args: ResourceValidationArgs, report: (m: string) => void) => void;
      attempt(() =>
        validate(args as unknown as ResourceValidationArgs, (message) => void violations.push(`${name}: ${message}`)),
      );
    }
  }
  return { violations, putOff: putOff[0] };
}

function asStack(resources: readonly Resource[]): PolicyResource[] {
  const built = resources.map((resource) => ({
    ...resource,
    name: resource.name ?? "it",
    urn: resource.name ?? "it",
    props: guard(resource.props),
    ...providerOf(resource),
    dependencies: [],
    propertyDependencies: {} as Record<string, unknown>,
  }));
  for (const [index, { propertyDependencies = {} }] of resources.entries())
    for (const [property, names] of Object.entries(propertyDependencies))
      (built[index] as (typeof built)[number]).propertyDependencies[property] = built.filter(({ name }) =>
        names.includes(name),
      );
  return built as unknown as PolicyResource[];
}
