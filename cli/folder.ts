import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type Document, isSeq, parse, parseDocument } from "yaml";
import { fillTemplate } from "../lib/template.ts";
import { UsageError } from "./usage.ts";

/** Text of files by their path in a folder. */
export type Files = Readonly<Record<string, string>>;

/** The files of a folder and its subfolders. */
export async function readFiles(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path, "utf8")] as const)),
  );
}

/**
 * The files of a template in a checkout, with their placeholders filled in.
 * @throws UsageError when the folder is not a checkout with this template.
 */
export async function instantiate(
  checkout: string,
  template: string,
  values: Readonly<Record<string, string>>,
): Promise<Files> {
  const files = Object.entries(await readFiles(join(checkout, template)));
  return Object.fromEntries(files.map(([path, text]) => [path, fillTemplate(text, values)]));
}

/** Files of a folder by their path in a folder above. */
export const below = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [join(folder, path), text]));

/** The text of a YAML file with one more item in a list, the last one without a position; comments stay. @throws UsageError when it is not YAML */
export function withItem(text: string, list: string, item: unknown, position?: number): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) throw new UsageError(`not YAML: ${document.errors[0]?.message}. Correct the file`);
  const items = document.get(list);
  if (isSeq(items)) items.items.splice(position ?? items.items.length, 0, document.createNode(item));
  else document.set(list, document.createNode([item]));
  return document.toString({ lineWidth: 0 });
}

/** The text of a file's documents; comments stay. Each but the first one begins with its own `---`. */
export const textOf = (documents: readonly Document[]): string =>
  documents.map((document) => document.toString({ lineWidth: 0 })).join("");

/** A kustomization with `name` in one of its lists, as it is where the name is there. */
export function withListed(kustomization: string, list: "resources" | "components", name: string): string {
  const names: unknown = parse(kustomization)?.[list];
  return Array.isArray(names) && names.includes(name) ? kustomization : withItem(kustomization, list, name);
}

/** @throws UsageError when `checkout` has no `template` and so is not a checkout of `repository`. */
export function requireCheckout(checkout: string, repository: string, template: string): void {
  if (existsSync(join(checkout, template))) return;
  throw new UsageError(
    `${checkout} is not a checkout of ${repository}: it has no folder ${template}. ` +
      `Run this in a clone of ${repository}, or name one with --repository DIR`,
  );
}

/** Writes a new folder, whole or not at all. Rejects if it exists. */
export async function writeFolder(folder: string, files: Files): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const partial = await mkdtemp(join(dirname(folder), ".new-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(partial, path)), { recursive: true });
      await writeFile(join(partial, path), text);
    }
    await rename(partial, folder); // fails if it was created meanwhile, because it is not empty
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}
