import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { git, instance, pulumi } from "./fleet.ts";

const SECRET_MARK = "4dabf18193072939515e22adb298388d"; // pulumi/sdk: the signature of special values
const SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";

/** Every secret value of the stack, in plain text, from a state export that shows them. */
function secretsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(secretsOf);
  if (typeof value !== "object" || value === null) return [];
  const object = value as Record<string, unknown>;
  if (object[SECRET_MARK] === SECRET_SIGNATURE) return strings(JSON.parse(String(object["plaintext"])));
  return Object.values(object).flatMap(secretsOf);
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}

/**
 * The parts of a value that give away the private keys in it, wherever they stand: the base64 lines of every PEM block
 * (line ends differ in JSON and YAML). Of each only the second half: the first holds the public half too.
 */
export function traces(value: string): string[] {
  const blocks = value.match(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END/g) ?? [];
  const lines = blocks.map((block) => block.match(/[A-Za-z0-9+/]{40,}/g) ?? []);
  return lines.flatMap((all) => all.slice(Math.ceil(all.length / 2)));
}

/** Traces of every private key among the secrets of the hub's stack: sealing keys and deploy keys. */
export async function tracesOfStack(): Promise<string[]> {
  return secretsOf(JSON.parse(await pulumi(["stack", "export", "--show-secrets"]))).flatMap(traces);
}

/** What a text was found in: where, and what it holds. */
export type Text = readonly [name: string, text: string];

/** Names of the texts in which one of the secrets stands, as it is or in base64, which hides nothing. */
export function leaks(secrets: readonly string[], texts: readonly Text[]): string[] {
  return texts
    .filter(([, text]) => {
      const readable = decoded(text);
      return secrets.some((secret) => readable.includes(secret));
    })
    .map(([name]) => name);
}

/** A text with all that stands in it in base64 added. */
function decoded(text: string): string {
  const wrapped = text.match(/[A-Za-z0-9+/]{60,}={0,2}/g) ?? [];
  return [text, ...wrapped.map((run) => Buffer.from(run, "base64").toString("latin1"))].join("\n");
}

/** Every file below a folder. */
export const filesBelow = (folder: string, skip: (path: string) => boolean = () => false): Text[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !skip(relative(folder, path)))
    .map((path) => [path, readFileSync(path, "latin1")] as const);

/** The history of every repository on the instance's Git server, with all that was ever in it. */
export async function histories(): Promise<Text[]> {
  const names = readdirSync(instance.paths.git).filter((name) => name.endsWith(".git"));
  return Promise.all(names.map(async (name) => [name, await history(join(instance.paths.git, name))] as const));
}

/** All that was ever in a repository (its git directory), on any branch. */
export const history = (gitDir: string) => git(["--git-dir", gitDir, "log", "--all", "--patch"]);
