import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { machine } from "./wrong-input.ts";

const block = /^(.*)\n +got: +(.*)\n +allowed: (.*)\n +do: +(.*)$/s;

/** The problems that `fleet` prints, each as `key: what | got | allowed | do`; any other message as it is. */
function problemsIn(line: string, message: string): readonly string[] {
  const [heading = "", ...blocks] = message.split(/\n {2}\d+\. /);
  if (blocks.length === 0) return [heading];
  const count = blocks.length === 1 ? "1 problem" : `${blocks.length} problems`;
  expect(heading).toBe(`${count} in ${line.split(" ", 2).join(" ")}, nothing was changed:`);
  return blocks.map((text) => block.exec(text)?.slice(1).join(" | ") ?? text);
}

/** What runs lines that `fleet` rejects with exit code 2 and without writing a file; returns their messages. */
export function rejecting(): (line: string) => Promise<string> {
  const at = {} as Awaited<ReturnType<typeof machine>>;
  beforeAll(async () => void Object.assign(at, await machine()));
  afterAll(() => at.remove());
  return async (line) => {
    const before = at.digest();
    const { code, message } = await at.run(line);
    expect({ code, files: at.digest() }, line).toEqual({ code: 2, files: before });
    return message;
  };
}

/** What runs lines that `fleet` rejects, and returns their problems. */
export function rejectingLines(): (line: string) => Promise<readonly string[]> {
  const rejected = rejecting();
  return async (line) => problemsIn(line, await rejected(line));
}

/** Each end of a line that begins with `start` has exactly its problems, and no file is written. */
export function rejectsLines(start: string, ends: Readonly<Record<string, string | readonly string[]>>): void {
  describe(`rejects ${start}`, () => {
    const problemsOf = rejectingLines();
    test.each(Object.entries(ends))("%s", async (end, problems) => {
      expect(await problemsOf(`${start} ${end}`)).toEqual([problems].flat());
    });
  });
}
