import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { git } from "./process.ts";

/** A person's checkout of a repository. */
export interface Checkout {
  /** The folder. */
  readonly folder: string;
  /** Commits everything in the folder and pushes it, over what others have pushed meanwhile; gives the commit's hash. */
  push(message: string): Promise<string>;
  /** Removes files or folders; paths from the root of the repository. */
  remove(...paths: string[]): Promise<void>;
  /** Writes a YAML file with these documents, and the folders above it. */
  write(path: string, ...objects: readonly object[]): Promise<void>;
  /** Rewrites one YAML file with a single document. */
  edit(path: string, change: (object: Editable) => Editable): Promise<void>;
  /** Brings the content back to what it was when it was checked out and pushes that; the commit's hash, undefined when nothing differed. */
  restore(): Promise<string | undefined>;
}

// biome-ignore lint/suspicious/noExplicitAny: a YAML document of any shape
export type Editable = any;

/** A change of an object's spec. */
export const withSpec =
  (change: object) =>
  (object: Editable): Editable => ({ ...object, spec: { ...object.spec, ...change } });

/** More resources of a kustomization.yaml. */
export const withResources =
  (...more: readonly string[]) =>
  (kustomization: Editable): Editable => ({ ...kustomization, resources: [...kustomization.resources, ...more] });

/** Clones a repository, by its URL or path, into a new folder; Git's own configuration has the credentials. */
export async function checkoutOf(url: string, folder: string): Promise<Checkout> {
  await git(["clone", "--quiet", url, folder]);
  const commitOf = async (revision: string) => (await git(["rev-parse", revision], folder)).trim();
  const first = await commitOf("HEAD");
  const push = async (message: string) => {
    await git(["add", "--all"], folder);
    await git(["commit", "--quiet", "--message", message], folder);
    await git(["pull", "--quiet", "--rebase"], folder);
    await git(["push", "--quiet"], folder);
    return commitOf("HEAD");
  };
  return {
    folder,
    push,
    async restore() {
      await git(["read-tree", "--reset", "-u", first], folder);
      return (await commitOf("HEAD^{tree}")) === (await commitOf(`${first}^{tree}`))
        ? undefined
        : push("Restore what a test has changed");
    },
    async remove(...paths) {
      for (const path of paths) await rm(join(folder, path), { recursive: true });
    },
    async write(path, ...objects) {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, objects.map((object) => stringify(object)).join("---\n"));
    },
    async edit(path, change) {
      const file = join(folder, path);
      await writeFile(file, stringify(change(parse(await readFile(file, "utf8")))));
    },
  };
}
