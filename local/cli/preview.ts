// `npm run preview -- <stack> [pulumi flags]`: `pulumi preview` of any stack on the stand-ins, in an instance that exists
// only meanwhile. Nothing is deployed; the running instance of `npm start`, if there is one, is not touched.
import { spawn } from "node:child_process";
import { requireStack } from "../pulumi/cli/index.ts";
import { CHECKOUT } from "../pulumi/cli/paths.ts";
import { main } from "./command.ts";
import { previewResult } from "./preview-result.ts";
import { pulumiOf } from "./pulumi.ts";
import { tearDown } from "./teardown.ts";
import { temporaryInstance } from "./temporary.ts";
import { bringUpForPreview } from "./up.ts";

/** Runs `pulumi preview`, which shows its output as it comes. */
function preview(pulumi: string, stack: string, flags: readonly string[]): Promise<{ code: number; output: string }> {
  // Pulumi sees a pipe, and would leave the colors out.
  const colors = process.stdout.isTTY && !flags.some((flag) => flag.startsWith("--color")) ? ["--color=always"] : [];
  const args = ["preview", "--stack", stack, "--non-interactive", ...colors, ...flags];
  return new Promise((resolve, reject) => {
    const child = spawn(pulumi, args, { cwd: CHECKOUT, stdio: ["inherit", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      process.stdout.write(text);
    });
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill("SIGINT"));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 130, output }));
  });
}

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
    const { code, output } = await preview(pulumiOf(instance()), stack, flags);
    result = previewResult(stack, code, output);
    return code;
  } finally {
    console.log(`\nRemoving the preview's temporary instance in ${dir}`);
    await tearDown(dir, stack, { force: true, quiet: true });
    if (result !== undefined) console.log(`\n${result}`);
  }
});
