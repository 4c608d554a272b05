import { relative } from "node:path";
import { Files, type Manifest, type Path, type Source } from "../../cli/render/files.ts";
import { type Change, mutationsOf } from "./manifests.ts";
import { root } from "./sandbox.ts";
import type { Mutant } from "./score.ts";

/** YAML files with the mutants of their objects. */

/** A copy with one value in another's place, or left out. */
export function changed(object: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  const copy = (Array.isArray(object) ? [...object] : { ...(object as object) }) as Record<string | number, unknown>;
  if (rest.length > 0) copy[key] = changed(copy[key], rest, value);
  else if (value !== undefined) copy[key] = value;
  else if (Array.isArray(copy)) copy.splice(key as number, 1);
  else delete copy[key];
  return copy;
}

export interface Mutated {
  readonly source: Source;
  readonly change: Change;
  readonly object: Manifest;
}

const files = new Files();

export const sourcesOf = (file: string): readonly Source[] => files.documents(file);

/** Every mutant of the objects in files. */
export const mutatedIn = (paths: readonly string[]): Mutated[] =>
  paths.flatMap((file) =>
    sourcesOf(file).flatMap((source) =>
      mutationsOf(source.content as Manifest).map((change) => ({
        source,
        change,
        object: changed(source.content, change.path, change.value) as Manifest,
      })),
    ),
  );

export function judged({ source, change }: Mutated, survived: boolean): Mutant {
  const { file, line } = source.near(change.path);
  return { file: relative(root, file), line, what: change.what, survived };
}
