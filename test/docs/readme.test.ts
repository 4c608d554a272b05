import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { blocks, lines, root, text } from "./support/pages.ts";

const commands = (markdown: string): string[] => blocks(markdown).flatMap(({ code }) => lines(code));

describe("the README", () => {
  const calls = commands(text("README.md")).flatMap((line) => {
    const [, name, rest = ""] = /(?:^|npx )fleet ([a-z-]+)(.*)$/.exec(line) ?? [];
    return name === undefined
      ? []
      : [{ name, flags: [...rest.matchAll(/ (--[a-z-]+)/g)].map(([, flag = ""]) => flag) }];
  });

  test.each([...new Set(calls.map(({ name }) => name))])("names only flags that fleet %s has", (name) => {
    const help = execFileSync(process.execPath, [join(root, "cli", "main.ts"), name, "--help"], { encoding: "utf8" });
    const words = help.split(/[\s,[\]()]+/);
    for (const flag of calls.filter((call) => call.name === name).flatMap(({ flags }) => flags))
      expect(words).toContain(flag);
  });

  test("watches one kind at a time, as kubectl does", () => {
    const watches = commands(text("README.md")).filter((line) => /kubectl .* (--watch|-w)\b/.test(line));
    expect(watches.length).toBeGreaterThan(0);
    for (const line of watches) expect(line).not.toMatch(/ get [^ ]*,/);
  });

  test("commits the stack's file before pulumi up, after Pulumi has written its key into it", () => {
    const lines = commands(text("README.md"));
    const order = [/^pulumi stack init /, /^git add stacks\//, /^pulumi up$/].map((start) =>
      lines.findIndex((line) => start.test(line)),
    );
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  test("leads from fleet init to an application in the order in which one does it", () => {
    const names = calls.map(({ name }) => name);
    const order = ["init", "doctor", "new-cluster", "onboard"].map((name) => names.indexOf(name));
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });
});
