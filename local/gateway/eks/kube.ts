import { readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { ApiException, CoreV1Api, KubeConfig, KubernetesObjectApi, PatchStrategy } from "@kubernetes/client-node";
import type { JSONWebKeySet } from "jose";
import type { KubeApi } from "./runtime.ts";

const FIELD_MANAGER = "eks";

/** The API of a cluster as the user of a kubeconfig file. */
export async function kubeApi(kubeconfig: string): Promise<KubeApi> {
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
    keys: () => jwks(config),
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

async function jwks(config: KubeConfig): Promise<JSONWebKeySet> {
  const options: Parameters<KubeConfig["applyToHTTPSOptions"]>[0] = {};
  await config.applyToHTTPSOptions(options);
  const url = new URL("/openid/v1/jwks", config.getCurrentCluster()?.server);
  const agent = options.agent instanceof Agent ? options.agent : undefined;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { ...options, ...(agent === undefined ? {} : { agent }), timeout: 5000 },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          if (incoming.statusCode === 200) resolve(JSON.parse(text) as JSONWebKeySet);
          else reject(new Error(`${url.href} answered ${incoming.statusCode ?? 0}: ${text.slice(0, 200)}`));
        });
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`${url.href} did not answer within 5 s`)));
    outgoing.on("error", reject);
    outgoing.end();
  });
}
