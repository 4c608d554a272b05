// `npm run preview -- <stack> [pulumi flags]`: `pulumi preview` on the stand-ins. Compares the stack of `npm start` with the running
// instance, and only reads there. Previews any other stack, and with `--from-scratch` this one, from an empty state in a temporary instance.

import { defaultDir, findInstance, type Instance } from "../instance/index.ts";
import { requireStack, stackExists } from "../pulumi/cli/index.ts";
import { main, underWay } from "./command.ts";
import { foreground } from "./foreground.ts";
import { withTemporaryInstance } from "./interruptible.ts";
import { previewOptions } from "./preview-options.ts";
import { previewResult } from "./preview-result.ts";
import { pulumiOn } from "./pulumi.ts";
import { bringUpForPreview } from "./up.ts";

/** The stack of `npm start`. */
const STARTED = "local";

/** The running instance of `npm start`; undefined if none has the stack. @throws Error while a command changes the instance */
async function startedInstance(): Promise<Instance | undefined> {
  const dir = defaultDir();
  const instance = await findInstance(dir);
  if (instance === undefined || !(await stackExists(dir, STARTED))) return undefined;
  const command = await underWay(dir);
  if (command !== undefined)
    throw new Error(
      `${command} is changing the instance in ${dir}: wait until it ends, or preview with --from-scratch`,
    );
  return instance;
}

await main(async () => {
  const { stack, fromScratch, flags } = previewOptions(process.argv.slice(2));
  await requireStack(stack);
  let result: string | undefined;
  const preview = async (instance: Instance): Promise<number> => {
    // Pulumi sees a pipe, and would leave the colors out.
    const colors = process.stdout.isTTY && !flags.some((flag) => flag.startsWith("--color")) ? ["--color=always"] : [];
    const args = ["preview", "--stack", stack, "--non-interactive", ...colors, ...flags];
    const { argv, ...options } = await pulumiOn(instance, args);
    let output = "";
    const onOutput = (text: string) => {
      output += text;
    };
    const code = await foreground(argv, { ...options, onOutput, ending: "SIGINT" });
    result = previewResult(stack, code, output);
    return code;
  };
  const running = fromScratch || stack !== STARTED ? undefined : await startedInstance();
  if (running !== undefined) console.log(`Preview of ${stack} on the running instance in ${running.dir}\n`);
  const code = running
    ? await preview(running)
    : await withTemporaryInstance("fleet-preview", stack, async (dir) =>
        preview((await bringUpForPreview(dir, stack)).instance()),
      );
  if (result !== undefined) console.log(`\n${result}`);
  return code;
});
