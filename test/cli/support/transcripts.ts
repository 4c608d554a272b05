import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { machine } from "./wrong-input.ts";

/** A wrong command line, and the whole of what it must say. */
export interface Case {
  readonly line: string;
  readonly message: string;
}

/** The cases of a folder by file: each is a line after `$ `, then the message. */
export function casesIn(folder: string): Map<string, readonly Case[]> {
  const files = readdirSync(folder).sort();
  return new Map(
    files.map((file) => {
      const parts = readFileSync(join(folder, file), "utf8").split(/^\$ /m).slice(1);
      const cases = parts.map((part) => {
        const [line = "", ...message] = part.split("\n");
        return { line, message: message.join("\n").trim() };
      });
      return [basename(file, ".txt"), cases];
    }),
  );
}

/** Runs every case: it is refused with exit code 2 and exactly its message, and no file is written. */
export async function refusesAll(cases: readonly Case[]) {
  const { run, digest, remove } = await machine();
  afterAll(remove);
  const before = digest();
  test.each(cases)("$line", async ({ line, message }) => {
    expect(await run(line)).toEqual({ code: 2, message });
    expect(digest(), "files that were written").toBe(before);
  });
}
