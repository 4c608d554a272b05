import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { foldersIn } from "../fleet/folders.ts";
import { filesBelow } from "../render/files.ts";
import { environmentTools } from "./folders.ts";
import { openVersions, otherThanVersions, versionsFile } from "./versions.ts";

/** What of an environment's tools is its own, and no promotion brings. */

const isVersions = (file: string, environment: string): boolean =>
  join(environmentTools(environment), file) === versionsFile(environment);

/** Whether a file of two environments differs in more than versions. */
function differs(checkout: string, file: string, from: string, to: string): boolean {
  const paths = [from, to].map((environment) => join(checkout, environmentTools(environment), file));
  if (!paths.every((path) => existsSync(path))) return true;
  if (!isVersions(file, to)) return new Set(paths.map((path) => readFileSync(path, "utf8"))).size > 1;
  const [theirs, own] = [from, to].map((environment) => openVersions(checkout, environment));
  // One that can't be read is a problem of its own.
  if (theirs === undefined || own === undefined || "remedy" in theirs || "remedy" in own) return false;
  return !isDeepStrictEqual(otherThanVersions(theirs), otherThanVersions(own));
}

/** Files in which an environment differs from another one, but for versions and add-ons that only the other one offers. */
export function ownFiles(checkout: string, from: string, to: string): string[] {
  const folder = (environment: string) => join(checkout, environmentTools(environment));
  const files = [from, to].flatMap((environment) =>
    filesBelow(folder(environment)).map((file) => relative(folder(environment), file)),
  );
  const offered = foldersIn(folder(from)).filter((name) => !foldersIn(folder(to)).includes(name));
  return [...new Set(files)]
    .filter((file) => !offered.includes(file.split("/")[0] ?? "") && differs(checkout, file, from, to))
    .map((file) => join(environmentTools(to), file))
    .sort();
}
