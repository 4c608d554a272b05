import { join, relative } from "node:path";
import { type Files, isManifest, list, type Manifest, YamlError } from "../render/files.ts";

/** Folders of a repository of which each cluster takes one, by a variable: `components: [sizes/${fleet_size}]`. */

const reference = /\$\{[^}]*\}/;

/** What every such folder's name matches, whatever the variable is. */
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
    if (error instanceof YamlError) return []; // what no cluster gets need not be YAML
    throw error;
  }
}

/** Whether a file of a repository lies in such a folder, so that another choice of the stack would apply it. `yaml`: its YAML files. */
export function isAlternative(repository: string, yaml: readonly string[], files: Files): (file: string) => boolean {
  const patterns = yaml
    .flatMap((file) => manifests(files, file))
    .flatMap(componentsOf)
    .map(pattern);
  return (file) => patterns.some((each) => each.test(relative(repository, file)));
}
