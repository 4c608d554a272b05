import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createForwarder } from "../../../app/forward.ts";

/** Stands in for kubectl: serves one answer for each request on a free port, and ends after `requests` of them. */
const kubectl = (requests: number): [string, ...string[]] => [
  process.execPath,
  "--eval",
  `let left = ${requests};
   const server = require("node:http").createServer((request, response) => {
     if (left-- === 0) process.exit(1);
     response.setHeader("x-pid", process.pid).end(request.method + " " + request.url);
   });
   server.listen(0, "127.0.0.1", () => console.log("Forwarding from 127.0.0.1:" + server.address().port + " -> 9898"));`,
];

let server: ReturnType<typeof createForwarder> | undefined;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

async function serve(command: [string, ...string[]]): Promise<string> {
  server = createForwarder("payment-app on blue", command);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("requests reach the application with method and path, over one forward", async () => {
  const url = await serve(kubectl(9));
  const first = await fetch(`${url}/api/info?x=1`, { method: "POST", body: "data" });
  expect([first.status, await first.text()]).toEqual([200, "POST /api/info?x=1"]);
  const second = await fetch(`${url}/`);
  expect(await second.text()).toBe("GET /");
  expect(second.headers.get("x-pid")).toBe(first.headers.get("x-pid"));
});

test("a forward that has lost its pod is replaced with the next request", async () => {
  const url = await serve(kubectl(1));
  expect((await fetch(url)).status).toBe(200);
  const lost = await fetch(url);
  expect(lost.status).toBe(503);
  expect(await lost.text()).toMatch(/^payment-app on blue can't be reached: /);
  expect((await fetch(url)).status).toBe(200);
});

test("an application that isn't there is answered for with what kubectl said", async () => {
  const missing =
    'console.error("Error from server (NotFound): services \\"payment-app\\" not found"); process.exit(1)';
  const url = await serve([process.execPath, "--eval", missing]);
  const answer = await fetch(url);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('services "payment-app" not found');
});

test("who leaves before the end of an answer leaves nothing behind at the application", async () => {
  const endless = `const server = require("node:http").createServer((request, response) => {
      if (request.url === "/left") return response.end(String(left));
      response.write("more to come");
      request.socket.once("close", () => left++);
    });
    let left = 0;
    server.listen(0, "127.0.0.1", () => console.log("Forwarding from 127.0.0.1:" + server.address().port + " -> 9898"));`;
  const url = await serve([process.execPath, "--eval", endless]);
  const leaving = new AbortController();
  expect((await fetch(`${url}/stream`, { signal: leaving.signal })).status).toBe(200);
  leaving.abort();
  await expect.poll(async () => (await fetch(`${url}/left`)).text(), { timeout: 30_000 }).toBe("1");
});
