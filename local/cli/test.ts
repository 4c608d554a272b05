// `npm test`: format, lint, types, unit and integration tests, then the story of a fleet on the embedded cloud. With arguments, which go to
// vitest, it runs only what they choose. `npm run test:e2e` runs all other end-to-end tests.
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { CHECKOUT } from "../product-paths.ts";
import { main } from "./command.ts";
import { newLocalFleet } from "./fleet.ts";
import { foreground } from "./foreground.ts";
import { interruptible } from "./interruptible.ts";
import { runSteps, type Step } from "./steps.ts";
import { removeTemporary, temporaryFolder } from "./temporary.ts";
import { closingLines, exitCode, type Part, type PartResult, type Phase, runPhases } from "./test-parts.ts";
import { testToolsStep } from "./test-tools.ts";
import { projectPart, vitest } from "./vitest.ts";

/** The argument that chooses all end-to-end tests except the story and the long ones. */
const E2E = "--all-e2e";

/** The part that runs steps which the parts after it need. */
const prepared = (name: string, covers: string, steps: readonly Step<unknown>[], logs: string): Part => ({
  name,
  covers,
  isRequired: true,
  run: async () => {
    await runSteps(steps, undefined, logs);
    return { code: 0 };
  },
});

/** `npm run check`. */
const check: Part = {
  name: "check",
  covers: "format, lint, types, unused code, sizes",
  run: async () => ({ code: await foreground(["npm", "run", "--silent", "check"], { cwd: CHECKOUT }) }),
};

/** The parts of a run. */
function phasesOf(args: readonly string[], dir: string): readonly Phase[] {
  const { checkStep, toolchainStep } = newLocalFleet(dir, "local");
  const machine = prepared("machine", "requirements of the embedded cloud", [checkStep], dir);
  const toolchain = prepared("toolchain", "programs of the embedded cloud", [toolchainStep], dir);
  const tools = prepared("tools", "programs that only tests run", [testToolsStep], dir);
  if (args.length === 0)
    return [
      [
        [
          machine,
          check,
          projectPart("unit", "tests that start no program", { dir }),
          projectPart("integration", "tests that start programs", { dir }),
          toolchain,
          projectPart("story", "a fleet from its first start to its removal", { dir }),
        ],
      ],
    ];
  if (!args.includes(E2E))
    return [[[machine, toolchain, tools, { name: "tests", covers: args.join(" "), run: () => vitest(args, { dir }) }]]];
  const beside = (name: string, covers: string) => projectPart(name, covers, { dir, prefix: `${name.padEnd(8)} | ` });
  return [
    [[machine, toolchain, tools]],
    [
      [beside("e2e", "a hub and its spokes")],
      [beside("envtest", "parts with an API server or AWS's API alone"), beside("emulator", "the embedded cloud")],
    ],
  ];
}

await main(async () => {
  const args = process.argv.slice(2);
  if (args.includes(E2E) && args.length > 1)
    throw new Error("npm run test:e2e takes no arguments: choose tests with npm test -- --project <project> <file>");
  const folder = await temporaryFolder("fleet-tests", "local");
  const dir = join(folder, "instance");
  let parts: readonly PartResult[] = [];
  const code = await interruptible(folder, "local", async () => {
    parts = await runPhases(phasesOf(args, dir), (line) => console.log(line));
    return exitCode(parts);
  });
  if (process.env["FLEET_TEST_KEEP"] === "1") console.log(`The tests' instance stays in ${dir}`);
  else {
    if (code === 1 && existsSync(join(dir, "logs"))) {
      await rename(join(dir, "logs"), `${folder}-logs`);
      console.log(`The logs of the tests' instance are in ${folder}-logs`);
    }
    await removeTemporary(folder, "local");
  }
  console.log(closingLines(parts).join("\n"));
  return code;
});
