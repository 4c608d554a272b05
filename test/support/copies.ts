import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Copies a directory with Git repositories, which `make` creates once in a process: it starts about ten programs. Paths of the directory
 * in the configuration of the repositories become paths of the copy.
 */
export function copies<A extends readonly unknown[]>(
  make: (folder: string, ...args: A) => void,
): (to: string, ...args: A) => void {
  const known = new Map<string, string>();
  return (to, ...args) => {
    const key = JSON.stringify(args);
    const template = known.get(key) ?? mkdtempSync(join(tmpdir(), "fleet-template-"));
    if (!known.has(key)) make(template, ...args);
    known.set(key, template);
    cpSync(template, to, { recursive: true });
    for (const path of readdirSync(to, { recursive: true, encoding: "utf8" }))
      if (path.endsWith(".git/config")) {
        const file = join(to, path);
        writeFileSync(file, readFileSync(file, "utf8").replaceAll(template, to));
      }
  };
}
