import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compactJson } from "../../scripts/documents/json.ts";
import { generated } from "../../scripts/generate.ts";

describe("a generated file", () => {
  test.each(Object.entries(generated))("%s is what npm run generate writes", (path, make) => {
    const file = join(import.meta.dirname, "..", "..", path);
    const current = existsSync(file) ? readFileSync(file, "utf8") : "";
    expect(current, `${path} is stale: run npm run generate`).toBe(make(current));
  });
});

test("JSON for readers is the same value, with short lists and objects on one line", () => {
  const value = { a: [1, "b", { c: null }], long: Array.from({ length: 40 }, (_, index) => `item-${index}`), none: {} };
  const text = compactJson(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text.split("\n")[1]).toBe('  "a": [1, "b", { "c": null }],');
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(150);
});
