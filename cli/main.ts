// `npx fleet <command>`: the day-2 commands. Exit code 0: done; 1: it failed, or a comparison or check has findings;
// 2: it was called wrongly or could not run, and nothing was changed.
import { commands } from "./commands.ts";
import { UsageError } from "./usage.ts";

const list = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(15)} ${summary}`);
const help = `Usage: npx fleet <command> [options]

${list.join("\n")}

npx fleet <command> --help says more about a command.

What npm start builds for the local stack is in ~/.cache/eks-gitops-fleet (or FLEET_CACHE_DIR); npm run down -- --cache
removes it, together with the local stack.
`;

async function main([name, ...argv]: readonly string[]): Promise<number> {
  if (name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(help);
    return 0;
  }
  const command = commands[name ?? ""];
  if (command !== undefined) return command.run(argv);
  throw new UsageError(
    `${name === undefined ? "no command was given" : `there is no command ${name}`}; the commands are ${Object.keys(commands).join(", ")}. See npx fleet --help`,
  );
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  if (process.env["FLEET_DEBUG"]) console.error(error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
