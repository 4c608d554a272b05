/** The shared libraries that a program needs, out of a root folder: this machine's, or that of unpacked packages. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { linkage } from "./elf.ts";

/** Debian's names of the processors (https://wiki.debian.org/Multiarch/Tuples). */
const TUPLES: Readonly<Record<string, string>> = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };

/** Where a dynamic linker looks by default, here and on other distributions. */
const folders = (architecture: string) => [
  ...["/lib", "/usr/lib"].map((folder) => posix.join(folder, TUPLES[architecture] ?? "")),
  ...["/lib64", "/usr/lib64", "/lib", "/usr/lib"],
];

/**
 * What the program's image needs besides the program: path in the image to the file in `root`, the dynamic linker among them.
 * @throws for a library that is not there, and for a program or library of another processor
 */
export function libraries(program: string, root: string, architecture: string): Record<string, string> {
  const top = realpathSync(root);
  const found: Record<string, string> = {};
  const locate = (library: string, neededBy: string) => {
    const path = folders(architecture)
      .map((folder) => posix.join(folder, library))
      .find((candidate) => existsSync(join(top, candidate)));
    if (path === undefined)
      throw new Error(
        `${neededBy} needs the library ${library}, which is not in ${top}: looked in ${folders(architecture).join(", ")}`,
      );
    const source = realpathSync(join(top, path));
    if (!source.startsWith(join(top, "/"))) throw new Error(`${join(top, path)} leads out of ${top}, to ${source}`);
    return { path, source };
  };
  const read = (file: string) => {
    const linked = linkage(readFileSync(file), file);
    if (linked.architecture !== architecture)
      throw new Error(`${file} is for the processor ${linked.architecture ?? "of another kind"}, not ${architecture}`);
    return linked;
  };

  const { interpreter, needed } = read(program);
  if (interpreter === undefined) return found;
  const linker = basename(interpreter);
  found[interpreter] = locate(linker, program).source;
  const follow = (names: readonly string[], neededBy: string): void => {
    for (const name of names.filter((each) => each !== linker)) {
      const { path, source } = locate(name, neededBy);
      if (found[path]) continue;
      found[path] = source;
      follow(read(source).needed, source);
    }
  };
  follow(needed, program);
  return found;
}
