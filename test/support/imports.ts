import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** The files of the checkout that a file imports, also for types alone: knip leaves those out. */
export const imports = (file: string): string[] =>
  [
    ...readFileSync(join(root, file), "utf8").matchAll(/(?:^|\n)(?:import|export)\b[^;"]*?from "(\.{1,2}\/[^"]+)"/g),
  ].map(([, path = ""]) => join(dirname(file), path));

/** These files and all that they import, directly or not. */
export function readBy(...files: readonly string[]): string[] {
  const found = new Set(files);
  // A set goes on with what is added to it meanwhile.
  for (const file of found) for (const other of imports(file)) found.add(other);
  return [...found];
}
