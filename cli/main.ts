// `fleet <command>`: the day-2 commands.
import { fleet } from "./run.ts";

process.exitCode = await fleet(process.argv.slice(2));
