/** Puts the CLI, the language host and the provider plugins where the Pulumi engine looks for them. */
import { constants, existsSync } from "node:fs";
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { script, withVariables } from "../../instance/command.ts";
import { writeAtomic } from "../../instance/files.ts";
import { CHECKOUT } from "../../product-paths.ts";
import { openSdk } from "../framework/shape.ts";

/** Each serves the version of its npm SDK. */
const PLUGINS = ["aws", "eks", "kubernetes", "random", "tls"] as const;

/** A plugin as installed. */
export interface InstalledPlugin {
  readonly name: string;
  readonly version: string;
  /** `stand-in`: local/pulumi/<name>; `built`: upstream's, from the toolchain; `official`: the one in the user's own Pulumi home. */
  readonly kind: "stand-in" | "built" | "official";
}

/** Where the toolchain has a program: `pulumi` and `pulumi-resource-kubernetes` are asked for. */
export type ProgramPath = (name: string) => string;

/**
 * Installs everything into a Pulumi home. Idempotent.
 * @param program its CLI is linked (or copied) into the home, because the engine looks for the language host beside itself.
 * @param caCertificate see {@link installPlugins}.
 */
export async function installPulumi(
  home: string,
  program: ProgramPath,
  caCertificate?: string,
): Promise<InstalledPlugin[]> {
  const bin = path.join(home, "bin");
  await mkdir(bin, { recursive: true });
  await placeBinary(program("pulumi"), path.join(bin, "pulumi"));
  await writeScript(path.join(bin, "pulumi-language-nodejs"), standIn("local/pulumi/language-host/main.ts"));
  return installPlugins(home, program, caCertificate);
}

/**
 * Installs the provider plugins into a Pulumi home. Idempotent.
 *
 * With `FLEET_PULUMI_PLUGINS=official` every plugin that is installed in the user's own Pulumi home (`~/.pulumi/plugins`, in the
 * version of the npm SDK) is used in place of ours; where it is missing, ours stays.
 * @param caCertificate file with the only CA that upstream's plugins trust: the instance's, which signs for its AWS API and charts.
 */
export async function installPlugins(
  home: string,
  programPath: ProgramPath,
  caCertificate?: string,
): Promise<InstalledPlugin[]> {
  const official = wantsOfficial();
  await mkdir(temporaryOf(home), { recursive: true });
  const installed: InstalledPlugin[] = [];
  for (const name of PLUGINS) {
    const { version } = openSdk(name);
    const plugin = `resource-${name}-v${version}`;
    const folder = path.join(home, "plugins", plugin);
    const program = `pulumi-resource-${name}`;
    const found = path.join(homedir(), ".pulumi", "plugins", plugin);
    const ours = name === "kubernetes" ? "built" : "stand-in";
    const kind = official && isInstalled(found, program) ? "official" : ours;
    // The engine skips links, so the folder is a real one (tryPlugin in sdk/go/common/workspace/plugins.go of Pulumi 3.250.0).
    await mkdir(folder, { recursive: true });
    if (kind === "official") await linkFiles(found, folder, program);
    else await removeLinks(folder);
    const words =
      kind === "stand-in"
        ? standIn(`local/pulumi/${name}/main.ts`)
        : upstreams(home, kind === "built" ? programPath(program) : path.join(found, program), caCertificate);
    await writeScript(path.join(folder, program), words);
    installed.push({ name, version, kind });
  }
  return installed;
}

/** As the engine sees it: beside a plugin that is still being downloaded is a file `<folder>.partial`. */
function isInstalled(folder: string, program: string): boolean {
  return existsSync(path.join(folder, program)) && !existsSync(`${folder}.partial`);
}

/** What a plugin has beside its program, such as PulumiPlugin.yaml. */
async function linkFiles(from: string, to: string, program: string): Promise<void> {
  await removeLinks(to);
  const files = (await readdir(from)).filter((file) => file !== program);
  await Promise.all(files.map((file) => symlink(path.join(from, file), path.join(to, file))));
}

async function removeLinks(folder: string): Promise<void> {
  const links = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
  await Promise.all(links.map(({ name }) => rm(path.join(folder, name))));
}

/**
 * The words that start a plugin of upstream's so that it trusts one CA alone and keeps its files in the home: Helm's, and a kubeconfig at
 * each start (pulumi-kubernetes, provider/pkg/provider/util.go: os.CreateTemp).
 */
function upstreams(home: string, program: string, caCertificate: string | undefined): string[] {
  const helm = (folder: string) => path.join(home, "helm", folder);
  const variables = {
    ...{ HELM_CACHE_HOME: helm("cache"), HELM_CONFIG_HOME: helm("config"), HELM_DATA_HOME: helm("data") },
    TMPDIR: temporaryOf(home),
  };
  return withVariables(
    { ...variables, ...(caCertificate === undefined ? {} : { SSL_CERT_FILE: caCertificate }) },
    program,
  );
}

const temporaryOf = (home: string) => path.join(home, "tmp");

/** The words that start a file of this checkout with our Node. */
const standIn = (main: string) => [process.execPath, path.join(CHECKOUT, main)];

function wantsOfficial(): boolean {
  const choice = process.env["FLEET_PULUMI_PLUGINS"] ?? "";
  if (!["", "official", "stand-in"].includes(choice))
    throw new Error(`FLEET_PULUMI_PLUGINS: got '${choice}', allowed are 'official' and 'stand-in' (the default)`);
  return choice === "official";
}

/** Hard link where possible: the binary has 150 MB. */
async function placeBinary(source: string, target: string): Promise<void> {
  const [from, to] = await Promise.all([stat(source), stat(target).catch(() => undefined)]);
  if (to && to.size === from.size && to.mtimeMs >= from.mtimeMs) return;
  const fresh = `${target}.new`;
  await rm(fresh, { force: true });
  // Another file system: then a copy.
  await link(source, fresh).catch(() => copyFile(source, fresh, constants.COPYFILE_FICLONE));
  await rename(fresh, target);
}

/** A shell script that becomes the given program. */
async function writeScript(file: string, words: readonly string[]): Promise<void> {
  const text = script(words);
  const current = await readFile(file, "utf8").catch(() => undefined);
  if (current !== text) await writeAtomic(file, text, 0o755);
}
