/** Crossplane packages of the AWS provider family, under upstream's names and versions. */
import { join } from "node:path";
import { familyCrds, managedCrd } from "../provider-aws/crds.ts";
import { families } from "../provider-aws/kinds.ts";
import type { MadePackage } from "./made.ts";

/** Version of provider-upjet-aws whose API the stand-in has. */
export const PROVIDER_API = "v2.6.0";

/**
 * Versions of provider-upjet-aws under which the stand-in is published: those that Git names, which may be one for each environment
 * while a new one is tried.
 */
export const PROVIDER_VERSIONS = ["v2.7.0"] as const;
const ORGANISATION = "xpkg.crossplane.io/crossplane-contrib";
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

const sources = ["local/crossplane/provider-aws", "local/aws", "local/program.ts", "local/work-queue.ts"];

const family = (version: string): MadePackage => ({
  version,
  sources,
  repository: `${ORGANISATION}/${FAMILY}`,
  entry: join(programs, "family.ts"),
  objects: [metadata(FAMILY, []), ...familyCrds],
});

const members = (version: string): MadePackage[] =>
  Object.entries(families).map(([group, kinds]) => ({
    version,
    sources,
    repository: `${ORGANISATION}/provider-aws-${group}`,
    entry: join(programs, `${group}.ts`),
    objects: [
      metadata(`provider-aws-${group}`, [{ provider: `${ORGANISATION}/${FAMILY}`, version: `>=${version}` }]),
      ...kinds.map(managedCrd),
    ],
  }));

export const providerPackages: readonly MadePackage[] = PROVIDER_VERSIONS.flatMap((version) => [
  family(version),
  ...members(version),
]);
