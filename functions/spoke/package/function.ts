/** The package of the composition function: the same recipe for a public registry and for that of the local stack. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { PackageSpec } from "./package.ts";

const folder = join(import.meta.dirname, "..");
const { version, description } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
  version: string;
  description: string;
};

const { config } = parse(readFileSync(join(folder, "..", "..", "Pulumi.yaml"), "utf8")) as {
  config: { functionPackage: { default: string } };
};

/** Where a hub looks for it if the stack names no other repository. */
export const FUNCTION_REPOSITORY = config.functionPackage.default;

/** The program that keeps ClusterProfiles; repos/gitops-system/platform/hub/cluster-inventory runs it. */
export const INVENTORY_PROGRAM = "/cluster-inventory.mjs";

export const functionPackage: PackageSpec = {
  repository: FUNCTION_REPOSITORY,
  version: `v${version}`,
  entry: join(folder, "main.ts"),
  programs: { [INVENTORY_PROGRAM]: join(folder, "inventory", "main.ts") },
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
