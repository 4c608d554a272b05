import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isSeq, parseDocument } from "yaml";
import { spokeFolder } from "../../lib/layout.ts";
import { clusterScopePrefix, hubSealingScope } from "../../lib/names.ts";
import { type Files, withListed } from "../folder.ts";
import { byGeneration } from "../sealing/generations.ts";
import { generationFile } from "../sealing/keys-folder.ts";
import { UsageError } from "../usage.ts";

/** The folder in gitops-system that brings a scope's keys to spokes: a file for each generation, and a kustomization. */

/** A file with its new text; without one it is removed. */
export interface Change {
  readonly path: string;
  readonly text?: string;
}

const list = "kustomization.yaml";

/** The folder of an environment's keys, from the top of gitops-system. */
export const environmentKeys = (environment: string): string => join("spoke-bootstrap", "sealing-keys", environment);

/** The folder, from the top of gitops-system; undefined for the hub, whose keys come from Pulumi. */
export function keysFolder(fleet: string, scope: string): string | undefined {
  if (scope === hubSealingScope) return undefined;
  return scope.startsWith(clusterScopePrefix)
    ? join(spokeFolder(fleet, scope.slice(clusterScopePrefix.length)), "sealing-keys")
    : environmentKeys(scope);
}

/** Generations that a folder brings, the oldest first. */
export function broughtBy(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => /^generation-(.+)\.yaml$/.exec(name)?.[1] ?? []).sort(byGeneration);
}

const read = (folder: string, file: string): string => readFileSync(join(folder, file), "utf8");

/** The files that bring one more generation, made from those of the newest one. @throws UsageError when that has another form */
export function brought(folder: string, generation: string): Change[] {
  const model = broughtBy(folder).at(-1);
  if (model === undefined || !existsSync(join(folder, list)))
    throw new UsageError(
      `${folder} has no ${list} and generation-….yaml of an older generation, from which the new one's are made`,
    );
  const document = parseDocument(read(folder, generationFile(model)));
  const replace = (path: readonly (string | number)[], separator: string): void => {
    const value: unknown = document.getIn(path);
    const end = `${separator}${model}`;
    if (typeof value !== "string" || !value.endsWith(end))
      throw new UsageError(
        `${join(folder, generationFile(model))}: ${path.join(".")} does not end in ${end}, so the file of generation ${generation} can't be made from it; make it by hand`,
      );
    document.setIn(path, `${value.slice(0, -end.length)}${separator}${generation}`);
  };
  replace(["metadata", "name"], "-");
  replace(["spec", "target", "name"], "-");
  replace(["spec", "dataFrom", 0, "extract", "key"], "/");
  return [
    { path: join(folder, generationFile(generation)), text: document.toString({ lineWidth: 0 }) },
    { path: join(folder, list), text: withListed(read(folder, list), "resources", generationFile(generation)) },
  ];
}

/** The text of the folder's kustomization without some generations. */
function listWithout(folder: string, generations: readonly string[]): string {
  const files = generations.map(generationFile);
  const document = parseDocument(read(folder, list));
  const resources = document.get("resources");
  if (isSeq(resources))
    resources.items = resources.items.filter((_, index) => !files.includes(String(resources.get(index))));
  return document.toString({ lineWidth: 0 });
}

/** The files without some generations. */
export const retired = (folder: string, generations: readonly string[]): Change[] => [
  ...generations.map((generation) => ({ path: join(folder, generationFile(generation)) })),
  { path: join(folder, list), text: listWithout(folder, generations) },
];

/**
 * What brings these generations of another scope's key, made from a folder: with its store, not with its generations. By name.
 * @throws UsageError when the folder has another form
 */
export function broughtLike(folder: string, generations: readonly string[]): Files {
  const made = generations.map((generation) => [
    generationFile(generation),
    brought(folder, generation).find(({ path }) => path === join(folder, generationFile(generation)))?.text ?? "",
  ]);
  const bare = listWithout(folder, broughtBy(folder));
  const listed = generations.reduce((text, each) => withListed(text, "resources", generationFile(each)), bare);
  return { ...Object.fromEntries(made), [list]: listed };
}
