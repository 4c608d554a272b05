/** Where one instance keeps what Pulumi needs, and the environment that makes Pulumi use it. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { writeAtomic } from "../../instance/files.ts";

/** Folders and files below `<instance>/pulumi`. */
export interface PulumiPaths {
  /** PULUMI_HOME: the CLI with the language host, plugins, selected stacks. */
  readonly home: string;
  /** The real CLI. */
  readonly binary: string;
  /** State of all stacks (`.pulumi/` is below it). */
  readonly backend: string;
  readonly passphrase: string;
  /** A project of the same name in which stacks are made, so that nothing is written into the checkout. */
  readonly project: string;
  /** `Pulumi.<stack>.yaml` with configuration of this instance, on top of the checkout's. */
  readonly overrides: string;
}

/** The paths of an instance's folder. */
export function pulumiPaths(dir: string): PulumiPaths {
  const backend = path.join(dir, "pulumi");
  const home = path.join(backend, "home");
  return {
    home,
    binary: path.join(home, "bin", "pulumi"),
    backend,
    passphrase: path.join(backend, "passphrase"),
    project: path.join(backend, "project"),
    overrides: path.join(backend, "overrides"),
  };
}

/** The variables that make the CLI use this instance: state and plugins of its own, nothing downloaded, nothing asked. */
export function pulumiEnvironment(dir: string): Record<string, string> {
  const paths = pulumiPaths(dir);
  return {
    PULUMI_HOME: paths.home,
    // Without the files of metadata, which are not written in one go: killed over one, Pulumi could not read its state any more.
    PULUMI_BACKEND_URL: `${pathToFileURL(paths.backend).href}?metadata=skip`,
    PULUMI_CONFIG_PASSPHRASE_FILE: paths.passphrase,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    // The official eks plugin asks for aws 7.25.0 and kubernetes 4.19.0 by itself: what is installed is newer, and serves.
    PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH: "true",
    // The key of a stack's secrets is found in its state when the rendered configuration was lost.
    PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER: "true",
  };
}

/** Makes the passphrase that encrypts the secrets of all stacks of the instance; an existing one stays. */
export async function ensurePassphrase(dir: string): Promise<void> {
  const { backend, passphrase } = pulumiPaths(dir);
  await mkdir(backend, { recursive: true, mode: 0o700 });
  await chmod(backend, 0o700);
  if (!existsSync(passphrase)) await writeAtomic(passphrase, randomBytes(32).toString("base64url"), 0o600);
}
