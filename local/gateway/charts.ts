import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { decoded } from "./aws/http.ts";

/** Name of the chart repository inside clusters. */
export const CHARTS_HOST = "charts.fleet.internal";

const TYPES: Readonly<Record<string, string>> = { yaml: "text/yaml", tgz: "application/gzip", prov: "text/plain" };

/** Serves one file of a static Helm repository: index.yaml and archives, all in one folder. */
export async function serveChart(folder: string, path: string, response: ServerResponse): Promise<void> {
  const name = (decoded(path) ?? "").replace(/^\/+/, "");
  const type = TYPES[name.split(".").at(-1) ?? ""];
  // One folder, plain names: nothing outside it can be asked for.
  const file = /^[A-Za-z0-9][A-Za-z0-9._+-]*$/.test(name) && type !== undefined ? join(folder, name) : undefined;
  const found = file === undefined ? undefined : await stat(file).catch(() => undefined);
  if (file === undefined || found?.isFile() !== true) {
    response
      .writeHead(404, { "content-type": "text/plain" })
      .end(`there is no chart file ${path}: index.yaml lists what there is\n`);
    return;
  }
  response.writeHead(200, { "content-type": type, "content-length": found.size });
  await pipeline(createReadStream(file), response);
}
