import { groupOf, isManifest, type Manifest, type Path, type Source } from "./files.ts";
import type { Place } from "./findings.ts";
import type { Tree } from "./tree.ts";

/** Where what kustomize made was written: it keeps kinds and names, and every object of a build has its own. */

function isOf(source: Source, manifest: Manifest): boolean {
  const { content } = source;
  return (
    isManifest(content) &&
    content.kind === manifest.kind &&
    groupOf(content) === groupOf(manifest) &&
    content.metadata?.name === manifest.metadata.name
  );
}

const isPatchOf = (source: Source, manifest: Manifest): boolean =>
  isManifest(source.content) && source.content.kind === manifest.kind;

/** Finds the line of a value: in the object's own document, or in a patch that sets it. */
export function placeIn(tree: Tree, manifest: Manifest, folder: string): (path: Path) => Place {
  const own = tree.resources.find((source) => isOf(source, manifest));
  const patches = tree.patches.filter((source) => isPatchOf(source, manifest));
  return (path) => {
    const exact = [own, ...patches].map((source) => source?.at(path)).find(Boolean);
    if (exact) return exact;
    return own?.near(path) ?? tree.kustomizations[0]?.near([]) ?? { file: folder, line: 1 };
  };
}
