import { posix } from "node:path";
import type { KubernetesObject } from "@kubernetes/client-node";
import { FUNCTION_REPOSITORY } from "../../../product.ts";
import { mirrorOf } from "../../../registry/names.ts";

/** The CRD that says that Crossplane is in a cluster. */
export const IMAGE_CONFIG_CRD = "imageconfigs.pkg.crossplane.io";

/** Upstream prefixes of the Crossplane packages that the instance's registry has. */
const PREFIXES: Readonly<Record<string, string>> = {
  "provider-aws": "xpkg.crossplane.io/crossplane-contrib",
  "function-spoke": posix.dirname(FUNCTION_REPOSITORY),
};

/**
 * Crossplane's configuration of images: packages stay known by their upstream names and come from the instance's registry.
 * It belongs to the cluster as the CoreDNS names do, so that what is in Git is the same as on AWS.
 */
export function imageConfigs(): KubernetesObject[] {
  return Object.entries(PREFIXES).map(
    ([name, prefix]) =>
      ({
        apiVersion: "pkg.crossplane.io/v1beta1",
        kind: "ImageConfig",
        metadata: { name: `fleet-local-${name}` },
        spec: {
          matchImages: [{ type: "Prefix", prefix }],
          rewriteImage: { prefix: mirrorOf(prefix) },
        },
      }) as KubernetesObject,
  );
}
