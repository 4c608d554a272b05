import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { validate as tryRules } from "../../../cli/check/cel/validations.ts";
import { kubernetesVersions } from "../../../components/versions.ts";
import { anyEksAddons } from "../../../functions/spoke/api.ts";
import { closed, type Schema, withDefaults } from "../../../lib/openapi.ts";
import { spokeApi } from "../../../lib/spoke.ts";
import { composition, compositionInput, definition, spokeSchema } from "./support/definition.ts";
import { exampleNames, settings, written } from "./support/fixtures.ts";
import { ruleCases, spokeWith } from "./support/rule-cases.ts";

const spec: Schema = spokeSchema.properties?.["spec"] ?? {};

/** Every property below `schema`, with its path. */
function properties(schema: Schema, path = ""): [string, Schema][] {
  const inner = Object.entries(schema.properties ?? {}).map(([name, each]): [string, Schema] => [
    `${path}.${name}`,
    each,
  ]);
  return [...inner, ...inner.flatMap(([name, each]) => properties(each.items ?? each, name))];
}

/** The schema with every object left as it is written. */
const withoutDefaults = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema, (key, value) => (key === "default" ? undefined : value)));

describe("the definition of a Spoke", () => {
  // "is invalid: …default: Invalid value": the API server tries them before it fills in the defaults of the fields.
  it("has rules that hold on the defaults of objects as they are written", () => {
    const defaults = properties(spec).filter(
      ([, { type, default: value }]) => type === "object" && value !== undefined,
    );
    expect(defaults.length).toBeGreaterThan(0);
    for (const [path, schema] of defaults)
      expect(tryRules(withoutDefaults(schema), schema.default, schema.default), path).toEqual({
        broken: [],
        unknown: [],
      });
  });

  it("is the API that the program and the function speak", () => {
    const { group, names, scope, versions } = definition.spec;
    expect(definition.apiVersion).toBe("apiextensions.crossplane.io/v2");
    expect({ apiVersion: `${group}/${versions[0].name}`, kind: names.kind, plural: names.plural }).toEqual({
      apiVersion: spokeApi.apiVersion,
      kind: spokeApi.kind,
      plural: spokeApi.plural,
    });
    expect(scope).toBe("Namespaced");
  });

  it("describes every field and bounds every text and list of the specification", () => {
    for (const [path, schema] of properties(spokeSchema)) {
      if (path === ".spec" || path === ".status" || !path.includes(".")) continue;
      expect(schema.description ?? "", path).toMatch(/\.$/);
    }
    for (const [path, schema] of properties(spec)) {
      const bounded = schema.type !== "string" || schema["maxLength"] !== undefined || schema["enum"] !== undefined;
      expect(bounded && (schema.type !== "array" || schema["maxItems"] !== undefined), path).toBe(true);
    }
  });

  it("has no message whose size the API server can't estimate, for which it would refuse the definition", () => {
    const messages = [...JSON.stringify(definition).matchAll(/"messageExpression":"((?:[^"\\]|\\.)*)"/g)].map(
      ([, text]) => text,
    );
    expect(messages.length).toBeGreaterThan(10);
    // The size of what these give is unknown to CEL's estimate of costs (cel-go, checker/cost.go).
    expect(messages.filter((text = "") => /\bstring\(|\.(map|filter)\(/.test(text))).toEqual([]);
  });

  it("fills in what a Spoke leaves out", () => {
    expect(withDefaults(spec, written("minimal")["spec"])).toEqual({
      region: "us-east-1",
      kubernetesVersion: "1.35",
      sealing: "environment",
      environment: "dev",
      tenant: "platform",
      network: { zones: 2, natGateways: "single" },
      compute: "node-groups",
      nodes: {
        instanceTypes: ["m6i.large"],
        amiType: "AL2023_x86_64_STANDARD",
        capacityType: "ON_DEMAND",
        diskSize: 50,
        min: 2,
        desired: 2,
        max: 4,
      },
      endpoint: { public: true, publicAccessCidrs: [], privateAccessCidrs: [] },
      admins: [],
      teams: [],
      addons: [],
      eksAddonVersions: {},
      logTypes: ["audit", "authenticator"],
      logRetentionDays: 90,
      kmsDeletionWindowDays: 30,
      sessionManager: false,
      deletionProtection: false,
      deletionPolicy: "Delete",
    });
  });

  it("knows the same EKS add-ons as the function", () => {
    expect(Object.keys(spec.properties?.["eksAddonVersions"]?.properties ?? {}).sort()).toEqual(
      [...anyEksAddons].sort(),
    );
  });

  const withMachinery: Schema = { ...spec, properties: { ...spec.properties, crossplane: { type: "object" } } };
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(closed(withMachinery));

  it.each(exampleNames)("takes the example %s, in which every field is known", (name) => {
    expect(validate(written(name)["spec"]), JSON.stringify(validate.errors)).toBe(true);
  });

  it("has cases for its rules, of which the schema alone judges the shape; the rest needs an API server", () => {
    const names = ruleCases.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, change, refused } of ruleCases) {
      const shape = validate(spokeWith(change)["spec"]);
      if (refused === undefined) expect(shape, name).toBe(true);
    }
  });
});

describe("the Composition", () => {
  it("makes Spokes with the function, and its input is one that the function takes", () => {
    expect(composition.spec.compositeTypeRef).toEqual({ apiVersion: spokeApi.apiVersion, kind: spokeApi.kind });
    expect(composition.metadata.name).toBe(definition.spec.defaultCompositionRef.name);
    expect(settings().kubeConfig).toBe("configMap");
  });

  it("supports the Kubernetes versions that the hub does", () => {
    expect(Object.keys(settings().kubernetesVersions)).toEqual([...kubernetesVersions]);
  });

  it("is refused by the function when it has a mistake, with every mistake named", () => {
    expect(() => settings({ kubeConfig: "token" })).toThrow("kubeConfig: Invalid option");
    expect(() => settings({ kubernetesVersions: { "1.35": { cilium: "v1" } }, unknown: 1 })).toThrow(
      /the Composition's input for function-spoke is wrong: .*cilium.*; .*unknown/,
    );
    expect(compositionInput()).not.toHaveProperty("unknown");
  });
});
