import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { commands } from "../../cli/commands.ts";
import { descriptions } from "../../cli/descriptions.ts";
import { version } from "../../cli/project.ts";
import { fleet } from "../../cli/run.ts";
import { casesIn, refusesAll } from "./support/transcripts.ts";

/** Wrong command lines that are refused before any program is started; wrong-input.integration.test.ts has the others. */
const cases = casesIn(join(import.meta.dirname, "transcripts"));

describe("a wrong command line is refused with exit code 2 and every mistake in it, and nothing is written:", async () => {
  await refusesAll([...cases.values()].flat());
});

test("there are wrong command lines of every command, and of fleet itself", () => {
  // init asks git for the identity of the commits.
  const expected = ["fleet", ...Object.keys(commands).filter((name) => name !== "init")].sort();
  expect([...cases.keys()].sort()).toEqual(expected);
  expect([...cases.values()].flat().length).toBeGreaterThan(100);
});

describe("fleet without a command, or asked for help", () => {
  const printed = async (...argv: string[]) => {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const code = await fleet(argv);
    const text = write.mock.calls.map(([part]) => String(part)).join("");
    write.mockRestore();
    return { code, text };
  };

  test.each([[[]], [["--help"]], [["-h"]], [["help"]]])("lists the commands and succeeds: %j", async (argv) => {
    const { code, text } = await printed(...argv);
    expect(code).toBe(0);
    for (const [name, { summary }] of Object.entries(descriptions))
      expect(text).toContain(`  ${name.padEnd(17)} ${summary}\n`);
  });

  test("says its version", async () => {
    expect(await printed("--version")).toEqual({ code: 0, text: `fleet ${version}\n` });
  });

  test("says more about a command in both ways, whatever else is on the line", async () => {
    for (const argv of [
      ["help", "check"],
      ["check", "--help"],
      ["check", "--colour", "-h"],
    ])
      expect(await printed(...argv)).toEqual({ code: 0, text: descriptions["check"]?.help });
  });
});
