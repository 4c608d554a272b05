import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { Terminal } from "../../../cli/prompt/terminal.ts";

export const ctrlC = "\u0003";
export const ctrlD = "\u0004";
export const enter = "\r";

/** A terminal at which nobody sits but a test, which types each answer when it has been asked for. */
export function typing(
  answers: readonly string[],
  { input: isInput = true, output: isOutput = true, env = {} as NodeJS.ProcessEnv } = {},
): { terminal: Terminal; shown: () => string; left: () => readonly string[] } {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const left = [...answers];
  /** What arrives at once is pasted, and a tabulator in it completes nothing. */
  const type = ([key, ...more]: readonly string[]): void => {
    if (key === undefined) return;
    setImmediate(() => {
      input.write(key);
      type(more);
    });
  };
  let all = "";
  let unread = "";
  output.on("data", (chunk: Buffer) => {
    const text = stripVTControlCharacters(chunk.toString());
    all += text;
    unread += text;
    if (!/: $/.test(unread)) return;
    unread = "";
    const answer = left.shift();
    if (answer !== undefined) type(answer.split(/(\t)/).filter(Boolean));
  });
  return {
    terminal: {
      input: Object.assign(input, { isTTY: isInput }),
      output: Object.assign(output, { isTTY: isOutput }),
      env,
    },
    shown: () => all,
    left: () => left,
  };
}
