import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Problem } from "../../lib/problems.ts";

/** The plain text of a Secret, from files and standard input. No message says anything of it. */

/** Values by key. */
export type PlainText = ReadonlyMap<string, Uint8Array>;

/** Where it comes from. */
export interface Origins {
  /** `key=path`, or a path whose last part is the key. */
  readonly files: readonly string[];
  /** Paths of files with a line `key=value` for each value. */
  readonly envFiles: readonly string[];
  /** The key of what is on standard input. */
  readonly stdin: string | undefined;
}

/** The form of keys (Kubernetes, IsConfigMapKey). */
const isKey = (key: string): boolean => /^[-._a-zA-Z0-9]{1,253}$/.test(key) && key !== "." && !key.startsWith("..");

/** The most that a Secret may have (Kubernetes, MaxSecretSize). */
const MOST_BYTES = 1024 * 1024;

const unseen = "(not shown: it may be a secret)";

type Tell = (key: string, what: string, allowed: string, remedy: string) => void;

/** What is read of a source: undefined where it has a problem. */
function contentOf(flag: string, path: string, tell: Tell): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = { ENOENT: "names a file that does not exist", EISDIR: "names a folder" }[code ?? ""];
    // Node's own message has the path, which is a value where --from-file is taken for --from-literal.
    tell(flag, what ?? `names a file that can't be read (${code})`, "a file that you may read", "correct the path");
    return undefined;
  }
}

/** A text, without a byte order mark; undefined where it is not UTF-8. */
function textIn(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return undefined; // told by who asks
  }
}

/** The values of a file as kubectl's --from-env-file reads it; a value is everything behind the first `=`. */
function envValues(flag: string, text: string, tell: Tell): [string, Uint8Array][] {
  return text.split(/\r?\n/).flatMap((line, index): [string, Uint8Array][] => {
    const written = line.trimStart();
    if (written === "" || written.startsWith("#")) return [];
    const [, key, value] = /^([^=]*)=(.*)$/s.exec(written) ?? [];
    if (key !== undefined && isKey(key)) return [[key, Buffer.from(value ?? "")]];
    tell(flag, `line ${index + 1} is not key=value`, "lines key=value, and comments that begin with #", "correct it");
    return [];
  });
}

/** The value on standard input: a single line without its end, which who types it or pipes it from echo does not mean. */
export function fromStdin(input: Uint8Array): Uint8Array {
  const text = Buffer.from(input);
  const end = text.indexOf("\n");
  if (end === -1 || end !== text.length - 1) return input;
  return text.subarray(0, text.at(-2) === 0x0d ? -2 : -1);
}

/** The problems of plain text once all of it is there. */
export function sizeProblems(plain: PlainText): Problem[] {
  const bytes = [...plain.values()].reduce((sum, value) => sum + value.length, 0);
  const empty = [...plain].filter(([, value]) => value.length === 0).map(([key]) => key);
  const problems: Problem[] = empty.map((key) => ({
    key: `value of ${key}`,
    what: "is empty",
    got: "(nothing)",
    allowed: "at least one byte",
    remedy: "give its value, or leave the key out",
  }));
  if (bytes <= MOST_BYTES) return problems;
  const tooBig = { key: "the values", what: "are too big for a Secret", got: `${bytes} bytes` };
  return [...problems, { ...tooBig, allowed: `at most ${MOST_BYTES} bytes together`, remedy: "keep it elsewhere" }];
}

/** Reads everything but standard input. @returns the values, and all that is wrong with the origins */
export function plainText({ files, envFiles, stdin }: Origins): { plain: PlainText; problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const plain = new Map<string, Uint8Array>();
  const tell: Tell = (key, what, allowed, remedy) => void problems.push({ key, what, got: unseen, allowed, remedy });
  const checkNew = (flag: string, key: string): void => {
    if (plain.has(key)) tell(flag, `gives a second value of ${key}`, "each key once", "leave one out");
  };
  const add = (flag: string, key: string, value: Uint8Array): void => {
    checkNew(flag, key);
    plain.set(key, value);
  };
  const checkKey = (flag: string, key: string): boolean => {
    if (isKey(key)) return true;
    const allowed = "letters, digits, hyphens, dots and underscores";
    tell(
      flag,
      "has a key that no Secret can have",
      allowed,
      "choose another key; a file is given as --from-file KEY=PATH",
    );
    return false;
  };
  if (files.length + envFiles.length === 0 && stdin === undefined)
    problems.push({
      key: "--from-file, --from-env-file or --from-stdin",
      what: "is missing",
      got: "(nothing)",
      allowed: "at least one of them: never a value on the command line, which other users and the shell's history see",
      remedy: "name a file, or pipe the value in with --from-stdin KEY. See fleet seal --help",
    });
  for (const given of files) {
    const [, named, path = given] = /^([^=]+)=(.+)$/s.exec(given) ?? [];
    const key = named ?? basename(path);
    if (!checkKey("--from-file", key)) continue;
    const content = contentOf(named === undefined ? "--from-file" : `--from-file of ${named}`, path, tell);
    if (content !== undefined) add("--from-file", key, content);
  }
  for (const path of envFiles) {
    const content = contentOf("--from-env-file", path, tell);
    if (content === undefined) continue;
    const text = textIn(content);
    if (text === undefined) {
      const remedy = "save it as UTF-8, or give a value that is no text by --from-file";
      tell("--from-env-file", "names a file that is not UTF-8", "lines KEY=VALUE in UTF-8", remedy);
      continue;
    }
    for (const [key, value] of envValues("--from-env-file", text, tell)) add("--from-env-file", key, value);
  }
  if (stdin !== undefined && checkKey("--from-stdin", stdin)) checkNew("--from-stdin", stdin);
  return { plain, problems };
}
