// Removes a temporary folder with its instances and processes: `remove-temporary.ts <folder> <stack>`, started by interruptible.ts.
import { main } from "./command.ts";
import { removeTemporary } from "./temporary.ts";

// A terminal that was closed must not end the removal.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

await main(async () => {
  const [folder, stack] = process.argv.slice(2);
  if (folder === undefined || stack === undefined) throw new Error("usage: remove-temporary.ts <folder> <stack>");
  await removeTemporary(folder, stack);
  return 0;
});
