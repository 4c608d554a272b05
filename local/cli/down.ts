// `npm run down`: removes everything that `npm start` made: the spokes through Git, then the hub by `pulumi destroy`.
// `-- --force` skips both; `-- --cache` also removes the toolchain's cache.
import { defaultDir } from "../instance/index.ts";
import { removeCache } from "../toolchain/index.ts";
import { alone, main } from "./command.ts";
import { tearDown } from "./teardown.ts";

await main(async () => {
  const unknown = process.argv.slice(2).filter((argument) => !["--cache", "--force"].includes(argument));
  if (unknown.length > 0)
    throw new Error(
      `unknown argument ${unknown.join(" ")}: allowed are --force (stop everything without removing spokes and without pulumi destroy) and --cache (also remove the toolchain's cache)`,
    );
  const dir = defaultDir();
  const force = process.argv.includes("--force");
  try {
    const removed = await alone(dir, "npm run down", () => tearDown(dir, "local", { force }));
    console.log(
      removed
        ? `\nEverything of ${dir} is removed; nothing of it is left on this machine.`
        : `There is no instance in ${dir}: nothing to remove.`,
    );
  } catch (error) {
    const hint = force ? "" : "\nWhen the spokes or the stack can't be removed any more: npm run down -- --force";
    throw new Error(`${error instanceof Error ? error.message : String(error)}${hint}`, { cause: error });
  }
  if (process.argv.includes("--cache")) {
    const { root, others } = await removeCache();
    console.log(
      others.length === 0
        ? `${root} is removed; Go's module cache stays (go clean -modcache).`
        : `${root} stays: ${others.join(", ")} in it is not of the cache.`,
    );
  }
  return 0;
});
