// `npx node local/toolchain/pack.ts FOLDER`: builds the toolchain and writes its archive for a release there, and SHA256SUMS.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SUMS, writeArchive } from "./archive.ts";
import { cacheRoot } from "./cache.ts";
import { archiveEntries, ensureToolchain } from "./index.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node local/toolchain/pack.ts FOLDER (where the archive is written)");
await ensureToolchain();
await mkdir(folder, { recursive: true });
const line = await writeArchive(await archiveEntries(cacheRoot()), folder);
await writeFile(join(folder, SUMS), line);
process.stdout.write(line);
