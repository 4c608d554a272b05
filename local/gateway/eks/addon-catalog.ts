import { EksError, invalidParameter } from "./errors.ts";
import { type Operation, page } from "./operation.ts";
import { KUBERNETES_VERSIONS, minorOf } from "./versions.ts";

/** One add-on that the gateway serves. */
export interface CatalogEntry {
  readonly name: string;
  readonly namespace: string;
  readonly type: string;
  /** Version for a Kubernetes minor. */
  version(kubernetesVersion: string): string;
  /** JSON schema of configurationValues. */
  readonly schema: { readonly properties: Readonly<Record<string, object>>; readonly additionalProperties: boolean };
  /** Whether the gateway installs it. The others are part of the node, or recorded only. */
  readonly installed: boolean;
}

const recorded = { properties: {}, additionalProperties: true } as const;

/** The add-ons: CoreDNS is installed, kube-proxy and the VPC CNI are what the node has anyway, the rest is recorded only. */
const CATALOG: readonly CatalogEntry[] = [
  {
    name: "coredns",
    namespace: "kube-system",
    type: "networking",
    version: () => "v1.14.6-eksbuild.1",
    schema: {
      properties: {
        replicaCount: { type: "integer" },
        resources: { type: "object" },
        tolerations: { type: "array" },
        nodeSelector: { type: "object" },
        affinity: { type: "object" },
        podAnnotations: { type: "object" },
        podLabels: { type: "object" },
      },
      additionalProperties: false,
    },
    installed: true,
  },
  {
    name: "kube-proxy",
    namespace: "kube-system",
    type: "networking",
    version: (minor) => `v${minor}.4-eksbuild.1`,
    schema: recorded,
    installed: false,
  },
  {
    name: "vpc-cni",
    namespace: "kube-system",
    type: "networking",
    version: () => "v1.20.4-eksbuild.1",
    schema: recorded,
    installed: false,
  },
  {
    name: "aws-ebs-csi-driver",
    namespace: "kube-system",
    type: "storage",
    version: () => "v1.51.0-eksbuild.1",
    schema: recorded,
    installed: false,
  },
  {
    name: "eks-pod-identity-agent",
    namespace: "kube-system",
    type: "security",
    version: () => "v1.3.9-eksbuild.1",
    schema: recorded,
    installed: false,
  },
];

/** Throws InvalidParameterException that names the add-ons there are. */
export function catalogEntry(name: string): CatalogEntry {
  const found = CATALOG.find((entry) => entry.name === name);
  if (found === undefined)
    throw invalidParameter(
      `Addon ${name} specified is not supported: the embedded cloud has ${CATALOG.map((entry) => entry.name).join(", ")}`,
    );
  return found;
}

/** The version asked for, or the one for the cluster's Kubernetes version. Throws InvalidParameterException. */
export function addonVersion(entry: CatalogEntry, kubernetesVersion: string, asked: string | undefined): string {
  const offered = entry.version(kubernetesVersion);
  if (asked !== undefined && asked !== offered)
    throw invalidParameter(
      `Addon version specified is not supported: got ${asked} for ${entry.name}, with Kubernetes ${kubernetesVersion} the embedded cloud has ${offered}`,
    );
  return offered;
}

export const addonCatalogOperations: readonly Operation[] = [
  {
    name: "DescribeAddonVersions",
    method: "GET",
    path: "/addons/supported-versions",
    authorize: () => ({ resource: "*" }),
    run: (_context, call) => {
      const name = call.query.get("addonName");
      const asked = call.query.get("kubernetesVersion");
      const minors = KUBERNETES_VERSIONS.filter((version) => asked === null || version === asked);
      const entries = CATALOG.filter((entry) => name === null || entry.name === name);
      if (name !== null && entries.length === 0)
        throw new EksError("ResourceNotFoundException", `No addon found for name: ${name}`);
      const { items, ...rest } = page(entries, call.query, (entry) => entry.name);
      return { addons: items.map((entry) => description(entry, minors)), ...rest };
    },
  },
  {
    name: "DescribeAddonConfiguration",
    method: "GET",
    path: "/addons/configuration-schemas",
    authorize: () => ({ resource: "*" }),
    run: (_context, call) => {
      const entry = catalogEntry(call.query.get("addonName") ?? "");
      const version = call.query.get("addonVersion") ?? "";
      if (!KUBERNETES_VERSIONS.some((minor) => entry.version(minor) === version))
        throw new EksError("ResourceNotFoundException", `No version ${version} found for addon ${entry.name}`);
      const schema = { $schema: "http://json-schema.org/draft-06/schema#", type: "object", ...entry.schema };
      return {
        addonName: entry.name,
        addonVersion: version,
        configurationSchema: JSON.stringify(schema),
        podIdentityConfiguration: [],
      };
    },
  },
];

function description(entry: CatalogEntry, minors: readonly string[]): object {
  const versions = new Map<string, string[]>();
  for (const minor of [...minors].sort((a, b) => minorOf(b) - minorOf(a)))
    versions.set(entry.version(minor), [...(versions.get(entry.version(minor)) ?? []), minor]);
  return {
    addonName: entry.name,
    type: entry.type,
    publisher: "eks",
    owner: "aws",
    defaultNamespace: entry.namespace,
    addonVersions: [...versions].map(([version, compatible]) => ({
      addonVersion: version,
      architecture: ["amd64", "arm64"],
      computeTypes: ["ec2"],
      compatibilities: compatible.map((clusterVersion) => ({
        clusterVersion,
        platformVersions: ["*"],
        defaultVersion: true,
      })),
      requiresConfiguration: false,
      requiresIamPermissions: false,
    })),
  };
}
