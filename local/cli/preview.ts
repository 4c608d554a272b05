// `npm run preview -- <stack> [pulumi flags]`: `pulumi preview` of any stack on the stand-ins, in an instance that exists
// only meanwhile. Nothing is deployed; the running instance of `npm start`, if there is one, is not touched.
import { spawn } from "node:child_process";
import { CHECKOUT } from "../pulumi/cli/paths.ts";
import { main } from "./command.ts";
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
  const dir = await temporaryInstance("fleet-preview", stack);
  try {
    const { instance } = await bringUpForPreview(dir, stack);
    return await new Promise<number>((resolve, reject) => {
      const args = ["preview", "--stack", stack, "--non-interactive", ...flags];
      const child = spawn(pulumiOf(instance()), args, { cwd: CHECKOUT, stdio: "inherit" });
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill("SIGINT"));
      child.once("error", reject);
      child.once("exit", (code) => resolve(code ?? 130));
    });
  } finally {
    await tearDown(dir, stack, { force: true });
  }
});
