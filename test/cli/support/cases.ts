import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach } from "vitest";
import { certificate, newCase } from "./fleet.ts";

/** A new checkout of a repository and a fleet to seal for, for each test of a file: `at`. `dev` is the certificate of its only scope. */
export async function inNewCases(prefix: string, repository: string) {
  const base = mkdtempSync(join(tmpdir(), prefix));
  const dev = await certificate();
  const at = {} as ReturnType<typeof newCase>;
  beforeEach(() => void Object.assign(at, newCase(base, repository, { dev })));
  afterAll(() => rmSync(base, { recursive: true }));
  return { at, base, dev };
}
