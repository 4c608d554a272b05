import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { ensureBrowser } from "../../../toolchain/browser.ts";

afterEach(() => vi.unstubAllEnvs());

test("a machine's own Chromium is used as it is, and nothing is downloaded", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fleet-browser-"));
  const program = join(folder, "chromium");
  writeFileSync(program, "", { mode: 0o755 });
  vi.stubEnv("PATH", folder);
  vi.stubEnv("FLEET_CACHE_DIR", join(folder, "none"));
  expect(await ensureBrowser(() => {})).toEqual({ program, env: {} });
});
