// Makes the composition function's package and prints `<repository>:<tag> <folder of the OCI layout>`: an index of an image for each
// processor, for `crane push --index`. Argument: the folder to write it into; default: a new one for temporary files.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { functionPackage } from "./function.ts";
import { writePackage } from "./package.ts";
import { writeRuntimes } from "./runtime.ts";

const { positionals } = parseArgs({ allowPositionals: true });
const [given] = positionals;
const folder = given === undefined ? await mkdtemp(join(tmpdir(), "function-spoke-")) : resolve(given);
const platforms = await writeRuntimes(join(folder, "runtime"));
const layout = join(folder, "layout");
await writePackage(layout, functionPackage, platforms);
console.log(`${functionPackage.repository}:${functionPackage.version} ${layout}`);
