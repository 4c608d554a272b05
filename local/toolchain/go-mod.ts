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
  // The lines of a block become lines of their own, each with the block's verb.
  const flat = text
    .replace(/\/\/.*/g, "")
    .replace(/^(\w+) \(\n([^)]*)\n\)/gm, (_, verb: string, block: string) => block.replace(/^\s*(?=\S)/gm, `${verb} `));
  const directives = flat.split("\n").map((line) => line.trim().split(/\s+/));
  const of = (verb: string) => directives.flatMap(([first, ...words]) => (first === verb ? [words] : []));
  const go = of("go")[0]?.[0];
  if (!go) throw new Error("go.mod has no go directive");
  const replaced = new Map(of("replace").map((words) => [words[0], words.at(-1)]));
  const versions = of("require").map(([path = "", version = ""]) => [path, replaced.get(path) ?? version] as const);
  return { go, tools: of("tool").flatMap(([path]) => path ?? []), versions: new Map(versions) };
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
