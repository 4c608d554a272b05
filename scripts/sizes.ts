import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * `npm run check:sizes` prints the tracked lines of each area, without lock and sum files, and fails above a limit of size-limits.json.
 * An area without paths has all files that no other area has. A higher limit needs its reason in the message of the same commit.
 */

export interface Limits {
  readonly total: number;
  readonly areas: Readonly<Record<string, { readonly limit: number; readonly paths?: readonly string[] }>>;
}

/** An area, or all of them, with its lines. */
export interface Size {
  readonly name: string;
  readonly lines: number;
  readonly limit: number;
}

const generated = /(^|\/)(package-lock\.json|go\.sum)$/;

const isIn = (file: string, path: string): boolean => file === path || file.startsWith(`${path}/`);

/** Lines by area and in total. The longest of the areas' paths decides. @param files lines by path */
export function sizesOf(files: ReadonlyMap<string, number>, { areas, total }: Limits): Size[] {
  const paths = Object.entries(areas).flatMap(([name, area]) => (area.paths ?? []).map((path) => ({ name, path })));
  const [rest = ""] = Object.keys(areas).filter((name) => areas[name]?.paths === undefined);
  const lines: Record<string, number> = {};
  for (const [file, count] of files) {
    const [found] = paths.filter(({ path }) => isIn(file, path)).sort((a, b) => b.path.length - a.path.length);
    const name = found?.name ?? rest;
    lines[name] = (lines[name] ?? 0) + count;
  }
  const sizes = Object.entries(areas).map(([name, { limit }]) => ({ name, lines: lines[name] ?? 0, limit }));
  return [...sizes, { name: "all", lines: sizes.reduce((sum, size) => sum + size.lines, 0), limit: total }];
}

/** Sizes above their limits, each as a sentence with what to do. */
export const excesses = (sizes: readonly Size[]): string[] =>
  sizes
    .filter(({ lines, limit }) => lines > limit)
    .map(
      ({ name, lines, limit }) =>
        `${name}: got ${lines} tracked lines, at most ${limit} are allowed. Remove ${lines - limit}, or raise the limit in ` +
        "scripts/size-limits.json and give the reason in the same commit",
    );

/** Lines of every tracked file of a repository, as `wc -l` counts them. */
export function trackedLines(root: string): Map<string, number> {
  const listed = execFileSync("git", ["-C", root, "ls-files", "-z"], { encoding: "utf8", maxBuffer: 1 << 26 });
  const files = listed.split("\0").filter((path) => path !== "" && !generated.test(path));
  return new Map(
    files
      .map((path) => [path, join(root, path)] as const)
      .filter(([, file]) => existsSync(file) && lstatSync(file).isFile())
      .map(([path, file]) => [path, readFileSync(file).reduce((sum, byte) => sum + (byte === 10 ? 1 : 0), 0)]),
  );
}

/** The sizes as lines of text, with their limits. */
export function tableOf(sizes: readonly Size[]): string {
  const width = Math.max(...sizes.map(({ name }) => name.length));
  const row = (name: string, lines: string, limit: string) =>
    `${name.padEnd(width)}  ${lines.padStart(7)}  ${limit.padStart(7)}`;
  const rows = sizes.map(({ name, lines, limit }) => row(name, String(lines), String(limit)));
  return [row("area", "lines", "limit"), ...rows].join("\n");
}

if (import.meta.main) {
  const limits = JSON.parse(readFileSync(join(import.meta.dirname, "size-limits.json"), "utf8")) as Limits;
  const sizes = sizesOf(trackedLines(join(import.meta.dirname, "..")), limits);
  console.log(tableOf(sizes));
  const problems = excesses(sizes);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
