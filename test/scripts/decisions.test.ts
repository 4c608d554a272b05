import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decisionIndex } from "../../scripts/documents/decisions.ts";

const page = "# Decisions\n<!-- generated: decisions -->\n<!-- end: decisions -->\n";
const folder = (files: Record<string, string>): string => {
  const path = mkdtempSync(join(tmpdir(), "decisions-"));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
};

test("the index has the titles of the decisions by number", () => {
  const index = decisionIndex(folder({ "0002-b.md": "# B\n", "0001-a.md": "# A\n", "README.md": page }), page);
  expect(index).toContain("\n- 0001: [A](0001-a.md)\n- 0002: [B](0002-b.md)\n");
});

test("two decisions with one number, a gap, and a file without a title are rejected by name", () => {
  expect(() => decisionIndex(folder({ "0001-a.md": "# A\n", "0001-b.md": "# B\n" }), page)).toThrow("0001-b.md has");
  expect(() => decisionIndex(folder({ "0002-b.md": "# B\n" }), page)).toThrow("0002-b.md has the number 0002, 1 is");
  expect(() => decisionIndex(folder({ "0001-a.md": "A\n" }), page)).toThrow('0001-a.md begins with "A"');
});
