import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { parse } from "yaml";
import { managedKinds } from "../../../../functions/spoke/kinds.ts";
import type { KubeObject } from "../../../../functions/spoke/kube.ts";
import { closed } from "../../../../lib/openapi.ts";
import { upstreamCrds } from "../../../support/upstream-crds.ts";

/** The schemas of provider-upjet-aws, on a machine that has them. */
export const [schemaFolder] = upstreamCrds("provider-upjet-aws-v2.6.0");

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
/** Compiled when they are asked for: most versions are not. */
const validators = new Map<string, () => ValidateFunction>();

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

function load(): void {
  if (schemaFolder === undefined || validators.size > 0) return;
  for (const file of readdirSync(schemaFolder).filter((name) => name.endsWith(".yaml"))) {
    const { spec } = parse(readFileSync(join(schemaFolder, file), "utf8"));
    const kind = Object.entries(managedKinds).find(
      ([name, api]) => name === spec.names.kind && api.startsWith(`${spec.group}/`),
    );
    if (!kind) continue;
    for (const { name, schema } of spec.versions) {
      const { apiVersion, kind: kindName, spec: wanted } = schema.openAPIV3Schema.properties;
      // The same fields again, for the creation only: the function sets them on node groups and control planes.
      if (!["NodeGroup", "Cluster"].includes(spec.names.kind)) delete wanted.properties.initProvider;
      const root = closed({ type: "object", properties: { apiVersion, kind: kindName, spec: wanted } });
      const compiled = once(() => ajv.compile(root));
      validators.set(`${spec.group}/${name} ${spec.names.kind}`, compiled);
    }
  }
}

/** What the provider's schema has against a managed resource; nothing for kinds of others, or without its schema. */
export function violations({ metadata: _, ...manifest }: KubeObject): string[] {
  load();
  const validate = validators.get(`${manifest.apiVersion} ${manifest.kind}`)?.();
  if (!validate || validate(manifest)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

/** Managed kinds without a schema in the folder: nothing checks them. */
export function unknownToProvider(): string[] {
  load();
  return Object.entries(managedKinds)
    .filter(([kind, api]) => !validators.has(`${api} ${kind}`))
    .map(([kind]) => kind);
}
