import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");

const sources = (...patterns: string[]) =>
  globSync(patterns, { cwd: root, exclude: (name) => name.split("/").includes("node_modules") });

/** What a file imports, dynamically too; relative paths from the root of the checkout. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"\n]+)"/g)].map(([, target = ""]) =>
    target.startsWith(".") ? normalize(join(dirname(file), target)) : target,
  );
}

const importsWhere = (files: readonly string[], holds: (target: string) => boolean) =>
  files.flatMap((file) => importsOf(file).flatMap((target) => (holds(target) ? [`${file} imports ${target}`] : [])));

/** A path in the checkout, not a package. */
const isPath = (target: string) => /\.(ts|mjs)$/.test(target) && !target.startsWith("@");

test("the embedded cloud imports the product through local/product.ts alone", () => {
  const files = sources("local/**/*.{ts,mjs}").filter((file) => file !== "local/product.ts");
  expect(files.length).toBeGreaterThan(300);
  expect(importsWhere(files, (target) => isPath(target) && !target.startsWith("local/"))).toEqual([]);
});

/** What is neither the product's nor of local/: packages, and the folder of the instance that a person uses. */
const others = ["local", "node_modules", ".local"];

/** Paths of the product that a file names: joined to the checkout or its own folder, or as text from the checkout's root. */
function productPathsIn(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const joined = [
    ...text.matchAll(/\b(?:join|resolve)\(\s*(CHECKOUT|import\.meta\.dirname)((?:\s*,\s*"[^"]*")+)/g),
  ].map(([, base, parts = ""]) =>
    join(
      base === "import.meta.dirname" ? join(root, dirname(file)) : root,
      ...[...parts.matchAll(/"([^"]*)"/g)].map(([, part = ""]) => part),
    ),
  );
  const literal = [...text.matchAll(/"([\w.-]+(?:\/[\w.-]+)+)"/g)]
    .map(([, path = ""]) => join(root, path))
    .filter((path) => existsSync(path));
  return [...joined, ...literal]
    .map((path) => relative(root, path))
    .filter((path) => path !== "" && !path.startsWith("..") && !others.includes(path.split("/")[0] ?? ""));
}

test("the embedded cloud names files of the product in local/product-paths.ts alone", () => {
  const files = sources("local/**/*.{ts,mjs}").filter((file) => !/^local\/(product(-paths)?\.ts|test\/)/.test(file));
  expect(files.length).toBeGreaterThan(200);
  expect(files.flatMap((file) => productPathsIn(file).map((path) => `${file} names ${path}`))).toEqual([]);
  // It finds them where they are allowed.
  expect(productPathsIn("local/product-paths.ts")).toEqual(expect.arrayContaining(["policies", "functions/spoke"]));
});

test("the product imports nothing of the embedded cloud", () => {
  const files = sources("{infra,components,lib,functions,policies,cli,scripts}/**/*.{ts,mjs}");
  expect(files.length).toBeGreaterThan(150);
  const isLocal = (target: string) => target.startsWith("local/") || target.startsWith("@eks-gitops-fleet/local");
  expect(importsWhere(files, isLocal)).toEqual([]);
});

test("tests and benchmarks of the product import the embedded cloud by what its package exports", () => {
  const files = sources("{test,bench}/**/*.{ts,mjs}");
  expect(files.length).toBeGreaterThan(200);
  expect(importsWhere(files, (target) => target.startsWith("local/"))).toEqual([]);
});
