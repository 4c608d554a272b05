import { createInterface } from "node:readline";

/** Lines that a person types at a terminal. */

/** Where a command asks. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
}

/** That of this process; its streams are opened when they are used. */
export const processTerminal: Terminal = {
  get input() {
    return process.stdin;
  },
  get output() {
    return process.stdout;
  },
  env: process.env,
};

/** The exit code of a command that Ctrl-C ends: 128 and the number of SIGINT, as shells have it. */
export const interruptedCode = 130;

/** The option of commands that ask. */
export const promptOptions = { "no-input": { type: "boolean", default: false } } as const;

/** How `--help` says what it does. */
export const promptHelp = `  --no-input             ask nothing: what is missing is an error. Otherwise it is asked for on a terminal, unless --dry-run is
                         given or CI is set`;

/** What of a command line says whether it asks. */
export interface PromptWish {
  readonly "dry-run": boolean;
  readonly "no-input": boolean;
}

/** Whether somebody is there to answer: a script that waits for an answer would wait forever. */
export function isInteractive({ input, output, env }: Terminal, wish: PromptWish): boolean {
  const isCi = !["", "0", "false"].includes(env["CI"] ?? "");
  return input.isTTY === true && output.isTTY === true && !isCi && !wish["dry-run"] && !wish["no-input"];
}

/** Ctrl-C was typed. */
export class Interrupted extends Error {
  override name = "Interrupted";
}

/** Reads lines, each after a prompt. */
export interface Lines {
  /**
   * @param choices what the tabulator key completes
   * @param several whether it completes the last of several words, not the whole line
   * @returns undefined at the end of the input
   * @throws Interrupted
   */
  next(prompt: string, choices: readonly string[], several: boolean): Promise<string | undefined>;
  /** @throws Interrupted when Ctrl-C was typed while nothing was asked */
  throwIfInterrupted(): void;
  close(): void;
}

export function linesOf({ input, output }: Terminal): Lines {
  let completed: readonly string[] = [];
  let hasSeveral = false;
  let isInterrupted = false;
  const reader = createInterface({
    ...{ input, output, terminal: true, historySize: 0 },
    completer: (typed: string) => {
      const begun = hasSeveral ? typed.slice(typed.search(/[^\s,]*$/)) : typed;
      return [completed.filter((choice) => choice.startsWith(begun)), begun];
    },
  });
  // Lines that are typed before they are asked for wait in the iterator.
  const typed = reader[Symbol.asyncIterator]();
  reader.once("SIGINT", () => {
    isInterrupted = true;
    reader.close();
  });
  const throwIfInterrupted = (): void => {
    if (isInterrupted) throw new Interrupted();
  };
  return {
    async next(prompt, choices, several) {
      throwIfInterrupted();
      completed = choices;
      hasSeveral = several;
      reader.setPrompt(prompt);
      reader.prompt();
      const { done, value } = await typed.next();
      throwIfInterrupted();
      return done === true ? undefined : value;
    },
    throwIfInterrupted,
    close: () => reader.close(),
  };
}
