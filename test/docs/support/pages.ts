import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..", "..", "..");
export const text = (file: string): string => readFileSync(join(root, file), "utf8");

/** Every page of the repository. Golden files of tests are left out: their links start elsewhere. */
export const pages: readonly string[] = execFileSync(
  "git",
  ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "*.md"],
  { cwd: root, encoding: "utf8" },
)
  .split("\n")
  .filter((file) => file !== "" && !file.includes("/golden/"))
  .sort();

/** A fenced block: what stands behind the fence (`sh aws`), and its text without the indentation of a list. */
export interface Block {
  readonly info: string;
  readonly code: string;
}

const fenced = /^( *)```([^\n]*)\n(.*?)^ *```$/gms;

export const blocks = (markdown: string): Block[] =>
  [...markdown.matchAll(fenced)].map(([, indent = "", info = "", code = ""]) => ({
    info: info.trim(),
    code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }));

/** Command lines of blocks, with those that go on in the next line put together. */
export const lines = (code: string): string[] =>
  code
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "");

const prose = (markdown: string): string => markdown.replaceAll(fenced, "");

/** Targets of a page's links and pictures. */
export const links = (markdown: string): string[] =>
  [...prose(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);

/** Anchors of a page's headings, as GitHub makes them: one that was there already gets a number. */
export function anchors(markdown: string): string[] {
  const seen = new Map<string, number>();
  return [...prose(markdown).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}
