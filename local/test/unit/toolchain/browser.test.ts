import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { ensureBrowser } from "../../../toolchain/browser.ts";
import { scratch } from "../../support/scratch.ts";

afterEach(() => vi.unstubAllEnvs());

test("a machine's own Chromium is used as it is, and nothing is downloaded", async () => {
  const folder = scratch("fleet-browser-");
  const program = join(folder, "chromium");
  writeFileSync(program, "", { mode: 0o755 });
  vi.stubEnv("PATH", folder);
  vi.stubEnv("FLEET_CACHE_DIR", join(folder, "none"));
  expect(await ensureBrowser(() => {})).toEqual({ program, env: {} });
});
