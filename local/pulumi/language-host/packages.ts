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
/** An npm package. */
export interface NpmPackage {
  readonly name: string;
  readonly version: string;
}

interface Manifest {
  name?: string;
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
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

/** Installed dependencies of the nearest package.json; with `transitive`, everything that is installed. */
export function programDependencies(directory: string, transitive: boolean): NpmPackage[] {
  const folders = modulesFolders(directory);
  const manifest = nearest(directory, "package.json");
  if (!manifest) return [];
  const { dependencies = {}, devDependencies = {} } = readManifest(path.dirname(manifest)) ?? {};
  const names = transitive ? folders.flatMap(packagesIn) : Object.keys({ ...dependencies, ...devDependencies });
  return [...new Set(names)].sort().flatMap((name) => {
    const folder = folders.find((candidate) => existsSync(path.join(candidate, name, "package.json")));
    const version = folder && readManifest(path.join(folder, name))?.version;
    return version ? [{ name, version }] : [];
  });
}

/** The folder of the nearest package.json from here upwards. */
export function packageRoot(directory: string): string {
  const manifest = nearest(directory, "package.json");
  if (!manifest) throw new Error(`no package.json in ${directory} or above it`);
  return path.dirname(manifest);
}

function ancestors(directory: string): string[] {
  const parent = path.dirname(directory);
  return parent === directory ? [directory] : [directory, ...ancestors(parent)];
}

function nearest(directory: string, file: string): string | undefined {
  return ancestors(path.resolve(directory))
    .map((folder) => path.join(folder, file))
    .find((candidate) => existsSync(candidate));
}

function modulesFolders(directory: string): string[] {
  return ancestors(path.resolve(directory))
    .map((folder) => path.join(folder, "node_modules"))
    .filter((folder) => existsSync(folder));
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
