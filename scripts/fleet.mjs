#!/usr/bin/env node
// `npx fleet`: the day-2 commands of cli/, in the folder of whoever calls them.
import { main } from "./run.mjs";

await main(["cli/main.ts", ...process.argv.slice(2)], process.cwd());
