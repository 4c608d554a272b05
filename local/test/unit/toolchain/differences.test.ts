import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { charts, filled, markdownTable } from "../../../product.ts";
import { differences } from "../../../toolchain/differences.ts";
import { addonGroups, goGroups } from "../../../toolchain/go-groups.ts";
import { chartVersions, imageReferences } from "../../../toolchain/index.ts";

const readme = join(import.meta.dirname, "..", "..", "..", "README.md");

const differencesTable = (): string[] =>
  markdownTable(
    ["Part", "Production", "Here", "Why"],
    differences().map(({ part, production, local, why }) => [part, production, local, why]),
  );

/** What the programs leave out of what upstream compiles in. */
const leftOutTable = (): string[] =>
  markdownTable(
    ["Module", "What is left out", "Patch"],
    [...goGroups, ...addonGroups].flatMap(({ name, patches }) =>
      patches.map(({ file, module, says }) => [
        `\`${module}\``,
        says,
        `[${basename(file)}](toolchain/go/${name}/patches/${basename(file)})`,
      ]),
    ),
  );

test("the README has the versions that differ and what programs leave out as the code has them: npm run generate", async () => {
  const text = filled(readFileSync(readme, "utf8"), "differences", ["", ...differencesTable(), ""]);
  await expect(filled(text, "left-out", ["", ...leftOutTable(), ""])).toMatchFileSnapshot(readme);
});

describe("what the local stack runs in another version than production", () => {
  test("is named for External Secrets, whose chart has production's number around the program that runs", () => {
    const found = differences().find(({ part }) => part === "External Secrets");
    expect(found?.production).toBe(charts.externalSecrets.version);
    expect(chartVersions["external-secrets"]).toBe(found?.production);
    expect(imageReferences.externalSecrets.endsWith(`:v${found?.local}`)).toBe(true);
  });

  test("is not named for what is the same in both", () => {
    expect(differences().map(({ part }) => part)).not.toContain("Add-on kyverno");
    for (const { production, local, why } of differences()) {
      expect(production).not.toBe(local);
      expect(why).not.toBe("");
    }
  });
});
