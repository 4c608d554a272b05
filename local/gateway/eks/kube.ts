import { readFile } from "node:fs/promises";
import {
  ApiException,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  Observable,
  type ObservableMiddleware,
  OpenidApi,
  PatchStrategy,
} from "@kubernetes/client-node";
import type { JSONWebKeySet } from "jose";
import type { KubeApi } from "./runtime.ts";

const FIELD_MANAGER = "eks";

const KEYS_TIMEOUT_MS = 5000;

/** The API of a cluster as the user of a kubeconfig file. `keysLate` gives the signal that ends a read of the keys. */
export async function kubeApi(
  kubeconfig: string,
  keysLate = () => AbortSignal.timeout(KEYS_TIMEOUT_MS),
): Promise<KubeApi> {
  const config = new KubeConfig();
  config.loadFromString(await readFile(kubeconfig, "utf8"));
  const objects = KubernetesObjectApi.makeApiClient(config);
  return {
    apply: async (all) => {
      // One after another: a namespace or role comes before what needs it.
      for (const object of all)
        await told(`apply ${object.kind ?? ""} ${object.metadata?.name ?? ""}`, () =>
          objects.patch(object, undefined, undefined, FIELD_MANAGER, true, PatchStrategy.ServerSideApply),
        );
    },
    remove: async (all) => {
      for (const object of all) await unlessMissing(() => objects.delete(object));
    },
    evict: (namespace, name) => evict(config.makeApiClient(CoreV1Api), namespace, name),
    find: (apiVersion, kind, name, namespace) =>
      unlessMissing(() =>
        objects.read({ apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } }),
      ) as never,
    list: async (apiVersion, kind, labels) =>
      (await objects.list(apiVersion, kind, undefined, undefined, undefined, undefined, undefined, labels))
        .items as never,
    keys: () => keysOf(config, keysLate()),
  };
}

/** The error of an API server in one line, instead of its whole answer with all headers. */
async function told<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ApiException)) throw error;
    const { body } = error as ApiException<unknown>;
    throw new Error(`${what}: ${error.code} ${typeof body === "string" ? body.slice(0, 500) : JSON.stringify(body)}`);
  }
}

async function unlessMissing<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ApiException && error.code === 404) return undefined;
    throw error;
  }
}

async function evict(api: CoreV1Api, namespace: string, name: string): Promise<void> {
  try {
    await api.createNamespacedPodEviction({ namespace, name, body: { metadata: { namespace, name } } });
  } catch (error) {
    if (!isHeldOrGone(error)) throw error;
  }
}

/** 429: a budget allows none now. 500 with these words: several budgets are for the pod (Kubernetes, "API-initiated Eviction"). */
function isHeldOrGone(error: unknown): boolean {
  if (!(error instanceof ApiException)) return false;
  const { code, body } = error as ApiException<unknown>;
  return (
    [404, 429].includes(code) || (code === 500 && JSON.stringify(body).includes("more than one PodDisruptionBudget"))
  );
}

/** The keys that verify the service account tokens of a cluster. A request that is late is aborted. */
async function keysOf(config: KubeConfig, signal: AbortSignal): Promise<JSONWebKeySet> {
  const abort: ObservableMiddleware = {
    pre: (request) => {
      request.setSignal(signal);
      return new Observable(Promise.resolve(request));
    },
    post: (response) => new Observable(Promise.resolve(response)),
  };
  try {
    // The client types it as text; it is parsed by its content type, application/jwk-set+json.
    return (await config
      .makeApiClient(OpenidApi)
      .getServiceAccountIssuerOpenIDKeyset({}, { middleware: [abort], middlewareMergeStrategy: "append" })) as never;
  } catch (error) {
    if (!signal.aborted) throw error;
    const server = config.getCurrentCluster()?.server ?? "";
    throw new Error(`${server}/openid/v1/jwks did not answer within ${KEYS_TIMEOUT_MS / 1000} s`, { cause: error });
  }
}
