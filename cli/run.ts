import { closest } from "./closest.ts";
import { type Command, commands } from "./commands.ts";
import { descriptions } from "./descriptions.ts";
import { asksForHelp } from "./line.ts";
import { version } from "./project.ts";
import { UsageError } from "./usage.ts";

const list = Object.entries(descriptions).map(([name, { summary }]) => `  ${name.padEnd(17)} ${summary}`);
const help = `Usage: fleet <command> [options]

${list.join("\n")}

fleet <command> --help says more about a command, fleet --version which release this is.
`;

const isHelp = (name: string): boolean => ["--help", "-h", "help"].includes(name);

/** What loads the command of a name. @throws UsageError that says which was probably meant */
function loaderOf(name: string): () => Promise<Command> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load !== undefined) return load;
  const names = Object.keys(commands);
  const similar = closest(name, names);
  throw new UsageError(
    `there is no command ${name}${similar === undefined ? "" : `; did you mean ${similar}?`}
The commands are ${names.join(", ")}. See fleet --help`,
  );
}

/** What a command line asks about the commands themselves, if it does; for that none is loaded. */
function informationFor(name: string, argv: readonly string[]): string | undefined {
  if (name === "--version") return `fleet ${version}\n`;
  const [of] = name === "help" ? argv : [name];
  if (of === undefined || isHelp(of)) return help;
  loaderOf(of);
  const described = descriptions[of];
  return described && (name === "help" || asksForHelp(argv, described.options)) ? described.help : undefined;
}

async function run([name = "help", ...argv]: readonly string[]): Promise<number> {
  const asked = informationFor(name, argv);
  if (asked === undefined) return (await loaderOf(name)()).run(argv);
  process.stdout.write(asked);
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
