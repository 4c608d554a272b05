import { closest } from "./closest.ts";
import { type Command, commands } from "./commands.ts";
import { UsageError } from "./usage.ts";

const list = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(16)} ${summary}`);
const help = `Usage: npx fleet <command> [options]

${list.join("\n")}

npx fleet <command> --help says more about a command.

What npm start builds for the local stack is in ~/.cache/eks-gitops-fleet (or FLEET_CACHE_DIR); npm run down -- --cache
removes it, together with the local stack.
`;

const isHelp = (name: string | undefined): boolean => name === undefined || ["--help", "-h", "help"].includes(name);

/** The command of a name. @throws UsageError that says which was probably meant */
function commandOf(name: string): Command {
  if (Object.hasOwn(commands, name)) return commands[name] as Command;
  const names = Object.keys(commands);
  const similar = closest(name, names);
  throw new UsageError(
    `there is no command ${name}${similar === undefined ? "" : `; did you mean ${similar}?`}
The commands are ${names.join(", ")}. See npx fleet --help`,
  );
}

async function run([name, ...argv]: readonly string[]): Promise<number> {
  if (name !== undefined && !isHelp(name)) return commandOf(name).run(argv);
  const [of] = name === "help" ? argv : [];
  process.stdout.write(of === undefined ? help : commandOf(of).help);
  return 0;
}

/**
 * Runs `fleet` with its arguments, and says on standard error why it fails.
 * @returns the exit code. 0: done; 1: it failed, or a comparison or check has findings; 2: it was called wrongly or could not run, and
 * nothing was changed; 130: Ctrl-C was typed at a question, and nothing was changed.
 */
export async function fleet(argv: readonly string[]): Promise<number> {
  try {
    return await run(argv);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    if (process.env["FLEET_DEBUG"]) console.error(error);
    return error instanceof UsageError ? 2 : 1;
  }
}
