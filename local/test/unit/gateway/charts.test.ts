import { writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveChart } from "../../../gateway/charts.ts";
import { scratch } from "../../support/scratch.ts";

const folder = scratch("fleet-charts-");
writeFileSync(join(folder, "index.yaml"), "entries: {}\n");
writeFileSync(join(folder, "flux2-2.19.0+1.tgz"), "archive");
writeFileSync(join(folder, "secret"), "no");
const server = createServer((message, response) => void serveChart(folder, message.url ?? "", response));
beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
afterAll(() => {
  server.close();
});

/** The raw path goes over the wire as it is: fetch would tidy it first. */
const get = (path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    request({ host: "127.0.0.1", port, path }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on("end", () => resolve(`${response.statusCode ?? 0} ${text}`));
    })
      .on("error", reject)
      .end();
  });

test("the chart repository serves its index and archives", async () => {
  expect(await get("/index.yaml")).toBe("200 entries: {}\n");
  expect(await get("/flux2-2.19.0%2B1.tgz")).toBe("200 archive");
});

test.each(["/secret", "/../index.yaml", "/..%2f..%2fetc%2fpasswd", "/a/index.yaml", "/none.tgz", "/", "/%"])(
  "and nothing at %s",
  async (path) => {
    expect(await get(path)).toMatch(/^404 /);
  },
);
