import { existsSync, statSync } from "node:fs";
import { describeProblems, type Problem, shown } from "../lib/problems.ts";
import { closest } from "./closest.ts";

/** A command was called wrongly: exit code 2, and nothing was changed. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** @throws UsageError that lists the problems, if there are any. */
export function refuse(command: string, problems: readonly Problem[]): void {
  if (problems.length > 0) throw new UsageError(describeProblems(`fleet ${command}`, problems));
}

/** Problems that are told at once: of an option whose value is missing or has another form, only that is said. */
export function together(first: readonly Problem[], then: readonly Problem[]): Problem[] {
  const known = new Set(first.map(({ key }) => key));
  return [...first, ...then.filter(({ key }) => !known.has(key))];
}

/** The problem of an option whose value is not one of the choices. */
export function choiceProblems(flag: string, value: string, allowed: readonly string[], remedy: string): Problem[] {
  if (allowed.includes(value)) return [];
  const similar = /[a-z]{3}/i.test(value) ? closest(value, allowed) : undefined;
  return [
    {
      key: flag,
      what: "has an unknown value",
      got: shown(value),
      allowed: allowed.join(", ") || "(none)",
      remedy: similar === undefined ? remedy : `did you mean ${similar}? If not, ${remedy}`,
    },
  ];
}

/** The problem of an option that names a folder which is not there. */
export function folderProblems(flag: string, path: string | undefined, what: string): Problem[] {
  if (path === undefined || (existsSync(path) && statSync(path).isDirectory())) return [];
  return [
    {
      key: flag,
      what: existsSync(path) ? "is not a folder" : "names a folder that does not exist",
      got: shown(path),
      allowed: what,
      remedy: "correct the path",
    },
  ];
}
