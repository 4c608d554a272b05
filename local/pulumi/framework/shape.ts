/**
 * What the npm SDK of a package says about its types: which inputs and outputs exist, which are required, which are secret.
 *
 * Source: the generated JavaScript of @pulumi/<package>. Every generated class has the same form:
 * `resourceInputs["name"] = args?.name` for an input, `= undefined /*out*\/` for an output, a `throw` for a required one.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** Names of the properties of one resource type. */
export interface ResourceShape {
  /** Type token, e.g. `aws:ec2/vpc:Vpc`. */
  readonly token: string;
  /** Package and version that the shape was read from, e.g. `@pulumi/aws 7.48.0`. */
  readonly source: string;
  readonly inputs: readonly string[];
  readonly required: readonly string[];
  /** Outputs that are not also inputs. */
  readonly outputs: readonly string[];
  readonly secretOutputs: readonly string[];
  /** Inputs that the SDK sends JSON-encoded (provider configuration only). */
  readonly json: readonly string[];
}

/** An npm SDK package on disk. */
export interface Sdk {
  /** Pulumi package name, e.g. `aws`. */
  readonly name: string;
  readonly version: string;
  /** Shape of the type token, undefined when the package has no such type. */
  resource(token: string): ResourceShape | undefined;
  /** Shape of a type that the package must have. @throws when it does not. */
  shape(token: string): ResourceShape;
  /** Shape of the package's Provider class. */
  provider(): ResourceShape;
}

const require = createRequire(import.meta.url);

/**
 * Opens the npm package `@pulumi/<name>`.
 * @throws when it is not installed or its Provider class is not of the generated form.
 */
export function openSdk(name: string): Sdk {
  const folder = path.dirname(require.resolve(`@pulumi/${name}/package.json`));
  const { version } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as { version: string };
  const source = `@pulumi/${name} ${version}`;
  const shapes = new Map<string, ResourceShape | undefined>();
  const resource = (token: string): ResourceShape | undefined => {
    if (!shapes.has(token)) {
      const file = fileOf(folder, name, token);
      shapes.set(token, file ? parseShape(readFileSync(file, "utf8"), token, source) : undefined);
    }
    return shapes.get(token);
  };
  const shape = (token: string): ResourceShape => {
    const found = resource(token);
    if (!found) throw new Error(`${source} has no type ${token}`);
    return found;
  };
  const provider = (): ResourceShape => {
    const text = readFileSync(path.join(folder, "provider.js"), "utf8");
    return parseClass(text, `pulumi:providers:${name}`, source);
  };
  return { name, version, resource, shape, provider };
}

/** Tokens are `pkg:module/file:Type` (`index/file` for the root) or, in hand-kept schemas, `pkg:module:Type`. */
function fileOf(folder: string, name: string, token: string): string | undefined {
  const [pkg, module, type] = token.split(":");
  if (pkg !== name || !module || !type || !/^[\w./-]+$/.test(module) || !/^\w+$/.test(type)) return undefined;
  const camel = (type[0] as string).toLowerCase() + type.slice(1);
  const base = module.replace(/^index\/?/, "");
  const candidates = [base, path.posix.join(base, camel), path.posix.join(base, type)];
  return candidates
    .filter((candidate) => candidate !== "" && !candidate.includes(".."))
    .map((candidate) => path.join(folder, `${candidate}.js`))
    .find((file) => existsSync(file));
}

/** The shape of a generated resource class, undefined when the text is of another type. */
export function parseShape(text: string, token: string, source: string): ResourceShape | undefined {
  return /\b__pulumiType = '([^']+)'/.exec(text)?.[1] === token ? parseClass(text, token, source) : undefined;
}

function parseClass(text: string, token: string, source: string): ResourceShape {
  const start = text.search(/const args = argsOrState|let resourceInputs = \{\}/);
  if (start < 0)
    throw new Error(`${source}: the class of ${token} is not of the generated form that this reader knows`);
  // For resources with lookups the state branch comes first; only the args branch says what is an input.
  const body = text.slice(text.includes("const args = argsOrState") ? text.indexOf("const args = argsOrState") : start);
  const assignments = [...body.matchAll(/resourceInputs\["(\w+)"\] = (.+?);$/gm)].map((m) => [m[1], m[2]] as const);
  const isOutput = (expression: string | undefined) => expression?.includes("undefined /*out*/") ?? false;
  const inputs = assignments.filter(([, expression]) => !isOutput(expression)).map(([name]) => name as string);
  const outputs = assignments.map(([name]) => name as string).filter((name) => !inputs.includes(name));
  const json = assignments.filter(([, e]) => e?.endsWith(".apply(JSON.stringify)")).map(([name]) => name as string);
  const secrets = /additionalSecretOutputs: \[([^\]]*)\]/.exec(text)?.[1] ?? "";
  return {
    token,
    source,
    inputs: unique(inputs),
    required: unique([...body.matchAll(/Missing required property '(\w+)'/g)].map((m) => m[1] as string)),
    outputs: unique(outputs),
    secretOutputs: unique([...secrets.matchAll(/"(\w+)"/g)].map((m) => m[1] as string)),
    json: unique(json),
  };
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}
