import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";

/** Whether `path` is `folder` or below it, by the names alone. */
export const isBelow = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
};

/**
 * The path that `target`, named in a file of `folder`, leads to; undefined when that is outside `checkout`, or one of the links on
 * the way is. An absolute path is outside: it names a file of the machine.
 */
export function inside(checkout: string, folder: string, target: string): string | undefined {
  const path = join(folder, target);
  if (isAbsolute(target) || !isBelow(checkout, path)) return undefined;
  if (!existsSync(path)) return path;
  const real = realpathSync.native(path);
  // Mostly there is no link on the way.
  return real === path || isBelow(realpathSync.native(checkout), real) ? path : undefined;
}
