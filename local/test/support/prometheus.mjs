#!/usr/bin/env node
// Stands for Prometheus where only the way to it is tested: takes its flags, answers its paths, refuses rules that say so.
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";

const flag = (name) => process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? "";
const [host, port] = flag("web.listen-address").split(":");
const rules = join(dirname(flag("config.file")), "rules");

createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    const refused = readdirSync(rules).find((file) => readFileSync(join(rules, file), "utf8").includes("not promql"));
    if (request.url === "/-/reload" && refused !== undefined)
      return response.writeHead(500).end(`could not parse ${refused}`);
    response.writeHead(request.url === "/api/v1/write" ? 204 : 200, { "content-type": "application/json" });
    response.end(
      request.url === "/api/v1/write" ? undefined : JSON.stringify({ status: "success", asked: request.url }),
    );
  });
}).listen(Number(port), host);
