import { pathOf } from "../aws/credential-scope.ts";
import type { Forward } from "../aws/forward.ts";
import { type HttpRequest, jsonResponse } from "../aws/http.ts";
import { associationOf } from "../eks/pod-identity.ts";
import type { Clusters } from "../eks/runtime.ts";
import type { Store } from "../eks/store.ts";
import type { Handler } from "../listeners.ts";
import { REGION } from "../ministack.ts";
import { type AdmissionReview, admitPod } from "./pod-identity.ts";
import { reviewToken } from "./token.ts";

interface Context {
  readonly store: Store;
  readonly clusters: Clusters;
  readonly forward: Forward;
  /** Host and port of the AWS API, for which a token may be signed. */
  readonly gatewayHost: string;
  readonly awsTime: () => Promise<Date>;
}

/** What API servers ask: whose a token is (`internal`, with the gateway's own health), and what a new pod gets (`webhook`). */
export function apiServerWebhooks({ store, clusters, forward, gatewayHost, awsTime }: Context) {
  const notFound = ({ url }: HttpRequest) => jsonResponse(404, { message: `nothing is at ${pathOf(url)}` });
  const clusterIn = ({ method, url }: HttpRequest, path: RegExp): string | undefined =>
    method === "POST" ? path.exec(pathOf(url))?.[1] : undefined;
  const internal: Handler = async (request) => {
    if (pathOf(request.url) === "/healthz") return jsonResponse(200, { clusters: store.list().length });
    const cluster = clusterIn(request, /^\/authenticate\/([^/]+)$/);
    if (cluster === undefined) return notFound(request);
    const body: unknown = JSON.parse(request.body.toString("utf8"));
    return jsonResponse(
      200,
      await reviewToken(body, store.find(cluster), { forward, gatewayHost, now: await awsTime() }),
    );
  };
  const webhook: Handler = async (request) => {
    const cluster = clusterIn(request, /^\/mutate\/([^/]+)$/);
    if (cluster === undefined) return notFound(request);
    const kube = await clusters.of(cluster).kube();
    const review = JSON.parse(request.body.toString("utf8")) as AdmissionReview;
    return jsonResponse(
      200,
      await admitPod(review, REGION, async (namespace, name) => ({
        serviceAccount: await kube.find("v1", "ServiceAccount", name, namespace),
        associated: associationOf(store.get(cluster), { namespace, serviceAccount: name }) !== undefined,
      })),
    );
  };
  return { internal, webhook };
}
