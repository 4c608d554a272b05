import { mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Copies the files of a folder, with the rights of new files: those of a read-only checkout can be changed in the copy.
 * @param skipped names that are left out, wherever they are
 * @param link is called with a symbolic link and its place in the copy; sockets, devices and the like are left out
 */
export function copyFiles(
  from: string,
  to: string,
  skipped: ReadonlySet<string>,
  link: (from: string, to: string) => void,
): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (skipped.has(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyFiles(source, target, skipped, link);
    else if (entry.isFile()) writeFileSync(target, readFileSync(source));
    else if (entry.isSymbolicLink()) link(source, target);
  }
}

/** Removes a directory that only this process uses. rmSync needs twice as many system calls: it expects other users. */
export function removeFiles(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeFiles(path);
    else unlinkSync(path);
  }
  rmdirSync(folder);
}
