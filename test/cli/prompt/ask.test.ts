import { describe, expect, test } from "vitest";
import { completed, orInterrupted, type Question, type Questionnaire } from "../../../cli/prompt/ask.ts";
import { isInteractive } from "../../../cli/prompt/terminal.ts";
import type { Problem } from "../../../lib/problems.ts";
import { ctrlC, ctrlD, enter, typing } from "../support/terminal.ts";

const colour: Question = { key: "--colour", text: "Colour", choices: ["red", "green"], fallback: "red" };
const name: Question = { key: "<name>", text: "Name" };
const sizes: Question = { key: "--size", text: "Sizes", several: true };

const flag = (argv: readonly string[], key: string) => argv.find((word) => word.startsWith(`${key}=`))?.split("=")[1];
const nameIn = (argv: readonly string[]) => argv.find((word) => !word.startsWith("--"));
const problem = (key: string, got = "(nothing)"): Problem => ({
  ...{
    key,
    got,
    what: got === "(nothing)" ? "is missing" : "has an unknown value",
    allowed: "red, green",
    remedy: "choose one",
  },
});

const isGiven = (key: string, argv: readonly string[]) =>
  (key === "<name>" ? nameIn(argv) : flag(argv, key)) !== undefined;

/** Of a command that takes `paint <name> --colour red`. */
const questionnaire = (...questions: readonly Question[]): Questionnaire<readonly string[]> => ({
  read: (argv) => argv,
  command: "paint",
  questions: questions.map((question) => (argv) => (isGiven(question.key, argv) ? undefined : question)),
  judge: async (argv) => [
    ...(isGiven("<name>", argv) ? [] : [problem("<name>")]),
    ...(["red", "green"].includes(flag(argv, "--colour") ?? "") ? [] : [problem("--colour", flag(argv, "--colour"))]),
    ...(isGiven("--wrong", argv) ? [problem("--wrong", "x")] : []),
  ],
  isAnswerable: ({ key }, argv) => questions.some((question) => question.key === key) && !isGiven(key, argv),
});

const ask = (answers: readonly string[], argv: readonly string[], ...questions: readonly Question[]) => {
  const at = typing(answers);
  return { ...at, full: completed({ argv, line: argv }, questionnaire(...questions), at.terminal) };
};

describe("what a command line lacks is asked for on a terminal", () => {
  test("with the choices and what Enter takes, and the whole line is shown for the next time", async () => {
    const { full, shown } = ask([`my door${enter}`, enter], [], name, colour);
    expect(await full).toEqual(["my door", "--colour=red"]);
    expect(shown()).toContain("Name: ");
    expect(shown()).toContain("Colour (red, green) [red]: ");
    expect(shown()).toContain("Without questions: fleet paint 'my door' --colour=red\n");
  });

  test("and nothing else: what is there is not asked for", async () => {
    const { full, shown } = ask([`door${enter}`], ["--colour=green"], name, colour);
    expect(await full).toEqual(["door", "--colour=green"]);
    expect(shown()).not.toContain("Colour");
    const complete = ask([], ["door", "--colour=green"], name, colour);
    expect(await complete.full).toEqual(["door", "--colour=green"]);
    expect(complete.shown()).toBe("");
  });

  test("before what stands behind two hyphens, which is no option", async () => {
    const { full } = ask([`green${enter}`], ["--", "door"], colour);
    expect(await full).toEqual(["--colour=green", "--", "door"]);
  });

  test("again after a wrong answer, with what is wrong with it", async () => {
    const { full, shown, left } = ask([`blue${enter}`, `green${enter}`], ["door"], name, colour);
    expect(await full).toEqual(["door", "--colour=green"]);
    expect(shown()).toContain("  --colour: has an unknown value\n       got:     blue\n       allowed: red, green\n");
    expect(left()).toEqual([]);
  });

  test("again after an empty answer, where nothing stands for it", async () => {
    const { full, shown } = ask([enter, `  ${enter}`, `door${enter}`], ["--colour=red"], name, colour);
    expect(await full).toEqual(["door", "--colour=red"]);
    expect(shown().match(/It needs an answer/g)).toHaveLength(2);
  });

  test("again after an answer that would be an option, where an argument is asked for", async () => {
    const answers = ["-h", "--colour=green", "door", "-green", "green"].map((answer) => answer + enter);
    const { full, shown, left } = ask(answers, [], name, colour);
    expect(await full).toEqual(["door", "--colour=green"]);
    expect(shown().match(/It can't begin with a hyphen/g)).toHaveLength(2);
    expect(shown()).toContain("  --colour: has an unknown value\n       got:     -green\n");
    expect(left()).toEqual([]);
  });

  test("with several answers in one line, where several may be given", async () => {
    const { full, shown } = ask([` , ${enter}`, `s, m  xl,${enter}`], ["door", "--colour=red"], sizes);
    expect(await full).toEqual(["door", "--colour=red", "--size=s", "--size=m", "--size=xl"]);
    expect(shown()).toContain("It needs an answer");
  });

  test("and left out after an empty answer, where it is optional, which the line for the next time shows", async () => {
    const { full, shown } = ask([enter], ["door", "--colour=red"], { ...sizes, optional: true });
    expect(await full).toEqual(["door", "--colour=red"]);
    expect(shown()).toContain("Sizes [none]: ");
    expect(shown()).toContain("Without questions: fleet paint door --colour=red --no-input\n");
  });

  test("and the tabulator key completes a choice", async () => {
    const { full } = ask([`gr\t${enter}`], ["door"], name, colour);
    expect(await full).toEqual(["door", "--colour=green"]);
  });

  test("completed word by word where several may be given", async () => {
    const both: Question = { ...sizes, choices: ["small", "large"] };
    const { full } = ask([`sm\t, la\t${enter}`], ["door", "--colour=red"], both);
    expect(await full).toEqual(["door", "--colour=red", "--size=small", "--size=large"]);
  });

  test("one after another also when a person types ahead", async () => {
    const { full } = ask([`door${enter}green${enter}`], [], name, colour);
    expect(await full).toEqual(["door", "--colour=green"]);
  });

  test("but not while anything else is wrong: nobody answers questions to be refused afterwards", async () => {
    for (const argv of [["--wrong=x"], ["--colour=blue"]]) {
      const { full, shown } = ask([], argv, name, colour);
      expect(await full).toEqual(argv);
      expect(shown()).toBe("");
    }
  });

  test("and the end of the input leaves the rest missing", async () => {
    const { full, shown } = ask([`door${enter}`, ctrlD], [], name, colour);
    expect(await full).toEqual(["door"]);
    expect(shown()).not.toContain("Without questions");
  });
});

describe("Ctrl-C", () => {
  test.each([
    ["at the first question", [ctrlC]],
    ["after an answer", [`door${enter}`, ctrlC]],
    ["in the middle of a line", [`do${ctrlC}`]],
  ])("%s ends the command with exit code 130, and it says that nothing was written", async (_, answers) => {
    const { full, terminal, shown } = ask(answers, [], name, colour);
    expect(await orInterrupted(terminal, async () => (await full).length)).toBe(130);
    expect(shown()).toMatch(/\nNothing was written\.\n$/);
  });

  test("while the last answer is judged counts too", async () => {
    const at = typing([`door${enter}`]);
    const slow = questionnaire(name);
    const judge = async (argv: readonly string[]) => {
      if (nameIn(argv) !== undefined) {
        (at.terminal.input as unknown as NodeJS.WritableStream).write(ctrlC);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return [];
    };
    const full = completed({ argv: [], line: [] }, { ...slow, judge }, at.terminal);
    expect(await orInterrupted(at.terminal, async () => (await full).length)).toBe(130);
  });

  test("is no word for other errors", async () => {
    const failed = orInterrupted(typing([]).terminal, () => Promise.reject(new Error("the disk is full")));
    await expect(failed).rejects.toThrow("the disk is full");
  });
});

describe("nobody is asked", () => {
  const wish = { "dry-run": false, "no-input": false };
  test.each([
    ["when input or output is no terminal", { input: false }, wish],
    ["when the output is a file or a pipe", { output: false }, wish],
    ["in a pipeline, which says CI", { env: { CI: "true" } }, wish],
    ["with --dry-run", {}, { ...wish, "dry-run": true }],
    ["with --no-input", {}, { ...wish, "no-input": true }],
  ])("%s", (_, at, given) => expect(isInteractive(typing([], at).terminal, given)).toBe(false));

  test("else somebody is, also where CI is off", () => {
    for (const env of [{}, { CI: "" }, { CI: "false" }])
      expect(isInteractive(typing([], { env }).terminal, wish)).toBe(true);
  });
});
