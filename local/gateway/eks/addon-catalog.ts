import { EksError, invalidParameter } from "./errors.ts";
import { type Operation, page } from "./operation.ts";
import { KUBERNETES_VERSIONS, minorOf } from "./versions.ts";

/** One add-on that the gateway serves. */
export interface CatalogEntry {
  readonly name: string;
  readonly namespace: string;
  readonly type: string;
  /** Versions for a Kubernetes minor; the first is the default. */
  versions(kubernetesVersion: string): readonly string[];
  /** JSON schema of configurationValues. */
  readonly schema: { readonly properties: Readonly<Record<string, object>>; readonly additionalProperties: boolean };
  /** Whether the gateway installs it. The others are part of the node, or recorded only. */
  readonly installed: boolean;
}

/** Versions that EKS has for a Kubernetes minor, beside the embedded cloud's own. */
const BY_MINOR: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "1.34": {
    coredns: "v1.12.4-eksbuild.29",
    "kube-proxy": "v1.34.6-eksbuild.21",
    "vpc-cni": "v1.22.4-eksbuild.3",
  },
  "1.35": {
    coredns: "v1.13.2-eksbuild.21",
    "kube-proxy": "v1.35.3-eksbuild.21",
    "vpc-cni": "v1.22.4-eksbuild.3",
  },
  "1.36": {
    coredns: "v1.14.3-eksbuild.16",
    "kube-proxy": "v1.36.0-eksbuild.21",
    "vpc-cni": "v1.22.4-eksbuild.3",
  },
};

/** The embedded cloud's own version, then EKS's for the minor. */
const versionsOf = (name: string, own: (minor: string) => string) => (minor: string) => [
  own(minor),
  ...(BY_MINOR[minor]?.[name] ? [BY_MINOR[minor][name]] : []),
];

const recorded = { properties: {}, additionalProperties: true } as const;

/** The setting of vpc-cni that turns the enforcement of NetworkPolicies on; without it EKS enforces none. */
export const NETWORK_POLICY = "enableNetworkPolicy";

/**
 * The add-ons: CoreDNS is installed, kube-proxy and the VPC CNI are what the node has anyway (the latter decides whether it
 * enforces NetworkPolicies), the rest is recorded only.
 */
const CATALOG: readonly CatalogEntry[] = [
  {
    name: "coredns",
    namespace: "kube-system",
    type: "networking",
    versions: versionsOf("coredns", () => "v1.14.6-eksbuild.1"),
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
    versions: versionsOf("kube-proxy", (minor) => `v${minor}.4-eksbuild.1`),
    schema: recorded,
    installed: false,
  },
  {
    name: "vpc-cni",
    namespace: "kube-system",
    type: "networking",
    versions: versionsOf("vpc-cni", () => "v1.20.4-eksbuild.1"),
    // Not a boolean: EKS's schema wants it as a string (aws eks describe-addon-configuration --addon-name vpc-cni).
    schema: { properties: { [NETWORK_POLICY]: { type: "string", format: "boolean" } }, additionalProperties: true },
    installed: false,
  },
  {
    name: "aws-ebs-csi-driver",
    namespace: "kube-system",
    type: "storage",
    versions: () => ["v1.51.0-eksbuild.1"],
    schema: recorded,
    installed: false,
  },
  {
    name: "eks-pod-identity-agent",
    namespace: "kube-system",
    type: "security",
    versions: () => ["v1.3.9-eksbuild.1"],
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

/** The version asked for, or the default for the cluster's Kubernetes version. Throws InvalidParameterException. */
export function addonVersion(entry: CatalogEntry, kubernetesVersion: string, asked: string | undefined): string {
  const offered = entry.versions(kubernetesVersion);
  if (asked !== undefined && !offered.includes(asked))
    throw invalidParameter(
      `Addon version specified is not supported: got ${asked} for ${entry.name}, with Kubernetes ${kubernetesVersion} the embedded cloud has ${offered.join(", ")}`,
    );
  return asked ?? (offered[0] as string);
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
      if (!KUBERNETES_VERSIONS.some((minor) => entry.versions(minor).includes(version)))
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
    for (const version of entry.versions(minor)) versions.set(version, [...(versions.get(version) ?? []), minor]);
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
        defaultVersion: entry.versions(clusterVersion)[0] === version,
      })),
      requiresConfiguration: false,
      requiresIamPermissions: false,
    })),
  };
}
