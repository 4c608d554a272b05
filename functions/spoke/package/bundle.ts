/** One JavaScript file of a program and all that it imports. */
import { build } from "esbuild";

/** CommonJS dependencies ask for `require`, which an ES module doesn't have. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** The bundle's text. The same sources give the same text. @throws with esbuild's messages */
export async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
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
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild made nothing of ${entry}`);
  return file.text;
}
