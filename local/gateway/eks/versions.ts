import * as z from "zod";
import { KUBERNETES_VERSIONS } from "../../clusters/options.ts";
import { list, type Operation, onAnything } from "./operation.ts";

export { KUBERNETES_VERSIONS };

const VERSIONS: readonly string[] = KUBERNETES_VERSIONS;

/** What CreateCluster takes when no version is asked for, as EKS since September 2026. */
export const DEFAULT_VERSION = "1.36";

/** The platform version of every cluster. */
export const PLATFORM_VERSION = "eks.1";

/** A Kubernetes version that there is. */
export const kubernetesVersion = z.string().refine((version) => VERSIONS.includes(version), {
  error: ({ input }) =>
    `unsupported Kubernetes version ${String(input)}: the embedded cloud has ${KUBERNETES_VERSIONS.join(", ")}`,
});

/** The minor as a number: 34 for "1.34". */
export const minorOf = (version: string): number => Number(version.split(".")[1]);

export const versionOperations: readonly Operation[] = [
  list("DescribeClusterVersions", {
    member: "clusterVersions",
    shape: { clusterVersions: z.array(z.string()).optional(), defaultOnly: z.boolean().default(false) },
    authorize: onAnything,
    items: (_context, { clusterVersions = VERSIONS, defaultOnly }) =>
      VERSIONS.filter((version) => clusterVersions.includes(version) && (!defaultOnly || version === DEFAULT_VERSION)),
    keyOf: (version) => version,
    row: (clusterVersion) => ({
      clusterVersion,
      clusterType: "eks",
      defaultPlatformVersion: PLATFORM_VERSION,
      defaultVersion: clusterVersion === DEFAULT_VERSION,
      status: "STANDARD_SUPPORT",
      versionStatus: "STANDARD_SUPPORT",
    }),
  }),
];
