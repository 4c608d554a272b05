#!/usr/bin/env node
// `npx fleet`: the day-2 commands of cli/, in the folder of whoever calls them.
import { main } from "./run.mjs";

const compileCache = new URL("compile-cache.mjs", import.meta.url).href;

await main(["cli/main.ts", ...process.argv.slice(2)], process.cwd(), [`--import=${compileCache}`]);
