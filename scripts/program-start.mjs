// Preloaded before the program (nodeargs in Pulumi.yaml): Node compiles nothing twice, and loads what the SDKs bring along only
// when something uses it. docs/decisions/0001-one-program-without-branches-on-stack-names.md has the figures.
import "./compile-cache.mjs";
import { readdirSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const fromPulumi = createRequire(require.resolve("@pulumi/pulumi"));

/** What @pulumi/pulumi loads at every start for other features: the Automation API, dynamic providers and functions in state, tracing. */
const features = [
  "./automation",
  "typescript",
  "normalize-package-data",
  "@opentelemetry/exporter-zipkin",
  "@opentelemetry/instrumentation",
  "@opentelemetry/instrumentation-grpc",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace-base",
  "@opentelemetry/sdk-trace-node",
];

/**
 * The namespaces of a provider's SDK that are loaded at once. What the outputs of @pulumi/eks refer to is among them, since the SDK
 * makes a resource of a reference only when the type's module is loaded; so are config and types, which are no folders of resources.
 */
const namespaces = {
  "@pulumi/aws": ["autoscaling", "cloudformation", "config", "ec2", "eks", "iam", "types"],
  "@pulumi/kubernetes": ["core", "storage", "types"],
};

/** Puts in the place of a CommonJS module one that loads it when one of its exports is first read. */
function loadOnUse(file) {
  const stand = Object.assign(new Module(file), { filename: file, loaded: true });
  let loaded;
  let loading = false;
  const exports = () => {
    if (loaded !== undefined) return loaded;
    // What it loads may lead back to it: then it is what Node's loader has of it so far.
    if (loading) return require.cache[file].exports;
    loading = true;
    delete require.cache[file];
    try {
      loaded = require(file);
      return loaded;
    } finally {
      loading = false;
      // Pulumi tells a module that a function captures by what the cache has: that is what the program has, too.
      require.cache[file] = stand;
    }
  };
  stand.exports = new Proxy(
    {},
    {
      // TypeScript's helpers copy the exports of a module that does not say __esModule, and would load it.
      get: (_, key) => {
        if (key === "__esModule") return true;
        return key === "default" && !exports().__esModule ? exports() : exports()[key];
      },
      has: (_, key) => key in exports(),
      ownKeys: () => Reflect.ownKeys(exports()),
      getOwnPropertyDescriptor: (_, key) => {
        const own = Reflect.getOwnPropertyDescriptor(exports(), key);
        return own && { ...own, configurable: true };
      },
    },
  );
  require.cache[file] = stand;
}

/** Features that this version of the SDK does not have: a quick start must not be what keeps a program from starting. */
export const unknown = [];

for (const name of features) {
  try {
    loadOnUse(fromPulumi.resolve(name));
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    unknown.push(name);
  }
}
for (const [sdk, atOnce] of Object.entries(namespaces)) {
  const folder = dirname(require.resolve(sdk));
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory() && !["node_modules", "scripts", ...atOnce].includes(entry.name))
      loadOnUse(join(folder, entry.name, "index.js"));
}
// Pulumi's runner maps stack traces to sources. Ours run as they are written; the SDKs' are not installed.
const sourceMaps = fromPulumi.resolve("source-map-support/register");
require.cache[sourceMaps] = Object.assign(new Module(sourceMaps), { filename: sourceMaps, loaded: true });
