import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { serveChart } from "../../../gateway/charts.ts";
import { scratch } from "../../support/scratch.ts";
import { serving } from "../../support/serving.ts";

const folder = scratch("fleet-charts-");
writeFileSync(join(folder, "index.yaml"), "entries: {}\n");
writeFileSync(join(folder, "flux2-2.19.0+1.tgz"), "archive");
writeFileSync(join(folder, "secret"), "no");
let origin: string;
beforeAll(async () => {
  origin = await serving(({ url = "" }, _body, response) => serveChart(folder, url, response));
});

/** The raw path goes over the wire as it is: fetch would tidy it first. */
const get = (path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port: new URL(origin).port, path }, (response) => {
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
