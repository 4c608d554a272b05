/** A program and all that it imports, as JavaScript that needs no packages. */
import { join, relative } from "node:path";
import { type BuildOptions, build } from "esbuild";

/** CommonJS dependencies ask for `require`, which an ES module doesn't have. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

const common = {
  bundle: true,
  platform: "node",
  target: "node22",
  format: "esm",
  // The AWS SDK's ES modules: what no handler uses falls away, which is half of a program's memory.
  mainFields: ["module", "main"],
  // Not minified: Node prints the line of an error, which would be the whole program.
  minifySyntax: true,
  legalComments: "none",
  banner: { js: REQUIRE },
  logLevel: "silent",
} as const satisfies BuildOptions;

/** One file's text. The same sources give the same text. @throws with esbuild's messages */
export async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({ ...common, entryPoints: [entry], write: false });
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild made nothing of ${entry}`);
  return file.text;
}

export interface Parts {
  /** Text by name: `<name>.mjs`, and in `parts/` what that loads by import() only when it needs it. */
  readonly files: Readonly<Record<string, string>>;
  /** What they were made of: paths in `root`. */
  readonly sources: readonly string[];
}

/** A program whose start loads no more than it needs. @throws with esbuild's messages */
export async function bundleInParts(root: string, entry: string, name: string): Promise<Parts> {
  const outdir = join(root, "out");
  const { outputFiles, metafile } = await build({
    ...common,
    absWorkingDir: root,
    entryPoints: { [name]: entry },
    write: false,
    metafile: true,
    outdir,
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
    outExtension: { ".js": ".mjs" },
  });
  return {
    files: Object.fromEntries(outputFiles.map(({ path, text }) => [relative(outdir, path), text])),
    sources: Object.keys(metafile.inputs),
  };
}
