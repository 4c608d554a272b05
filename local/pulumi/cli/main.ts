/** `pulumi` for an instance: what `<instance>/bin/pulumi` runs. Becomes the real CLI, with everything that it needs filled in. */
import { defaultDir } from "../../instance/instance.ts";
import { fullMessage } from "../framework/errors.ts";
import { pulumiCommand } from "./command.ts";

try {
  const { binary, args, env } = await pulumiCommand(defaultDir(), process.argv.slice(2));
  if (!process.execve) throw new Error("this Node has no process.execve: run it with the project's own Node 22.23");
  process.execve(binary, ["pulumi", ...args], env);
} catch (error) {
  process.stderr.write(`error: ${fullMessage(error)}\n`);
  process.exitCode = 255;
}
