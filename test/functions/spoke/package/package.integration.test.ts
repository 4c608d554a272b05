import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { functionPackage } from "../../../../functions/spoke/package/function.ts";
import { imageArchitecture } from "../../../../functions/spoke/package/layer.ts";
import { libraries } from "../../../../functions/spoke/package/libraries.ts";
import { ARCHITECTURES } from "../../../../functions/spoke/package/runtime.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");

test("Git installs the function in the version of its package", () => {
  const file = join(root, "repos", "gitops-system", "platform", "crossplane", "packages", "function.yaml");
  const [written] = parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS());
  expect(written.spec.package).toBe(`$\{function_package}:${functionPackage.version}$\{function_digest:=}`);
});

test("the package is made for Intel's processors and for Graviton", () =>
  expect(ARCHITECTURES).toEqual(["amd64", "arm64"]));

test("its images have a Node with all the libraries that the dynamic linker would load, and none but these", () => {
  const ldd = spawnSync("ldd", [process.execPath], { encoding: "utf8" }).stdout;
  const loaded = [...ldd.matchAll(/(?:=> |^\t)(\/\S+) \(0x/gm)].map(([, path]) => realpathSync(path as string));
  const found = libraries(process.execPath, "/", imageArchitecture());
  expect(loaded.length).toBeGreaterThan(1);
  expect(Object.values(found).sort()).toEqual(loaded.sort());
});

test("it doesn't take a program of another processor, or one whose libraries are not there", () => {
  const other = imageArchitecture() === "amd64" ? "arm64" : "amd64";
  expect(() => libraries(process.execPath, "/", other)).toThrow(`is for the processor ${imageArchitecture()}, not`);
  const empty = mkdtempSync(join(tmpdir(), "root-"));
  expect(() => libraries(process.execPath, empty, imageArchitecture())).toThrow(
    /needs the library ld-linux\S+, which is not in/,
  );
  rmdirSync(empty);
  expect(() => libraries(join(root, "package.json"), "/", "amd64")).toThrow("is no 64-bit little-endian ELF file");
});
