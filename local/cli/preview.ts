// `npm run preview -- <stack> [pulumi flags]`: `pulumi preview` of any stack on the stand-ins, in an instance that exists
// only meanwhile. Nothing is deployed; the running instance of `npm start`, if there is one, is not touched.

import { CHECKOUT } from "../product-paths.ts";
import { requireStack } from "../pulumi/cli/index.ts";
import { main } from "./command.ts";
import { foreground } from "./foreground.ts";
import { withTemporaryInstance } from "./interruptible.ts";
import { previewResult } from "./preview-result.ts";
import { pulumiOf } from "./pulumi.ts";
import { bringUpForPreview } from "./up.ts";

await main(async () => {
  const [stack, ...flags] = process.argv.slice(2);
  if (stack === undefined || stack.startsWith("-"))
    throw new Error(
      "which stack? npm run preview -- <stack> [pulumi flags]; the stacks are the files stacks/Pulumi.<stack>.yaml",
    );
  await requireStack(stack);
  let result: string | undefined;
  const code = await withTemporaryInstance("fleet-preview", stack, async (dir) => {
    const { instance } = await bringUpForPreview(dir, stack);
    // Pulumi sees a pipe, and would leave the colors out.
    const colors = process.stdout.isTTY && !flags.some((flag) => flag.startsWith("--color")) ? ["--color=always"] : [];
    const argv = [pulumiOf(instance()), "preview", "--stack", stack, "--non-interactive", ...colors, ...flags] as const;
    let output = "";
    const onOutput = (text: string) => {
      output += text;
    };
    const ended = await foreground(argv, { cwd: CHECKOUT, onOutput, ending: "SIGINT" });
    result = previewResult(stack, ended, output);
    return ended;
  });
  if (result !== undefined) console.log(`\n${result}`);
  return code;
});
