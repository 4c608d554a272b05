import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { charts } from "../../../product.ts";
import { differences } from "../../../toolchain/differences.ts";
import { goGroups } from "../../../toolchain/go.ts";
import { chartVersions, imageReferences } from "../../../toolchain/index.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");

/** The differences as a table in Markdown: as local/README.md has it. */
function differencesTable(): string {
  const rows = differences().map(
    ({ part, production, local, why }) => `| ${part} | ${production} | ${local} | ${why} |`,
  );
  return ["| Part | Production | Here | Why |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

/** What the programs leave out of what upstream compiles in, as a table in Markdown: as local/README.md has it. */
function leftOutTable(): string {
  const rows = goGroups.flatMap(({ name, patches }) =>
    patches.map(
      ({ file, module, says }) =>
        `| \`${module}\` | ${says.replaceAll("\n", " ")} | [${basename(file)}](toolchain/go/${name}/patches/${basename(file)}) |`,
    ),
  );
  return ["| Module | What is left out | Patch |", "| --- | --- | --- |", ...rows].join("\n");
}

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
