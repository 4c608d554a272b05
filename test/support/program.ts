import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import { parse } from "yaml";
import { computed, invoked, type Properties } from "./program-mocks.ts";

/** Mocked runs of the production program: what it registers, exactly as the engine would be told. */

export const project = "eks-gitops-fleet";

/** One registered resource, as the program asked for it. */
export interface Registered {
  readonly type: string;
  readonly name: string;
  readonly parent: string;
  readonly inputs: Properties;
  /** Paths of inputs that are marked secret. */
  readonly secrets: readonly string[];
  /** `type::name` of what it depends on, by inputs or by option. */
  readonly dependencies: readonly string[];
  readonly protect: boolean;
  readonly deleteTimeout: string;
  readonly provider: string;
  readonly custom: boolean;
}

export interface Run {
  readonly resources: readonly Registered[];
  readonly outputs: Record<string, unknown>;
  /** Names of the outputs that are secret, in whole or in part. */
  readonly secretOutputs: readonly string[];
}

/** Full config key to the text that Pulumi hands to a program. */
export type ConfigText = Record<string, string>;

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const files = new Map<string, Properties>();

/** What a file of the checkout says; read once: no test changes it. */
function readYaml(path: string): Properties {
  const content: Properties = files.get(path) ?? parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));
  files.set(path, content);
  return content;
}

/** The defaults in Pulumi.yaml, as the engine merges them into every stack's config. */
export function defaultConfig(): ConfigText {
  const { config } = readYaml("Pulumi.yaml") as { config: Record<string, { default: unknown }> };
  return Object.fromEntries(
    Object.entries(config).map(([key, { default: value }]) => [`${project}:${key}`, asText(value)]),
  );
}

/** The config of a committed stack as it is, with the defaults. */
export function committedConfig(stack: string): ConfigText {
  const { config } = readYaml(`stacks/Pulumi.${stack}.yaml`) as { config: Record<string, unknown> };
  const own = Object.fromEntries(Object.entries(config).map(([key, value]) => [key, asText(value)]));
  return { ...defaultConfig(), ...own };
}

/** The config of a committed stack after a user put networks of theirs in place of the samples, which are rejected. */
export function stackConfig(stack: string): ConfigText {
  const config = committedConfig(stack);
  const own = (key: string, sample: string, network: string): ConfigText => {
    const name = `${project}:${key}`;
    return { [name]: config[name]?.replace(sample, network) ?? "" };
  };
  return {
    ...config,
    ...own("endpointPublicAccessCidrs", "203.0.113.0/24", "5.6.7.0/24"),
    ...own("endpointPrivateAccessCidrs", "192.0.2.0/24", "10.20.0.0/16"),
  };
}

const secretMark = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** Replaces secrets in serialized properties by their values and tells where they were. */
function revealed(value: unknown, path: string, secrets: string[]): unknown {
  if (Array.isArray(value)) return value.map((item, index) => revealed(item, `${path}[${index}]`, secrets));
  if (typeof value !== "object" || value === null) return value;
  const object = value as Record<string, unknown>;
  if (object[secretMark] === secretSignature) {
    secrets.push(path);
    return revealed(object["value"], path, []);
  }
  return Object.fromEntries(
    Object.entries(object).map(([key, member]) => [
      key,
      revealed(member, path === "" ? key : `${path}.${key}`, secrets),
    ]),
  );
}

const urnTail = (urn: string): string => {
  const [, , types = "", name = ""] = urn.split("::");
  return `${types.split("$").at(-1)}::${name}`;
};

/** How Pulumi notes the promise of each property, with a stack trace, to tell at the end of its process which never settled. */
const debuggable = createRequire(import.meta.url)("@pulumi/pulumi/runtime/debuggable.js") as {
  debuggablePromise: <T>(promise: Promise<T>) => Promise<T>;
};

/** Runs without those notes: nobody reads them here, and vitest would look every line of the stack traces up. */
async function untraced<T>(run: () => Promise<T>): Promise<T> {
  const { debuggablePromise } = debuggable;
  debuggable.debuggablePromise = (promise) => promise;
  try {
    return await run();
  } finally {
    debuggable.debuggablePromise = debuggablePromise;
  }
}

/** Runs `load` in a mocked Pulumi, as a program of `ofProject`, and returns what it registered. */
export async function recorded<T>(
  stack: string,
  load: () => Promise<T>,
  ofProject = project,
): Promise<{ resources: Registered[]; result: T }> {
  const resources: Registered[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, id }) => ({
        id: id || (type === "aws:ec2/vpc:Vpc" ? `vpc-${name}` : `${name}-id`),
        state: { ...inputs, ...computed(type, name, inputs) },
      }),
      call: ({ token, inputs }) => invoked(token, inputs),
    },
    ofProject,
    stack,
  );
  // MockMonitor does not keep requests; they carry what a mock is not told: parent, dependencies, options.
  const monitor = pulumi.runtime.getMonitor() as unknown as Properties;
  const register = monitor["registerResource"].bind(monitor);
  monitor["registerResource"] = (request: Properties, callback: unknown) => {
    const secrets: string[] = [];
    const parent = urnTail(request["getParent"]());
    resources.push({
      type: request["getType"](),
      name: request["getName"](),
      parent,
      inputs: revealed(request["getObject"]()?.toJavaScript() ?? {}, "", secrets) as Properties,
      secrets,
      dependencies: [...new Set<string>(request["getDependenciesList"]().map(urnTail))].sort(),
      protect: request["getProtect"]() ?? false,
      deleteTimeout: request["getCustomtimeouts"]()?.getDelete() ?? "",
      provider: urnTail(request["getProvider"]().split("::").slice(0, 4).join("::")),
      custom: request["getCustom"](),
    });
    return register(request, callback);
  };
  return untraced(async () => {
    const result = await load();
    await pulumi.runtime.disconnect();
    return { resources, result };
  });
}

const promised = <T>(output: pulumi.Input<T>): Promise<T> =>
  new Promise((resolve) => void pulumi.output(output).apply((value) => resolve(value as T)));

/** Runs infra/index.ts with `config` as the stack `stack`; the values of `secretKeys` are encrypted ones. */
export async function runProgram(stack: string, config: ConfigText, secretKeys: string[] = []): Promise<Run> {
  pulumi.runtime.setAllConfig(config, secretKeys);
  return exported(await recorded(stack, () => evaluated("infra/index.ts")));
}

const runs = new Map<string, Promise<Run>>();

const full = (key: string) => (key.includes(":") ? key : `${project}:${key}`);

/**
 * The program as a committed stack ({@link stackConfig}) with changes: the same once, for all tests that read what it registers.
 * A key without a namespace is one of the project.
 */
export function runStack(stack: string, changes: ConfigText = {}, secretKeys: string[] = []): Promise<Run> {
  const changed = Object.entries(changes).map(([key, value]) => [full(key), value]);
  const config = { ...stackConfig(stack), ...Object.fromEntries(changed) };
  const secret = secretKeys.map(full);
  const key = JSON.stringify([stack, config, secret]);
  const run = runs.get(key) ?? runProgram(stack, config, secret);
  runs.set(key, run);
  return run;
}

let evaluations = 0;

/** Runs a module of the checkout, however often it ran before; what it imports runs once. */
const evaluated = (path: string) =>
  import(/* @vite-ignore */ new URL(`../../${path}?run=${++evaluations}`, import.meta.url).href) as Promise<object>;

/** A run with the values of what the program exports. */
async function exported({ resources, result }: Awaited<ReturnType<typeof recorded<object>>>): Promise<Run> {
  const outputs = Object.entries({ ...result } as Record<string, unknown>);
  const secret = await Promise.all(outputs.map(([, output]) => pulumi.isSecret(pulumi.output(output))));
  return {
    resources,
    outputs: await promised(pulumi.output(Object.fromEntries(outputs))),
    secretOutputs: outputs.flatMap(([name], index) => (secret[index] ? [name] : [])),
  };
}

/** Runs the program of examples/<name> as its stack `example`. */
export const runExample = (name: string): Promise<Run> =>
  runProject(`examples/${name}`, readYaml(`examples/${name}/Pulumi.example.yaml`)["config"]);

/** Runs the program of another project of the checkout with `values` beside its defaults: full config key to value. */
export async function runProject(folder: string, values: Properties): Promise<Run> {
  const own = readYaml(`${folder}/Pulumi.yaml`);
  const defaults = Object.entries((own["config"] ?? {}) as Record<string, Properties>).flatMap(([key, type]) =>
    "default" in type ? [[`${own["name"]}:${key}`, type["default"]]] : [],
  );
  const config = Object.entries({ ...Object.fromEntries(defaults), ...values });
  pulumi.runtime.setAllConfig(Object.fromEntries(config.map(([key, value]) => [key, asText(value)])));
  return exported(await recorded("example", () => evaluated(`${folder}/index.ts`), own["name"]));
}
