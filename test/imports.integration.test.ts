import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { imports } from "./support/imports.ts";

const root = join(import.meta.dirname, "..");
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter((file) => existsSync(join(root, file)));

/** Groups of files that import each other, directly or not (Tarjan). */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): number => {
    order.set(file, order.size);
    lowest.set(file, order.get(file) as number);
    stack.push(file);
    for (const other of graph.get(file) ?? []) {
      if (!order.has(other)) lowest.set(file, Math.min(lowest.get(file) as number, visit(other)));
      else if (stack.includes(other))
        lowest.set(file, Math.min(lowest.get(file) as number, order.get(other) as number));
    }
    if (lowest.get(file) === order.get(file)) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1 || graph.get(file)?.includes(file)) found.push(group.sort());
    }
    return lowest.get(file) as number;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found;
}

test("no file imports itself by way of others, not for types either", () => {
  expect(circles(new Map(files.map((file) => [file, imports(file)])))).toEqual([]);
});

test("a circle is found, and a file that others lead to is not one", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", ["a"]],
    ["d", []],
  ]);
  expect(circles(graph)).toEqual([["a", "b", "c"]]);
});
