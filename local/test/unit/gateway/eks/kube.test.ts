import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { kubeApi } from "../../../../gateway/eks/kube.ts";
import type { KubeApi } from "../../../../gateway/eks/runtime.ts";
import { scratch } from "../../../support/scratch.ts";
import { originOf } from "../../../support/serving.ts";

/** What the Eviction API answers next. */
let answer: { readonly code: number; readonly message: string };
const keys = { keys: [{ kty: "EC", kid: "k", use: "sig", crv: "P-256", x: "eA", y: "eQ" }] };
/** Keeps the API server from answering: called with each request that it would have answered. */
let silent: ((request: IncomingMessage) => void) | undefined;
const apiServer = createServer((request, response) => {
  request.resume();
  if (silent !== undefined) return silent(request);
  if (request.url === "/openid/v1/jwks") {
    response.writeHead(200, { "content-type": "application/jwk-set+json" });
    response.end(JSON.stringify(keys));
    return;
  }
  response.writeHead(answer.code, { "content-type": "application/json" });
  response.end(JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", ...answer }));
});
const folder = scratch("fleet-kube-");
const file = join(folder, "kubeconfig");
let kube: KubeApi;

beforeAll(async () => {
  const server = await originOf(apiServer);
  const config = {
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "a", user: {} }],
  };
  writeFileSync(file, JSON.stringify(config));
  kube = await kubeApi(file);
});

test.each([
  [429, "Cannot evict pod as it would violate the pod's disruption budget."],
  [500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."],
  [404, 'pods "shop-1" not found'],
])("a pod that budgets hold, or that is gone, is not an error: %i %s", async (code, message) => {
  answer = { code, message };
  await expect(kube.evict("shop", "shop-1")).resolves.toBeUndefined();
});

test.each([
  [500, "Internal error occurred: etcdserver: request timed out"],
  [500, 'Internal error occurred: failed calling webhook "shop"'],
  [403, "pods is forbidden"],
])("an eviction that fails for another reason is one: %i %s", async (code, message) => {
  answer = { code, message };
  await expect(kube.evict("shop", "shop-1")).rejects.toThrow(message.split('"')[0]);
});

test("the keys that verify service account tokens come as the API server has them", async () => {
  expect(await kube.keys()).toEqual(keys);
});

test("a request for the keys that is not answered in time is aborted, and the error names the server", async () => {
  const late = new AbortController();
  const hungUp = new Promise<unknown>((resolve) => {
    silent = (request) => {
      resolve(once(request.socket, "close"));
      late.abort();
    };
  });
  const keys = (await kubeApi(file, () => late.signal)).keys();
  await expect(keys).rejects.toThrow(/^http:\/\/127\.0\.0\.1:\d+\/openid\/v1\/jwks did not answer within 5 s$/);
  await hungUp;
  silent = undefined;
});
