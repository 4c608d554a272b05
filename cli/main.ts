// `npx fleet <command>`: the day-2 commands. Exit code 0: done; 1: it failed, or a comparison or check has something to say;
// 2: it was called wrongly or could not run, and nothing was changed.
import * as check from "./check.ts";
import * as deployerPolicy from "./deployer-policy.ts";
import * as diff from "./diff.ts";
import * as doctor from "./doctor.ts";
import * as init from "./init.ts";
import * as moveSpokes from "./move-spokes.ts";
import * as newCluster from "./new-cluster.ts";
import * as newFleet from "./new-fleet.ts";
import * as nodeReleases from "./node-releases.ts";
import * as onboard from "./onboard.ts";
import * as reseal from "./reseal.ts";
import * as sealingKeys from "./sealing-keys.ts";
import { UsageError } from "./usage.ts";

interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** @returns the exit code. */
  readonly run: (argv: readonly string[]) => Promise<number>;
}

const commands: Readonly<Record<string, Command>> = {
  check,
  "deployer-policy": deployerPolicy,
  diff,
  doctor,
  init,
  "move-spokes": moveSpokes,
  "new-cluster": newCluster,
  "new-fleet": newFleet,
  "node-releases": nodeReleases,
  onboard,
  reseal,
  "sealing-keys": sealingKeys,
};

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
    `${name === undefined ? "no command was given" : `there is no command ${name}`}; allowed: ${Object.keys(commands).join(", ")}. See npx fleet --help`,
  );
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  if (process.env["FLEET_DEBUG"]) console.error(error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
