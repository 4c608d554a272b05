/** The rights without which upstream's provider reads no Secret. */
import type { ClusterClient } from "./client.ts";

const GROUP = "authorization.k8s.io/v1";

/**
 * Upstream reads each Secret through the cache of its manager, which lists and watches the Secrets of all namespaces from the first read on
 * (provider-upjet-aws 2.6.0, cmd/provider/rds/zz_main.go, cache.Options; crossplane-runtime 2.2.0, pkg/resource/api.go, APIPatchingApplicator).
 * A program that got along with less would hide that a narrower Role doesn't suffice.
 * @returns a check before every read. It rejects while one of the two rights is missing, as a cache that never fills does.
 */
export function secretCache(client: Pick<ClusterClient, "call">): () => Promise<void> {
  let isFilled = false;
  return async () => {
    if (isFilled) return;
    for (const verb of ["list", "watch"]) {
      const review = await client.call<{ readonly status: { readonly allowed: boolean } }>({
        method: "POST",
        path: `/apis/${GROUP}/selfsubjectaccessreviews`,
        body: {
          apiVersion: GROUP,
          kind: "SelfSubjectAccessReview",
          spec: { resourceAttributes: { verb, resource: "secrets" } },
        },
      });
      if (!review.status.allowed)
        throw new Error(
          "cannot get object: Timeout: failed waiting for *v1.Secret Informer to sync: this service account may not " +
            `${verb} the Secrets of all namespaces, which the provider does before it reads one`,
        );
    }
    isFilled = true;
  };
}
