import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { charts } from "../../../product.ts";
import { differences, differencesTable, leftOutTable } from "../../../toolchain/differences.ts";
import { chartVersions, imageReferences } from "../../../toolchain/index.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");

describe("what the local stack runs in another version than production", () => {
  test("is in its README as the code has it", () => {
    expect(readFileSync(join(root, "local", "README.md"), "utf8")).toContain(`\n${differencesTable()}\n`);
  });

  test("is named for External Secrets, whose chart has production's number around the program that runs", () => {
    const found = differences().find(({ part }) => part === "External Secrets");
    expect(found?.production).toBe(charts.externalSecrets.version);
    expect(chartVersions["external-secrets"]).toBe(found?.production);
    expect(imageReferences.externalSecrets.endsWith(`:v${found?.local}`)).toBe(true);
  });

  test("is not named for what is the same in both", () => {
    expect(differences().map(({ part }) => part)).not.toContain("Crossplane");
    for (const { production, local, why } of differences()) {
      expect(production).not.toBe(local);
      expect(why).not.toBe("");
    }
  });
});

test("what the programs leave out of upstream's is in the README as the patches have it", () => {
  expect(readFileSync(join(root, "local", "README.md"), "utf8")).toContain(`\n${leftOutTable()}\n`);
});
