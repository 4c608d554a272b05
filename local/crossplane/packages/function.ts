/** The package of the composition function behind the Spoke API: the same recipe for the local registry and for a public one. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PackageSpec } from "./package.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "functions", "spoke");
const { version, description } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
  version: string;
  description: string;
};

/** Where the release workflow publishes it. */
export const FUNCTION_REPOSITORY = "ghcr.io/eks-gitops-fleet/function-spoke";

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
