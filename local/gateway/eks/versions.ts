import { KUBERNETES_VERSIONS } from "../../clusters/options.ts";
import { invalidParameter } from "./errors.ts";
import { type Operation, page } from "./operation.ts";

export { KUBERNETES_VERSIONS };

/** What CreateCluster takes when no version is asked for, as EKS since September 2026. */
export const DEFAULT_VERSION = "1.36";

/** The platform version of every cluster. */
export const PLATFORM_VERSION = "eks.1";

export function expectVersion(version: string): void {
  if (!(KUBERNETES_VERSIONS as readonly string[]).includes(version))
    throw invalidParameter(
      `unsupported Kubernetes version ${version}: the embedded cloud has ${KUBERNETES_VERSIONS.join(", ")}`,
    );
}

/** The minor as a number: 34 for "1.34". */
export const minorOf = (version: string): number => Number(version.split(".")[1]);

export const versionOperations: readonly Operation[] = [
  {
    name: "DescribeClusterVersions",
    method: "GET",
    path: "/cluster-versions",
    authorize: () => ({ resource: "*" }),
    run: (_context, call) => {
      const asked = call.query.getAll("clusterVersions");
      const onlyDefault = call.query.get("defaultOnly") === "true";
      const versions = KUBERNETES_VERSIONS.filter(
        (version) => (asked.length === 0 || asked.includes(version)) && (!onlyDefault || version === DEFAULT_VERSION),
      ).map((clusterVersion) => ({
        clusterVersion,
        clusterType: "eks",
        defaultPlatformVersion: PLATFORM_VERSION,
        defaultVersion: clusterVersion === DEFAULT_VERSION,
        status: "STANDARD_SUPPORT",
        versionStatus: "STANDARD_SUPPORT",
      }));
      const { items, ...rest } = page(versions, call.query, (version) => version.clusterVersion);
      return { clusterVersions: items, ...rest };
    },
  },
];
