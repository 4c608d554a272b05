/** What a program depends on, read from node_modules. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** A Pulumi provider package that a program can use. */
export interface PluginPackage {
  readonly name: string;
  readonly version: string;
  /** Download address of the plugin, empty for Pulumi's own. */
  readonly server: string;
}
interface Manifest {
  name?: string;
  version?: string;
  pulumi?: { resource?: boolean; name?: string; version?: string; server?: string };
}

/**
 * Provider packages in the node_modules of the program's folder and in those nested below it, never above: the official host does not
 * find them there either (getPackagesFromDir in sdk/nodejs/cmd/pulumi-language-nodejs of Pulumi 3.250.0).
 */
export function pluginPackages(directory: string): PluginPackage[] {
  return nestedPackages(path.join(directory, "node_modules"))
    .flatMap((folder) => {
      const { name, version, pulumi } = readManifest(folder) ?? {};
      if (!name || !pulumi?.resource) return [];
      const plugin = pulumi.name ?? name.replace(/^@pulumi\//, "");
      return [{ name: plugin, version: pulumi.version ?? version ?? "", server: pulumi.server ?? "" }];
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Folders of the packages in a node_modules folder, with those in node_modules of their own. */
function nestedPackages(modules: string): string[] {
  if (!existsSync(modules)) return [];
  const folders = packagesIn(modules).map((name) => path.join(modules, name));
  return folders.flatMap((folder) => [folder, ...nestedPackages(path.join(folder, "node_modules"))]);
}

/** The folder of the nearest package.json from here upwards. */
export function packageRoot(directory: string): string {
  for (let folder = path.resolve(directory); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, "package.json"))) return folder;
    if (folder === path.dirname(folder)) throw new Error(`no package.json in ${directory} or above it`);
  }
}

function packagesIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => !name.startsWith("."));
  return names.flatMap((name) =>
    name.startsWith("@") ? readdirSync(path.join(folder, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

function readManifest(folder: string): Manifest | undefined {
  const file = path.join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Manifest;
  } catch (error) {
    throw new Error(`${file} is not valid JSON`, { cause: error });
  }
}
