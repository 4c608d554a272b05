import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "..", "..");

test("Pulumi's Node keeps what it compiles of the program in the checkout's own cache", () => {
  const { runtime } = parse(readFileSync(join(root, "Pulumi.yaml"), "utf8"));
  const flags = String(runtime.options.nodeargs).split(" ");
  const script = 'console.log(require("node:module").getCompileCacheDir())';
  const folder = execFileSync(process.execPath, [...flags, "--eval", script], { cwd: root, encoding: "utf8" }).trim();
  expect(folder.startsWith(join(root, "node_modules", ".cache", "compile"))).toBe(true);
});
