#!/usr/bin/env node
// `fleet <command>`: the day-2 commands.

import { compare } from "../lib/version.ts";
import packageJson from "../package.json" with { type: "json" };
import { fleet } from "./run.ts";

const { node } = packageJson.engines;

if (compare(process.version, node) < 0) {
  console.error(`fleet needs Node ${node}, and this is ${process.version} (${process.execPath}): install a newer one`);
  process.exitCode = 2;
} else process.exitCode = await fleet(process.argv.slice(2));
