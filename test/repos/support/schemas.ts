import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { parse } from "yaml";
import { closed } from "../../../lib/openapi.ts";
import { goGroups } from "../../../local/toolchain/go.ts";
import { schemaFolder } from "../../functions/spoke/support/schemas.ts";
import type { Manifest } from "./kustomize.ts";

/** The CustomResourceDefinitions of what the repositories install, from the modules that the toolchain is built of. */

const modules = {
  "github.com/fluxcd/kustomize-controller": "config/crd/bases",
  "github.com/fluxcd/helm-controller": "config/crd/bases",
  "github.com/fluxcd/source-controller": "config/crd/bases",
  "github.com/external-secrets/external-secrets": "config/crds/bases",
  "github.com/bitnami-labs/sealed-secrets": "helm/sealed-secrets/crds",
  "github.com/crossplane/crossplane/v2": "cluster/crds",
} as const;

/** The go.mod replaces upstream's new name, under which the proxy has no version, by the old one. */
const required: Readonly<Record<string, string>> = {
  "github.com/bitnami-labs/sealed-secrets": "github.com/bitnami/sealed-secrets",
};

const cache = process.env["GOMODCACHE"] ?? join(process.env["GOPATH"] ?? join(homedir(), "go"), "pkg", "mod");

const folders: readonly (string | undefined)[] = [
  ...Object.entries(modules).map(([path, crds]) => {
    const version = goGroups.map(({ mod }) => mod.versions.get(required[path] ?? path)).find(Boolean);
    return join(cache, `${path}@${version}`, crds);
  }),
  schemaFolder,
];

/** Whether this machine has them all: the toolchain was built here, and the provider's schemas are there. */
export const haveSchemas = folders.every((folder) => folder !== undefined && existsSync(folder));

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
const validators = new Map<string, ValidateFunction | undefined>();

/** Definitions are in files called `<group>_<plural>.yaml`; parsing them all would take seconds. */
function validatorOf(apiVersion: string, kind: string): ValidateFunction | undefined {
  const [group, version] = apiVersion.split("/");
  const prefix = `${group}_${kind.toLowerCase().slice(0, -1)}`;
  for (const folder of folders as string[]) {
    for (const file of readdirSync(folder).filter((name) => name.startsWith(prefix))) {
      const { spec } = parse(readFileSync(join(folder, file), "utf8"));
      const found = spec.versions.find(
        (each: { name: string; served: boolean }) => each.name === version && each.served,
      );
      if (spec.names.kind !== kind || !found) continue;
      const { metadata: _, ...properties } = found.schema.openAPIV3Schema.properties;
      return ajv.compile(closed({ ...found.schema.openAPIV3Schema, properties }));
    }
  }
  return undefined;
}

/** What the kind's definition has against a manifest; undefined when the kind is none of theirs. */
export function violations({ metadata: _, ...manifest }: Manifest): string[] | undefined {
  const { apiVersion, kind } = manifest;
  const key = `${apiVersion} ${kind}`;
  if (!validators.has(key)) validators.set(key, validatorOf(apiVersion, kind));
  const validate = validators.get(key);
  if (!validate) return undefined;
  if (validate(manifest)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
