import * as amp from "@aws-sdk/client-amp";
import * as eks from "@aws-sdk/client-eks";
import * as grafana from "@aws-sdk/client-grafana";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { OPERATIONS as APS_OPERATIONS } from "../../../../gateway/aps/router.ts";
import type { Operation } from "../../../../gateway/aws/operation.ts";
import { type StructureSchema, schemaOf } from "../../../../gateway/aws/request.ts";
import { OPERATIONS as EKS_OPERATIONS } from "../../../../gateway/eks/router.ts";
import { OPERATIONS as GRAFANA_OPERATIONS } from "../../../../gateway/grafana/service.ts";

/** Smithy's numbers of simple types, with the kinds of JSON schema; a type with traits is a list that begins with it. */
const simple: Readonly<Record<number, object>> = {
  0: { type: "string" },
  1: { type: "integer" },
  2: { type: "boolean" },
  // Bytes are base64.
  21: { type: "string" },
  64: { type: "array", items: { type: "string" } },
  128: { type: "object", additionalProperties: { type: "string" } },
};

interface Shape {
  readonly type?: string;
  readonly properties?: Record<string, Shape>;
  readonly items?: Shape;
  readonly additionalProperties?: Shape | boolean;
  readonly required?: string[];
}

/** Whether a member that the gateway takes is of the type that the SDK's model has for it; its path where it isn't. */
function differences(shape: Shape, schema: unknown, path: string): string[] {
  const resolved = typeof schema === "function" ? schema() : schema;
  if (typeof resolved === "number") {
    const { type, items, additionalProperties } = simple[resolved] as Shape;
    const same =
      shape.type === type &&
      (items === undefined || shape.items?.type === "string") &&
      (additionalProperties === undefined || (shape.additionalProperties as Shape | undefined)?.type === "string");
    return same ? [] : [`${path}: ${JSON.stringify(shape)} is not ${JSON.stringify(simple[resolved])}`];
  }
  const [kind] = resolved as [number];
  if (kind === 1 && typeof resolved[1] === "string")
    return shape.type === "array" ? differences(shape.items ?? {}, resolved[4], `${path}[]`) : [`${path}: is a list`];
  return kind === 3 ? ofStructure(shape, resolved, path) : differences(shape, kind, path);
}

function ofStructure(shape: Shape, [, , , , members, types, required = 0]: StructureSchema, path: string): string[] {
  const optional = members.slice(0, required).filter((member) => !shape.required?.includes(member));
  const own = Object.entries(shape.properties ?? {}).flatMap(([member, inner]) => {
    const at = members.indexOf(member);
    return at < 0 ? [`${path}.${member}: AWS has none`] : differences(inner, types[at], `${path}.${member}`);
  });
  return [...own, ...optional.map((member) => `${path}.${member}: is required by AWS`)];
}

const apis = [
  { api: "EKS", sdk: eks, operations: EKS_OPERATIONS as readonly Operation<never>[] },
  { api: "Managed Prometheus", sdk: amp, operations: APS_OPERATIONS as readonly Operation<never>[] },
  { api: "Managed Grafana", sdk: grafana, operations: GRAFANA_OPERATIONS as readonly Operation<never>[] },
];

describe.each(apis)("the API of $api", ({ sdk, operations }) => {
  test.each(operations.map((operation) => [operation.name, operation] as const))(
    "%s takes members that AWS has, of its types, and requires those that it requires",
    (name, { request }) => {
      const shape = z.toJSONSchema(request, { io: "input", unrepresentable: "any" }) as Shape;
      expect(differences(shape, schemaOf(sdk, name)[4], name)).toEqual([]);
    },
  );

  test("serves every operation once", () => {
    const routes = operations.map(({ name }) => {
      const [method, path] = schemaOf(sdk, name)[3].http;
      return `${method} ${path.replaceAll(/\{[^}]+\}/g, "{}")}`;
    });
    expect(new Set(routes).size).toBe(routes.length);
  });
});
