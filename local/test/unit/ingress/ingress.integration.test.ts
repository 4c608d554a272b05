import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createIngress } from "../../../ingress/ingress.ts";

/** Stands in for kubectl: answers with what it was asked, and ends after `requests` of them. */
const kubectl = (context: string, requests: number): [string, ...string[]] => [
  process.execPath,
  "--eval",
  `let left = ${requests};
   const server = require("node:http").createServer(async (request, response) => {
     if (left-- === 0) process.exit(1);
     let body = "";
     for await (const chunk of request) body += chunk;
     const { "x-signature": signature } = request.headers;
     response.writeHead(request.url.endsWith("bad") ? 400 : 200).end(["${context}", request.method, request.url, signature, body].join(" "));
   });
   server.listen(0, "127.0.0.1", () => console.log("Forwarding from 127.0.0.1:" + server.address().port + " -> 9292"));`,
];

let server: ReturnType<typeof createIngress> | undefined;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

async function serve(command: (context: string) => [string, ...string[]]): Promise<string> {
  server = createIngress(command);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const post = async (url: string) => {
  const answer = await fetch(url, { method: "POST", headers: { "X-Signature": "sha256=1" }, body: "{}" });
  return [answer.status, await answer.text()];
};

test("a call reaches the cluster that its path names, with signature and body, and gets that one's answer", async () => {
  const url = await serve((context) => kubectl(context, 9));
  expect(await post(`${url}/fleet-hub/hook/0a`)).toEqual([200, "fleet-hub POST /hook/0a sha256=1 {}"]);
  expect(await post(`${url}/fleet-spoke-blue/hook/0bad`)).toEqual([
    400,
    "fleet-spoke-blue POST /hook/0bad sha256=1 {}",
  ]);
});

test("no other path reaches a cluster", async () => {
  const url = await serve((context) => kubectl(context, 9));
  for (const path of [
    "/",
    "/fleet-hub",
    "/fleet-hub/metrics",
    "/fleet-hub/hook/../x",
    "/--all/hook/0a",
    "/fleet-hub/hook/",
  ])
    expect((await post(`${url}${path}`))[0], path).toBe(404);
});

test("a call that meets a lost pod is passed to the next one", async () => {
  const url = await serve((context) => kubectl(context, 1));
  expect((await post(`${url}/fleet-hub/hook/0a`))[0]).toBe(200);
  expect((await post(`${url}/fleet-hub/hook/0b`))[0]).toBe(200);
});

test("a cluster that isn't there is answered for with what kubectl said", async () => {
  const missing = 'console.error("error: context \\"gone\\" does not exist"); process.exit(1)';
  const url = await serve(() => [process.execPath, "--eval", missing]);
  const [status, text] = await post(`${url}/gone/hook/0a`);
  expect(status).toBe(503);
  expect(text).toContain('context "gone" does not exist');
});
