import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { stackOutputs } from "../../../cli/fleet/outputs.ts";

/** A folder with a program in the place of pulumi that says where and how it was called. */
const bin = mkdtempSync(join(tmpdir(), "fleet-outputs-"));
writeFileSync(join(bin, "pulumi"), '#!/bin/sh\necho "{\\"folder\\": \\"$PWD\\", \\"args\\": \\"$*\\"}"\n', {
  mode: 0o755,
});
vi.stubEnv("PATH", [bin, process.env["PATH"]].join(delimiter));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(bin, { recursive: true });
});

const root = join(import.meta.dirname, "..", "..", "..");

test("Pulumi is asked in the project's folder, where it knows a stack by its short name", async () => {
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(bin);
  expect(await stackOutputs({ stack: "dev" })).toEqual({ folder: root, args: "stack output --json --stack dev" });
  expect(await stackOutputs({ stack: undefined })).toEqual({ folder: root, args: "stack output --json" });
  cwd.mockRestore();
});

test("a stack that is named in full is asked for in the current folder: it needs no project", async () => {
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(bin);
  const stack = "organization/eks-gitops-fleet/dev";
  expect(await stackOutputs({ stack, output: "bridgeData" })).toEqual({
    folder: bin,
    args: `stack output --json bridgeData --stack ${stack}`,
  });
  cwd.mockRestore();
});
