/** Puts the CLI, the language host and the provider plugins where the Pulumi engine looks for them. */
import { constants, existsSync } from "node:fs";
import { copyFile, link, lstat, mkdir, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { writeAtomic } from "../../instance/files.ts";
import { openSdk } from "../framework/shape.ts";
import { CHECKOUT } from "./paths.ts";

/** The packages that this project has stand-ins for. Each serves the version of its npm SDK. */
export const PLUGINS = ["aws", "eks", "kubernetes", "random", "tls"] as const;

/** A plugin as installed. */
export interface InstalledPlugin {
  readonly name: string;
  readonly version: string;
  /** `stand-in`: local/pulumi/<name>; `official`: linked from the user's own Pulumi home. */
  readonly kind: "stand-in" | "official";
}

/**
 * Installs everything into a Pulumi home. Idempotent.
 * @param pulumi the built CLI. It is linked (or copied) into the home, because the engine looks for the language host beside itself.
 */
export async function installPulumi(home: string, pulumi: string): Promise<InstalledPlugin[]> {
  const bin = path.join(home, "bin");
  await mkdir(bin, { recursive: true });
  await placeBinary(pulumi, path.join(bin, "pulumi"));
  await writeScript(path.join(bin, "pulumi-language-nodejs"), "local/pulumi/language-host/main.ts");
  return installPlugins(home);
}

/**
 * Installs the provider plugins into a Pulumi home. Idempotent.
 *
 * With `FLEET_PULUMI_PLUGINS=official` every plugin that is installed in the user's own Pulumi home (`~/.pulumi/plugins`, in the
 * version of the npm SDK) is used in place of its stand-in; where it is missing, the stand-in stays.
 */
export async function installPlugins(home: string): Promise<InstalledPlugin[]> {
  const official = wantsOfficial();
  const installed: InstalledPlugin[] = [];
  for (const name of PLUGINS) {
    const { version } = openSdk(name);
    const folder = path.join(home, "plugins", `resource-${name}-v${version}`);
    const found = path.join(homedir(), ".pulumi", "plugins", `resource-${name}-v${version}`);
    const kind = official && existsSync(path.join(found, `pulumi-resource-${name}`)) ? "official" : "stand-in";
    const linked = await lstat(folder).then(
      (stats) => stats.isSymbolicLink(),
      () => false,
    );
    if (linked !== (kind === "official")) await rm(folder, { recursive: true, force: true });
    if (kind === "stand-in") {
      await mkdir(folder, { recursive: true });
      await writeScript(path.join(folder, `pulumi-resource-${name}`), `local/pulumi/${name}/main.ts`);
    } else if (!linked) {
      await mkdir(path.dirname(folder), { recursive: true });
      await symlink(found, folder);
    }
    installed.push({ name, version, kind });
  }
  return installed;
}

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

/** A shell script that becomes our Node on a file of this checkout. */
async function writeScript(file: string, main: string): Promise<void> {
  const quoted = [process.execPath, path.join(CHECKOUT, main)].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const script = `#!/bin/sh\nexec ${quoted.join(" ")} "$@"\n`;
  const current = await readFile(file, "utf8").catch(() => undefined);
  if (current !== script) await writeAtomic(file, script, 0o755);
}
