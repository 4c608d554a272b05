import * as sdk from "@aws-sdk/client-eks";
import { describe, expect, test } from "vitest";
import { OPERATIONS } from "../../../../local/gateway/eks/router.ts";

/** The SDK's own schemas: of an operation `[…, name, { http: [method, path, status] }, …]`, of a request its member names at 4. */
const schemas = sdk as unknown as Record<
  string,
  [unknown, unknown, unknown, { http: [string, string, number] }, string[]]
>;
const anonymous = (path: string) => path.replaceAll(/\{[^}]+\}/g, "{}");

describe.each(OPERATIONS.map((operation) => [operation.name, operation] as const))("%s", (name, operation) => {
  test("has the method and path of the EKS API, and honours members that it has", () => {
    const [method, path] = schemas[`${name}$`]?.[3].http ?? [];
    expect([operation.method, anonymous(operation.path)]).toEqual([method, anonymous(path ?? "")]);
    const members = schemas[`${name}Request$`]?.[4] ?? [];
    expect((operation.accepts ?? []).filter((member) => !members.includes(member))).toEqual([]);
  });
});

test("no two operations answer the same request", () => {
  const routes = OPERATIONS.map(({ method, path }) => `${method} ${anonymous(path)}`);
  expect(new Set(routes).size).toBe(routes.length);
});
