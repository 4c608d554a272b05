import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
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

test("the embedded cloud sees the product through local/product.ts alone", () => {
  const files = sources("local/**/*.{ts,mjs}").filter((file) => file !== "local/product.ts");
  expect(files.length).toBeGreaterThan(300);
  expect(importsWhere(files, (target) => isPath(target) && !target.startsWith("local/"))).toEqual([]);
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
