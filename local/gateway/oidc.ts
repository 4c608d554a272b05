import type { JSONWebKeySet } from "jose";
import { clusterIdOf } from "../instance/cluster-id.ts";
import { type HttpResponse, jsonResponse } from "./aws/http.ts";
import type { ClusterRecord } from "./eks/model.ts";
import type { Clusters } from "./eks/runtime.ts";
import type { Store } from "./eks/store.ts";

/** How long the keys of a cluster are remembered (they change only when the cluster's signing key is replaced). */
const CACHE_MS = 60_000;

/** The OIDC issuers of the clusters. */
export function oidcIssuers(store: Store, clusters: Clusters) {
  const cache = new Map<string, { at: number; keys: JSONWebKeySet }>();
  const clusterOf = (issuer: string): ClusterRecord | undefined =>
    store.list().find(({ cluster }) => cluster.identity.oidc?.issuer === issuer && cluster.status !== "DELETING");
  /** The keys of the cluster with this issuer, or undefined when no cluster has it. Rejects when its API server does not answer. */
  const keys = async (issuer: string, fresh: boolean): Promise<JSONWebKeySet | undefined> => {
    const record = clusterOf(issuer);
    if (record === undefined) return undefined;
    const cached = cache.get(issuer);
    if (!fresh && cached !== undefined && Date.now() - cached.at < CACHE_MS) return cached.keys;
    const found = await (await clusters.of(clusterIdOf(record.cluster)).kube()).keys();
    cache.set(issuer, { at: Date.now(), keys: found });
    return found;
  };
  return {
    keys,
    /** Answers `GET /id/<id>/...` under the issuers' host. */
    serve: async (path: string): Promise<HttpResponse> => {
      const [, id = "", rest = ""] = /^\/id\/([0-9A-Fa-f]{32})(\/.*)$/.exec(path) ?? [];
      const issuer = store.list().find((record) => record.oidcId === id)?.cluster.identity.oidc?.issuer;
      const known = issuer === undefined ? undefined : await keys(issuer, false);
      if (issuer !== undefined && known !== undefined && rest === "/keys") return jsonResponse(200, known);
      if (issuer !== undefined && rest === "/.well-known/openid-configuration")
        return jsonResponse(200, discovery(issuer));
      return jsonResponse(404, { message: `there is no OIDC issuer at ${path}` });
    },
  };
}

/** The discovery document, as EKS serves it. */
function discovery(issuer: string): object {
  return {
    issuer,
    jwks_uri: `${issuer}/keys`,
    authorization_endpoint: "urn:kubernetes:programmatic_authorization",
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    claims_supported: ["sub", "iss"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
}
