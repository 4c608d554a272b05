import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "../../infra/config.ts";
import type { Readable } from "../../infra/settings.ts";
import type { Problem } from "../../lib/problems.ts";
import { parsedOnce } from "../yaml.ts";

/** Stack files, read without Pulumi: nothing is decrypted, and no backend is asked. */

/** What stands in `stacks/Pulumi.<stack>.yaml`. */
export interface StackFile {
  readonly secretsprovider?: string;
  readonly encryptionsalt?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** What Pulumi.yaml says of the project. */
export interface Project {
  readonly name: string;
  /** Folder of the stacks' files. */
  readonly folder: string;
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** The Pulumi project in the folder `root`. */
export async function readProject(root: string): Promise<Project> {
  const { name, stackConfigDir, config } = parsedOnce(await readFile(join(root, "Pulumi.yaml"), "utf8")) as {
    readonly name: string;
    readonly stackConfigDir?: string;
    readonly config: Readonly<Record<string, { readonly default: unknown }>>;
  };
  const defaults = Object.entries(config).map(([key, { default: value }]) => [`${name}:${key}`, value]);
  return { name, folder: join(root, stackConfigDir ?? "."), defaults: Object.fromEntries(defaults) };
}

/** The file of a stack, whose name may have organization and project before it. */
export const stackPath = ({ folder }: Project, stack: string): string =>
  join(folder, `Pulumi.${stack.split("/").at(-1)}.yaml`);

/** Names of the stacks that have a file. */
export const stacksOf = async ({ folder }: Project): Promise<string[]> =>
  (await readdir(folder)).flatMap((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.[1] ?? []);

/** The file of the stack that `--stack` names, or the problem of that option. */
export async function namedStack(project: Project, name: string): Promise<{ file: StackFile } | { problem: Problem }> {
  const path = stackPath(project, name);
  if (existsSync(path)) return { file: (parsedOnce(await readFile(path, "utf8")) ?? {}) as StackFile };
  return {
    problem: {
      key: "--stack",
      what: "has no file in this checkout",
      got: name,
      allowed: (await stacksOf(project)).join(", ") || "(none)",
      remedy: "name one of them, or write it with fleet init",
    },
  };
}

/** What a stack's configuration says, and what is wrong with it. */
export interface Judged {
  /** Settings that could be read; one that is encrypted is missing or a placeholder. */
  readonly settings: Readable;
  /** Names of the keys that are encrypted in the file. */
  readonly encrypted: readonly string[];
  /** `aws:region`. */
  readonly region: string | undefined;
  /** Problems by the program's own rules. */
  readonly problems: readonly Problem[];
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
/** Whether a value of a stack's file is one that pulumi config set --secret wrote. */
export const isEncrypted = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).join() === "secure";

/** Judges a stack's configuration as the program does. */
export function judge({ config = {} }: StackFile, project: Project): Judged {
  const values: Record<string, unknown> = { ...project.defaults, ...config };
  const region = typeof config["aws:region"] === "string" ? config["aws:region"] : undefined;
  const { settings, problems } = readConfig({
    project: project.name,
    values: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, isEncrypted(value) ? "(encrypted)" : asText(value)]),
    ),
    isSecret: (key) => isEncrypted(values[key]),
    region,
  });
  const prefix = `${project.name}:`;
  const encrypted = Object.keys(values)
    .filter((key) => key.startsWith(prefix) && isEncrypted(values[key]))
    .map((key) => key.slice(prefix.length));
  // Nobody here can read what is encrypted: the program judges it.
  return { settings, encrypted, region, problems: problems.filter(({ key }) => !encrypted.includes(key)) };
}
