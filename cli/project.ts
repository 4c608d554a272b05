import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describeProblems, type Problem } from "../lib/problems.ts";
import packageJson from "../package.json" with { type: "json" };
import { UsageError } from "./usage.ts";

/** The checkout of this project: its stacks, repos/ and history are what some commands work on, and the npm package has none of them. */

/** Version of this project, whose commands these are. */
export const { version } = packageJson;

function manifest(text: string): { readonly name?: string; readonly version?: string } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null; // whoever's it is, it is not ours
  }
}

/** The version of the project in a folder; undefined if it is no checkout of it. */
function versionIn(folder: string): string | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  const found = manifest(readFileSync(file, "utf8"));
  return found?.name === packageJson.name ? found?.version : undefined;
}

function checkoutAbove(folder: string): string | undefined {
  if (versionIn(folder) !== undefined) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : checkoutAbove(parent);
}

/**
 * Top folder of the checkout that these commands are in, or else of the one that they are called in; or the problem when there is none,
 * or when it is of another version: that has commands of its own.
 * @param otherwise what can be done without one
 */
export function foundProject(
  otherwise = "",
  own: string = import.meta.dirname,
  cwd: string = process.cwd(),
): string | Problem {
  const root = checkoutAbove(own) ?? checkoutAbove(cwd);
  const found = root === undefined ? undefined : versionIn(root);
  if (root !== undefined && found === version) return root;
  return {
    key: "the current folder",
    what:
      root === undefined
        ? `is in no checkout of ${packageJson.name}, whose stacks and files this command reads`
        : `is in a checkout of another version of ${packageJson.name}`,
    got: root === undefined ? cwd : `${root}, version ${found}`,
    allowed: `a folder in a checkout of version ${version}, which these commands are`,
    remedy:
      root === undefined
        ? `run it in one${otherwise}`
        : `run the commands of that checkout, or install those of its version${otherwise}`,
  };
}

/** The same folder. @throws UsageError with the problem */
export function projectRoot(...asked: Parameters<typeof foundProject>): string {
  const found = foundProject(...asked);
  if (typeof found === "string") return found;
  throw new UsageError(describeProblems("fleet", [found]));
}
