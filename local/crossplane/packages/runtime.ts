/** What the images of our TypeScript programs run on: the Node binary of npm's package `node`, and the libraries that it is linked to. */
import { realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { readText, run } from "../../instance/index.ts";
import type { SharedLayer } from "../../registry/layout.ts";
import { contentKey, ensureEntry, readTexts } from "../../toolchain/cache.ts";
import { type ImageFile, layerEntries, writeLayer } from "../../toolchain/image-archive.ts";

/** Where Node is in the images. */
export const NODE = "/usr/local/bin/node";

/** The binary of npm's package `node`, whichever Node runs this. */
function nodeBinary(): string {
  const manifest = createRequire(import.meta.url).resolve("node/package.json");
  return join(dirname(manifest), "bin", "node");
}

/** Paths of shared libraries in ldd's output: `libm.so.6 => /lib/… (0x…)` and the loader `/lib64/… (0x…)`. */
export function libraries(ldd: string): string[] {
  const missing = ldd.match(/^\s*(\S+) => not found/m);
  if (missing) throw new Error(`Node needs the library ${missing[1]}, which is not installed on this machine`);
  return [...ldd.matchAll(/(?:=>|^\s*)\s*(\/\S+) \(0x/gm)].map(([, path]) => path as string);
}

/** The layer with Node, made once. */
export async function runtimeLayer(root: string, say: (detail: string) => void): Promise<SharedLayer> {
  const binary = nodeBinary();
  const sources = await readTexts(import.meta.dirname, ["runtime.ts", "../../toolchain/image-archive.ts"]);
  const version = (await run([binary, "--version"])).trim();
  const entry = { root, group: "node-runtime", key: contentKey({ ...sources, version, binary }) };
  const folder = await ensureEntry(entry, async (dir) => {
    say(`the runtime: Node ${version}`);
    const files: Record<string, ImageFile> = { [NODE]: { source: binary } };
    for (const path of libraries(await run(["ldd", binary]))) files[path] = { source: realpathSync(path) };
    const digest = await writeLayer(join(dir, "layer.tar"), layerEntries({ reference: "node", files }));
    await writeFile(join(dir, "digest"), digest);
  });
  const digest = await readText(join(folder, "digest"));
  if (digest === undefined) throw new Error(`${folder} has no digest: remove the folder and run again`);
  return { tar: join(folder, "layer.tar"), digest };
}
