/** The package of the composition function behind the Spoke API: the same recipe for the local registry and for a public one. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { PackageSpec } from "./package.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const folder = join(root, "functions", "spoke");
const { version, description } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
  version: string;
  description: string;
};

const { config } = parse(readFileSync(join(root, "Pulumi.yaml"), "utf8")) as {
  config: { functionPackage: { default: string } };
};

/** Where a stack that says nothing has its hub look for it. */
export const FUNCTION_REPOSITORY = config.functionPackage.default;

export const functionPackage: PackageSpec = {
  repository: FUNCTION_REPOSITORY,
  version: `v${version}`,
  entry: join(folder, "main.ts"),
  sources: ["../../../functions/spoke", "../../../lib"],
  objects: [
    {
      apiVersion: "meta.pkg.crossplane.io/v1",
      kind: "Function",
      metadata: {
        name: "function-spoke",
        annotations: {
          "meta.crossplane.io/description": description,
          "meta.crossplane.io/license": "Apache-2.0",
        },
      },
      spec: { capabilities: ["composition"], crossplane: { version: ">=v2.0.0-0" } },
    },
  ],
};
