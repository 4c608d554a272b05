// Makes the composition function's package and prints `<repository>:<tag> <folder of the OCI layout>`: an index of an image for each
// processor, for `crane push --index`. Argument: the folder to write it into; default: a new one for temporary files.
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { functionPackage } from "./function.ts";
import type { Platform } from "./layout.ts";
import { writePackage } from "./package.ts";
import { ARCHITECTURES, writeRuntime } from "./runtime.ts";

const { positionals } = parseArgs({ allowPositionals: true });
const [given] = positionals;
const folder = given === undefined ? await mkdtemp(join(tmpdir(), "function-spoke-")) : resolve(given);
const platforms: Platform[] = [];
for (const architecture of ARCHITECTURES) {
  const runtime = join(folder, "runtime", architecture);
  await mkdir(runtime, { recursive: true });
  platforms.push(await writeRuntime(runtime, { architecture, say: (detail) => console.error(detail) }));
}
const layout = join(folder, "layout");
await writePackage(layout, functionPackage, platforms);
console.log(`${functionPackage.repository}:${functionPackage.version} ${layout}`);
