/** Crossplane packages of the AWS provider family, under upstream's names and versions. */
import { join } from "node:path";
import { familyCrds, managedCrd } from "../provider-aws/crds.ts";
import { families } from "../provider-aws/kinds/index.ts";
import type { PackageSpec } from "./package.ts";

/** The version of provider-upjet-aws whose API the stand-in has. */
export const PROVIDER_VERSION = "v2.6.0";
const ORGANISATION = "xpkg.upbound.io/upbound";
const FAMILY = "provider-family-aws";

const programs = join(import.meta.dirname, "..", "provider-aws", "programs");

function metadata(name: string, dependsOn: readonly object[]): object {
  return {
    apiVersion: "meta.pkg.crossplane.io/v1",
    kind: "Provider",
    metadata: {
      name,
      labels: { "pkg.crossplane.io/provider-family": FAMILY },
      annotations: {
        "meta.crossplane.io/description":
          "Stand-in for the package of provider-upjet-aws: the same kinds over the project's AWS handlers, for the local stack only.",
        "meta.crossplane.io/license": "Apache-2.0",
      },
    },
    spec: { capabilities: ["SafeStart"], crossplane: { version: ">=v2.0.0-0" }, dependsOn },
  };
}

const common = { version: PROVIDER_VERSION, sources: ["../provider-aws", "../../aws"] } as const;

const family: PackageSpec = {
  ...common,
  repository: `${ORGANISATION}/${FAMILY}`,
  entry: join(programs, "family.ts"),
  objects: [metadata(FAMILY, []), ...familyCrds],
};

const members = Object.entries(families).map(
  ([group, kinds]): PackageSpec => ({
    ...common,
    repository: `${ORGANISATION}/provider-aws-${group}`,
    entry: join(programs, `${group}.ts`),
    objects: [
      metadata(`provider-aws-${group}`, [{ provider: `${ORGANISATION}/${FAMILY}`, version: `>=${PROVIDER_VERSION}` }]),
      ...kinds.map(managedCrd),
    ],
  }),
);

export const providerPackages: readonly PackageSpec[] = [family, ...members];
