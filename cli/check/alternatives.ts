import { join, relative } from "node:path";
import { type Files, isManifest, list, type Manifest, YamlError } from "../render/files.ts";

/** Sibling folders of which each cluster applies the one that a variable names: `components: [sizes/${fleet_size}]`. */

const reference = /\$\{[^}]*\}/;

/** Matches the name of every such folder, whatever the value of the variable. */
function pattern(folder: string): RegExp {
  const parts = folder.split(reference).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^/]+")}/`);
}

const componentsOf = ({ kind, spec }: Manifest): string[] =>
  kind === "Kustomization" && typeof spec?.path === "string"
    ? list(spec.components)
        .filter((component) => typeof component === "string" && reference.test(component))
        .map((component) => join(spec.path, component as string))
    : [];

function manifests(files: Files, file: string): Manifest[] {
  try {
    return files.documents(file).flatMap(({ content }) => (isManifest(content) ? [content] : []));
  } catch (error) {
    if (error instanceof YamlError) return []; // a file that no cluster applies need not be YAML
    throw error;
  }
}

/** Whether a file is in such a folder, so that another configuration of the stack would apply it. `yaml`: the repository's YAML files. */
export function isAlternative(repository: string, yaml: readonly string[], files: Files): (file: string) => boolean {
  const patterns = yaml
    .flatMap((file) => manifests(files, file))
    .flatMap(componentsOf)
    .map(pattern);
  return (file) => patterns.some((each) => each.test(relative(repository, file)));
}
