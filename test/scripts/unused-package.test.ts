import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { computeCodePaths } from "@pulumi/pulumi/runtime/index.js";
import { describe, expect, it } from "vitest";
import { root } from "../support/process.ts";

const require = createRequire(import.meta.url);
const { overrides, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const names = Object.keys(overrides).filter((name) => devDependencies[name] === "file:scripts/unused-package");

describe("a package that is replaced because nothing uses it", () => {
  it.each(names)("%s is one for every dependency that names it, and none of it is in the lock file", (name) => {
    expect(overrides[name]).toBe(`$${name}`);
    const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
    expect(Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`))).toEqual([
      `node_modules/${name}`,
    ]);
    expect(packages[`node_modules/${name}`]).toEqual({ resolved: "scripts/unused-package", link: true });
  });

  it("reports that it is replaced, once something uses it", async () => {
    expect(() => require("@npmcli/arborist").Arborist).toThrow(
      /^Arborist is an export of a package that package\.json replaces/,
    );
    await expect(computeCodePaths()).rejects.toThrow(/package\.json replaces by scripts\/unused-package/);
  });
});
