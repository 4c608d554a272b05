import { homedir } from "node:os";
import type { Problem } from "../../lib/problems.ts";
import { quoted } from "../shell.ts";
import {
  Interrupted,
  interruptedCode,
  isInteractive,
  type Lines,
  linesOf,
  type PromptWish,
  type Terminal,
} from "./terminal.ts";

/** Asks at a terminal for what a command line lacks. */

/** A question, for one argument or option. */
export interface Question {
  /** `<name>` of an argument or `--name` of an option, as problems call it. */
  readonly key: string;
  /** What is asked for, in a few words. */
  readonly text: string;
  /** What it may be, or what others are; the command judges the answer. */
  readonly choices?: readonly string[];
  /** What an empty answer stands for; default: there is none, and the question is asked again. */
  readonly fallback?: string | undefined;
  /** Whether an empty answer leaves it out. */
  readonly optional?: true;
  /** Whether several may be given, separated by spaces or commas. */
  readonly several?: true;
  /** Whether it is a file: no shell replaces the ~ of an answer. */
  readonly file?: true;
}

/** What a command asks. @typeParam Line its command line, read */
export interface Questionnaire<Line> {
  /** The name of the command. */
  readonly command: string;
  /** Reads a command line: once, and again with every answer. */
  readonly read: (argv: readonly string[]) => Line;
  /** In their order, each for the command line so far; undefined where there is nothing to ask. */
  readonly questions: readonly ((line: Line) => Question | undefined | Promise<Question | undefined>)[];
  /** Everything that is wrong with a command line, as far as it shows before anything is asked elsewhere. */
  readonly judge: (line: Line) => Promise<readonly Problem[]>;
  /** Whether a problem is only that nobody has given the value yet, and there is a question for it. */
  readonly isAnswerable: (problem: Problem, line: Line) => boolean;
}

/** A command line as it is typed, and what it says. */
interface Typed<Line> {
  readonly argv: readonly string[];
  readonly line: Line;
}

/** What a line answers; nothing where it has no text. */
const answersIn = ({ several, file, fallback = "" }: Question, line: string, home: string): string[] => {
  const text = file ? line.trim().replace(/^~(?=\/)/, () => home) : line.trim();
  const words = several ? text.split(/[\s,]+/) : [text];
  return words.some(Boolean) ? words.filter(Boolean) : [fallback].filter(Boolean);
};

/** A command line with the answers to a question. */
function withAnswers(argv: readonly string[], { key }: Question, values: readonly string[]): string[] {
  if (!key.startsWith("--")) return [...values, ...argv];
  // What stands behind -- is no option any more.
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  return argv.toSpliced(end, 0, ...values.map((value) => `${key}=${value}`));
}

function promptOf({ text, choices = [], optional, fallback = optional && "none" }: Question): string {
  const offered = choices.length === 0 ? "" : ` (${choices.join(", ")})`;
  return `${text}${offered}${fallback === undefined ? "" : ` [${fallback}]`}: `;
}

const told = ({ key, what, got, allowed, remedy }: Problem): string =>
  `  ${key}: ${what}\n       got:     ${got}\n       allowed: ${allowed}\n       do:      ${remedy}\n`;

/** The command line with an answer that the command accepts; undefined at the end of the input. */
async function asked<Line>(
  question: Question,
  argv: readonly string[],
  { read, judge, isAnswerable }: Questionnaire<Line>,
  lines: Lines,
  { output, env }: Terminal,
): Promise<Typed<Line> | undefined> {
  for (;;) {
    const answer = await lines.next(promptOf(question), question.choices ?? [], question.several === true);
    if (answer === undefined) {
      output.write("\n");
      return undefined;
    }
    const answers = answersIn(question, answer, env["HOME"] ?? homedir());
    if (answers.length === 0 && question.optional) return { argv, line: read(argv) };
    if (answers.length === 0) {
      output.write("  It needs an answer; Ctrl-C ends, and nothing is written.\n");
      continue;
    }
    // On the command line it would be an option.
    if (!question.key.startsWith("--") && answers.some((answer) => answer.startsWith("-"))) {
      output.write("  It can't begin with a hyphen: give another answer.\n");
      continue;
    }
    const next = withAnswers(argv, question, answers);
    const line = read(next);
    const wrong = (await judge(line)).filter((problem) => !isAnswerable(problem, line));
    if (wrong.length === 0) return { argv: next, line };
    output.write(wrong.map(told).join(""));
  }
}

/**
 * Asks for what is missing, as long as nothing else is wrong with the command line: that is refused first, as without a terminal.
 * @returns the whole command line, or what there is of it at the end of the input
 * @throws Interrupted at Ctrl-C
 */
export async function completed<Line>(
  typed: Typed<Line>,
  questionnaire: Questionnaire<Line>,
  terminal: Terminal,
): Promise<readonly string[]> {
  const { command, questions, judge, isAnswerable } = questionnaire;
  const problems = await judge(typed.line);
  if (problems.some((problem) => !isAnswerable(problem, typed.line))) return typed.argv;
  let lines: Lines | undefined;
  let full = typed;
  let isLeftOut = false;
  try {
    for (const ask of questions) {
      const question = await ask(full.line);
      if (question === undefined) continue;
      lines ??= linesOf(terminal);
      const next = await asked(question, full.argv, questionnaire, lines, terminal);
      if (next === undefined) return full.argv;
      isLeftOut ||= next.argv === full.argv;
      full = next;
      lines.throwIfInterrupted();
    }
    if (lines !== undefined)
      terminal.output.write(
        `Without questions: fleet ${[command, ...full.argv, ...(isLeftOut ? ["--no-input"] : [])].map(quoted).join(" ")}\n`,
      );
    return full.argv;
  } finally {
    lines?.close();
  }
}

/** The command line with what a person adds at the terminal; as it is where nobody is there or asks for help. @throws Interrupted */
export async function askedAt<Line extends { readonly values: PromptWish & { readonly help?: boolean | undefined } }>(
  terminal: Terminal,
  argv: readonly string[],
  questionnaire: Questionnaire<Line>,
): Promise<readonly string[]> {
  const line = questionnaire.read(argv);
  if (line.values.help === true || !isInteractive(terminal, line.values)) return argv;
  return completed({ argv, line }, questionnaire, terminal);
}

/** Runs a command that may ask. @returns its exit code, or that of Ctrl-C */
export async function orInterrupted(terminal: Terminal, command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    terminal.output.write("\nNothing was written.\n");
    return interruptedCode;
  }
}
