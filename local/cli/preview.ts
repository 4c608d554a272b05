// `npm run preview -- <stack> [pulumi flags]`: `pulumi preview` of any stack on the stand-ins, in an instance that exists
// only meanwhile. Nothing is deployed; the running instance of `npm start`, if there is one, is not touched.

import { CHECKOUT } from "../product-paths.ts";
import { requireStack } from "../pulumi/cli/index.ts";
import { main } from "./command.ts";
import { foreground } from "./foreground.ts";
import { previewResult } from "./preview-result.ts";
import { pulumiOf } from "./pulumi.ts";
import { tearDown } from "./teardown.ts";
import { temporaryInstance } from "./temporary.ts";
import { bringUpForPreview } from "./up.ts";

await main(async () => {
  const [stack, ...flags] = process.argv.slice(2);
  if (stack === undefined || stack.startsWith("-"))
    throw new Error(
      "which stack? npm run preview -- <stack> [pulumi flags]; the stacks are the files stacks/Pulumi.<stack>.yaml",
    );
  await requireStack(stack);
  const dir = await temporaryInstance("fleet-preview", stack);
  let result: string | undefined;
  try {
    const { instance } = await bringUpForPreview(dir, stack);
    // Pulumi sees a pipe, and would leave the colors out.
    const colors = process.stdout.isTTY && !flags.some((flag) => flag.startsWith("--color")) ? ["--color=always"] : [];
    const argv = [pulumiOf(instance()), "preview", "--stack", stack, "--non-interactive", ...colors, ...flags] as const;
    let output = "";
    const onOutput = (text: string) => {
      output += text;
    };
    const code = await foreground(argv, { cwd: CHECKOUT, onOutput, ending: "SIGINT" });
    result = previewResult(stack, code, output);
    return code;
  } finally {
    console.log(`\nRemoving the preview's temporary instance in ${dir}`);
    await tearDown(dir, stack, { force: true, quiet: true });
    if (result !== undefined) console.log(`\n${result}`);
  }
});
