import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { closed } from "../../../lib/openapi.ts";
import type { Manifest } from "./kustomize.ts";

/** Versions of Cluster API and of its AWS provider of which a hub gets the definitions (repos/gitops-system/platform/hub/cluster-api). */
const modules = { "sigs.k8s.io/cluster-api": "v1.12.0", "sigs.k8s.io/cluster-api-provider-aws/v2": "v2.11.1" } as const;

const goModules =
  process.env["GOMODCACHE"] ?? join(process.env["GOPATH"]?.split(":")[0] ?? join(homedir(), "go"), "pkg", "mod");
const folders = Object.entries(modules).map(([path, version]) =>
  join(goModules, `${path}@${version}`, "config", "crd", "bases"),
);

/** Whether the definitions are on this machine: in Go's module cache, where building the controllers puts them. */
export const hasDefinitions = folders.every((folder) => existsSync(folder));

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });

/** Validators by API version and kind, of definitions as upstream's sources have them. */
function validators(): ReadonlyMap<string, ReturnType<typeof ajv.compile>> {
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /_(clusters|machinepools|awsmanaged\w+)\.yaml$/.test(name))
      .map((name) => join(folder, name)),
  );
  const definitions = files.map((file) => parse(readFileSync(file, "utf8")).spec);
  return new Map(
    definitions.flatMap(({ group, names, versions }) =>
      versions.map(({ name, schema }: { name: string; schema: { openAPIV3Schema: { properties: object } } }) => {
        const { apiVersion, kind, spec } = schema.openAPIV3Schema.properties as Record<string, object>;
        const root = closed({ type: "object", properties: { apiVersion, kind, spec } as never });
        return [`${group}/${name} ${names.kind}`, ajv.compile(root)] as const;
      }),
    ),
  );
}

/** What the definitions have against these objects; an object that none of them knows is one of it. */
export function violations(objects: readonly Manifest[]): string[] {
  const known = validators();
  return objects.flatMap(({ metadata, ...object }) => {
    const validate = known.get(`${object.apiVersion} ${object.kind}`);
    if (validate === undefined) return [`${object.apiVersion} ${object.kind} is not defined`];
    if (validate(object)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${object.kind}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  });
}
