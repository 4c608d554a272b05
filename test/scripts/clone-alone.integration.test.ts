import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { execute, root } from "../support/process.ts";

/** Tests that read upstream CRDs, which are next to the clone only where the project is developed. */
const readers = [
  "test/functions/spoke/resources.test.ts",
  "test/functions/spoke/made-elsewhere.test.ts",
  "test/repos/external-secrets.test.ts",
  "local/test/unit/crossplane/crds.test.ts",
];

test("tests that read upstream CRDs pass in a clone without any", async () => {
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const { code, stdout, stderr } = await execute(process.execPath, [vitest, "run", "--project=unit", ...readers], {
    env: { UPSTREAM_CRDS: join(root, "none") },
  });
  expect(code, stdout + stderr).toBe(0);
  expect(stripVTControlCharacters(stdout)).toMatch(/Test Files {2}4 passed/);
});
