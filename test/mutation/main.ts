import { parseArgs } from "node:util";
import { type Area, areas } from "./areas.ts";
import { LEAST, scoreOf, summary, survivors } from "./score.ts";

/**
 * `npm run test:mutation [-- <area>...]` changes what decides over access and safety, one place at a time, and asks the tests
 * whether they notice. Prints the changes that nobody noticed and a score for each area; ends with 1 when one is below 85 %.
 * `--every <n>` asks about every n-th line only, for an estimate; admission and definition are quick and always whole.
 */

const { values, positionals: asked } = parseArgs({ options: { every: { type: "string" } }, allowPositionals: true });
const every = Number(values.every ?? "1");
if (!Number.isInteger(every) || every < 1) {
  console.error(`--every: got ${values.every}, allowed is a whole number from 1: 10 asks about every tenth line`);
  process.exit(2);
}
const unknown = asked.filter((name) => !(name in areas));
if (unknown.length > 0) {
  console.error(`there is no area ${unknown.join(", ")}; there are ${Object.keys(areas).join(", ")}`);
  process.exit(2);
}

const lines: string[] = [];
let low = false;
for (const name of asked.length > 0 ? asked : Object.keys(areas)) {
  console.log(`[mutation] ${name}`);
  const mutants = await (areas[name] as Area)(every);
  for (const line of survivors(mutants)) console.log(`survived  ${line}`);
  lines.push(summary(name, mutants));
  console.log(lines.at(-1));
  low ||= scoreOf(mutants) < LEAST;
}
console.log(`\n${lines.join("\n")}`);
// vitest sets it for tests that fail, and here they should.
process.exitCode = low ? 1 : 0;
