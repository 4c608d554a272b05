// `npm run crds -- <folder>`: copies the definitions of the pinned versions into a folder, for `fleet check --crds`. Needs Go only.
import { chmod, cp, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { definingModules, definitionFolder } from "../toolchain/definitions.ts";
import { main } from "./command.ts";

await main(async () => {
  const [folder, ...more] = process.argv.slice(2);
  if (folder === undefined || folder.startsWith("-") || more.length > 0)
    throw new Error("into which folder? npm run crds -- <folder>; then npx fleet check --crds <folder>");
  for (const module of definingModules) {
    const from = definitionFolder(module);
    const to = join(folder, ...module.split("/"));
    await mkdir(to, { recursive: true });
    for (const name of await readdir(from)) {
      if (!/\.(ya?ml|json)$/.test(name)) continue;
      await cp(join(from, name), join(to, name));
      // Go's module cache is read-only, which copies should not be.
      await chmod(join(to, name), 0o644);
    }
    console.log(`${to}: of ${module}`);
  }
  return 0;
});
