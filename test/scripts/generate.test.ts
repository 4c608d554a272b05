import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { generated } from "../../scripts/generate.ts";

describe("a generated file", () => {
  test.each(Object.entries(generated))("%s is what npm run generate writes", (path, make) => {
    const file = join(import.meta.dirname, "..", "..", path);
    const current = existsSync(file) ? readFileSync(file, "utf8") : "";
    expect(current, `${path} is stale: run npm run generate`).toBe(make(current));
  });
});
