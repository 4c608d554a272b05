// `npm run down`: removes everything that `npm start` made: the spokes through Git, then the hub by `pulumi destroy`.
// `-- --force` skips both.
import { defaultDir } from "../instance/index.ts";
import { alone, main } from "./command.ts";
import { tearDown } from "./teardown.ts";

await main(async () => {
  const unknown = process.argv.slice(2).filter((argument) => argument !== "--force");
  if (unknown.length > 0)
    throw new Error(
      `unknown argument ${unknown.join(" ")}: allowed is --force (stop everything without removing spokes and without pulumi destroy)`,
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
  return 0;
});
