import * as z from "zod";
import { KUBERNETES_VERSIONS } from "../../clusters/options.ts";

/** Minors for which EKS has add-ons and AMIs: more than control planes here can be. */
export const EKS_VERSIONS: readonly string[] = [...KUBERNETES_VERSIONS, "1.37"];

const VERSIONS: readonly string[] = KUBERNETES_VERSIONS;

/** What CreateCluster takes when no version is asked for, as EKS since September 2026. */
export const DEFAULT_VERSION = "1.36";

/** The platform version of every cluster. */
export const PLATFORM_VERSION = "eks.1";

/** A supported Kubernetes version. */
export const kubernetesVersion = z.string().refine((version) => VERSIONS.includes(version), {
  error: ({ input }) =>
    `unsupported Kubernetes version ${String(input)}: the embedded cloud has ${KUBERNETES_VERSIONS.join(", ")}`,
});

/** The minor as a number: 34 for "1.34". */
export const minorOf = (version: string): number => Number(version.split(".")[1]);
