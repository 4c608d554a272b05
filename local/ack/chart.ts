/** The charts of the stand-in, in the place of upstream's of the same name and version. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Service, served } from "./definitions.ts";

const folder = join(import.meta.dirname, "chart");

const header = (service: Service) =>
  `# Part of a stand-in for ACK's ${service}-chart, for the local stack only: not upstream's chart.\n`;

/** The files of a controller's chart, by their paths in it. */
export function chartFiles(service: Service, version: string): Record<string, string> {
  const { group, names } = served[service].spec;
  const values: Readonly<Record<string, string>> = { service, version, group, kind: names.kind, plural: names.plural };
  const filled = (text: string): string => text.replaceAll(/__(\w+?)__/g, (all, name: string) => values[name] ?? all);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const own = files.map(({ parentPath, name }): [string, string] => {
    const path = join(parentPath, name);
    const text = filled(readFileSync(path, "utf8"));
    // JSON has no comments: the schema says it in its title.
    return [path.slice(folder.length + 1), name.endsWith(".json") ? text : header(service) + text];
  });
  const chart = {
    apiVersion: "v2",
    name: `${service}-chart`,
    description: `Stand-in for ACK's controller for ${service}, for the local stack only`,
    type: "application",
    version,
    appVersion: version,
  };
  return {
    ...Object.fromEntries(own),
    "Chart.yaml": header(service) + stringify(chart),
    [`crds/${served[service].metadata.name}.yaml`]:
      header(service) + stringify(served[service], { aliasDuplicateObjects: false }),
  };
}
