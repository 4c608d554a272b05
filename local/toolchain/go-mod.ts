/** What the toolchain reads from a go.mod of its own: the only place where versions of Go-built parts are pinned. */
export interface GoMod {
  /** The language version, and so the least Go release that builds it, such as `1.26.8`. */
  readonly go: string;
  /** Import paths of the programs (the `tool` directives). */
  readonly tools: readonly string[];
  /** Version by module path, as required or, where replaced, as replaced. */
  readonly versions: ReadonlyMap<string, string>;
}

/** Reads a go.mod (https://go.dev/ref/mod#go-mod-file), as far as `GoMod` goes. */
export function parseGoMod(text: string): GoMod {
  let go: string | undefined;
  const tools: string[] = [];
  const versions = new Map<string, string>();
  const replaced = new Map<string, string>();
  let block: string | undefined;
  for (const raw of text.split("\n")) {
    const words = raw
      .replace(/\/\/.*/, "")
      .trim()
      .split(/\s+/);
    const [first = ""] = words;
    if (first === "") continue;
    if (first === ")") {
      block = undefined;
      continue;
    }
    if (words[1] === "(") {
      block = first;
      continue;
    }
    const verb = block ?? first;
    const rest = block ? words : words.slice(1);
    if (verb === "go") go = rest[0];
    if (verb === "tool" && rest[0]) tools.push(rest[0]);
    if (verb === "require" && rest[0] && rest[1]) versions.set(rest[0], rest[1]);
    const target = rest.indexOf("=>");
    if (verb === "replace" && rest[0] && target > 0) replaced.set(rest[0], rest.at(-1) ?? "");
  }
  if (!go) throw new Error("go.mod has no go directive");
  for (const [path, version] of replaced) if (versions.has(path)) versions.set(path, version);
  return { go, tools, versions };
}

/** The name that `go build -o folder/` gives the program of an import path: its last element, a major version aside. */
export function programName(importPath: string): string {
  const elements = importPath.split("/");
  const last = elements.pop() ?? "";
  return /^v[0-9]+$/.test(last) ? (elements.pop() ?? last) : last;
}

/** The version of a module. @throws when go.mod doesn't have it. */
export function versionOf(mod: GoMod, path: string): string {
  const version = mod.versions.get(path);
  if (!version) throw new Error(`go.mod requires no module ${path}`);
  return version;
}
