import { request } from "node:http";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { listen, type Shown, serverOf } from "../../../cli/report/server.ts";

let shown: Shown = { html: "<p>one", json: "{}\n", etag: '"1"' };
const server = serverOf(() => shown, "folder");
let port: number;
beforeAll(async () => {
  port = await listen(server, 0);
});
afterAll(() => void server.close());

interface Answered {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

const ask = (path: string, method = "GET", headers: Record<string, string> = {}): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part) => {
        body += part;
      });
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    asked.on("error", reject).end();
  });

test("who knows the address gets the page, and the data of it", async () => {
  expect(await ask("/folder/")).toMatchObject({ status: 200, body: "<p>one" });
  expect(await ask("/folder/report.json")).toMatchObject({
    ...{ status: 200, body: "{}\n" },
    headers: { "content-type": "application/json" },
  });
});

test("who does not know the address gets nothing", async () => {
  for (const path of ["/", "/folder", "/other/", "/report.json", "/folder/../folder/", "/__proto__", "/toString"])
    expect(await ask(path)).toMatchObject({ status: 404, body: expect.not.stringContaining("one") });
});

test("a page of another name that leads here gets nothing", async () => {
  const asked = await ask("/folder/", "GET", { Host: `evil.example:${port}` });
  expect(asked).toMatchObject({ status: 421, body: expect.not.stringContaining("one") });
  expect(await ask("/folder/", "GET", { Host: `localhost:${port}` })).toMatchObject({ status: 200 });
});

test("on HTTP's own port a browser names none", () => {
  const statusOf = (localPort: number) => {
    const writeHead = vi.fn();
    const asked = { method: "GET", url: "/folder/", headers: { host: "127.0.0.1" }, socket: { localPort } };
    server.emit("request", asked, { writeHead, end: () => {} });
    return writeHead.mock.calls[0]?.[0];
  };
  expect([statusOf(80), statusOf(8080)]).toEqual([200, 421]);
});

test("nothing can be written", async () => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    expect(await ask("/folder/", method)).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  expect(await ask("/folder/", "HEAD")).toMatchObject({ status: 200, body: "", headers: { "content-length": "6" } });
});

test("a page that has not changed is not sent again", async () => {
  expect(await ask("/folder/", "GET", { "If-None-Match": '"1"' })).toMatchObject({ status: 304, body: "" });
  shown = { ...shown, html: "<p>two", etag: '"2"' };
  expect(await ask("/folder/", "GET", { "If-None-Match": '"1"' })).toMatchObject({
    ...{ status: 200, body: "<p>two", headers: { etag: '"2"' } },
  });
});

test("the browser is told to run nothing else, to tell nobody the address and to show it in no frame", async () => {
  const { headers } = await ask("/folder/");
  expect(headers).toMatchObject({
    ...{ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store" },
    "content-security-policy": expect.stringMatching(/^default-src 'none'.*frame-ancestors 'none'$/),
  });
});

test("a port that is taken is told", async () => {
  await expect(
    listen(
      serverOf(() => shown, "x"),
      port,
    ),
  ).rejects.toThrow(`port ${port} of 127.0.0.1 is taken`);
});
