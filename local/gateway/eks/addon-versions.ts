import * as z from "zod";
import { CATALOG, type CatalogEntry, NAMESPACE, versionsOf } from "./addon-catalog.ts";
import { notFound } from "./errors.ts";
import { list, type Operation, onAnything } from "./operation.ts";
import { EKS_VERSIONS, minorOf } from "./versions.ts";

export const addonVersionOperations: readonly Operation[] = [
  list("DescribeAddonVersions", {
    member: "addons",
    shape: { addonName: z.string().optional(), kubernetesVersion: z.string().optional() },
    authorize: onAnything,
    items: (_context, { addonName }) => {
      const entries = CATALOG.filter(({ name }) => addonName === undefined || name === addonName);
      if (addonName !== undefined && entries.length === 0) throw notFound(`No addon found for name: ${addonName}`);
      return entries;
    },
    keyOf: ({ name }) => name,
    row: (entry, { kubernetesVersion }) =>
      description(
        entry,
        EKS_VERSIONS.filter((version) => kubernetesVersion === undefined || version === kubernetesVersion),
      ),
  }),
];

function description(entry: CatalogEntry, minors: readonly string[]): object {
  const versions = new Map<string, string[]>();
  for (const minor of [...minors].sort((a, b) => minorOf(b) - minorOf(a)))
    for (const version of versionsOf(entry, minor)) versions.set(version, [...(versions.get(version) ?? []), minor]);
  return {
    addonName: entry.name,
    type: entry.type,
    publisher: "eks",
    owner: "aws",
    defaultNamespace: NAMESPACE,
    addonVersions: [...versions].map(([version, compatible]) => ({
      addonVersion: version,
      architecture: ["amd64", "arm64"],
      computeTypes: ["ec2"],
      compatibilities: compatible.map((clusterVersion) => ({
        clusterVersion,
        platformVersions: ["*"],
        defaultVersion: versionsOf(entry, clusterVersion)[0] === version,
      })),
      requiresConfiguration: false,
      requiresIamPermissions: false,
    })),
  };
}
