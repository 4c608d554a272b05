import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { policies } from "../../policies/all.ts";
import { examples } from "./examples/index.ts";
import { evaluate, type Policy } from "./support/evaluate.ts";

const root = path.join(import.meta.dirname, "..", "..");

/** Examples in which the policies say something else than they should. */
function broken(pack: readonly Policy[]): string[] {
  const ids = pack.map(({ name }) => name);
  const own = examples.filter(({ policy }) => ids.includes(policy));
  return own.flatMap(({ policy, promise, resources, config, violations }) => {
    const rule = pack.find(({ name }) => name === policy) as Policy;
    try {
      const verdict = evaluate(rule, resources, config);
      return JSON.stringify(verdict.violations) === JSON.stringify(violations) ? [] : [`${policy}: ${promise}`];
    } catch {
      return [`${policy}: ${promise}`];
    }
  });
}

/** A place in a source text and what a mutant has there. */
interface Mutation {
  readonly what: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Every finding left out, and every condition always and never met. */
function mutations(file: string, source: string): Mutation[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const visit = (node: ts.Node) => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (ts.isYieldExpression(node))
      found.push({ what: `line ${line} says nothing`, start: node.getStart(), end: node.getEnd(), text: "undefined" });
    if (ts.isIfStatement(node))
      for (const text of ["true", "false"])
        found.push({
          what: `line ${line} is ${text}`,
          start: node.expression.getStart(),
          end: node.expression.getEnd(),
          text,
        });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** Files with one subject each. */
const subjects = (await readdir(path.join(root, "policies"))).filter(
  (file) => file.endsWith(".ts") && !["all.ts", "index.ts"].includes(file),
);

let copy: string;
beforeAll(async () => {
  copy = await mkdtemp(path.join(tmpdir(), "policies-"));
  await cp(path.join(root, "policies"), path.join(copy, "policies"), { recursive: true });
  for (const folder of ["lib", "components", "node_modules"])
    await symlink(path.join(root, folder), path.join(copy, folder));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

test("the policies as they are break no example", () => expect(broken(policies)).toEqual([]));

test.each(policies.map(({ name }) => name))("without %s an example breaks", (id) => {
  const silent = policies.map((policy) =>
    policy.name !== id
      ? policy
      : "validateStack" in policy
        ? { ...policy, validateStack: () => {} }
        : { ...policy, validateResource: () => {} },
  );
  expect(broken(silent).length).toBeGreaterThan(0);
});

describe.each(subjects)("policies/%s", (file) => {
  test("with any finding left out, or any condition always or never met, an example breaks", async () => {
    const source = await readFile(path.join(root, "policies", file), "utf8");
    const survivors: string[] = [];
    const unchanged = { what: "control", start: 0, end: 0, text: "" };
    for (const [index, { what, start, end, text }] of [unchanged, ...mutations(file, source)].entries()) {
      const mutant = path.join(copy, "policies", `mutant-${index}-${file}`);
      await writeFile(mutant, source.slice(0, start) + text + source.slice(end));
      const module = (await import(/* @vite-ignore */ mutant)) as Record<string, Policy[]>;
      if (broken(Object.values(module).flat()).length === 0) survivors.push(what);
    }
    expect(survivors).toEqual([unchanged.what]);
  });
});
