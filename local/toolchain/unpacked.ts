import { existsSync } from "node:fs";
import { realpath, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { quote } from "../instance/command.ts";
import { orMissing, readFolder } from "../instance/files.ts";
import { run } from "./run.ts";

// iptables looks for its extensions in the folder that it was built for, or in another; of a path it reads 256 bytes (libxtables/xtables.c).
const EXTENSIONS = "xtables";

/** Makes a command of an unpacked program: a link, or a script where it needs libraries or extensions from its package. */
export async function place(program: string, command: string, libraries: readonly string[]): Promise<void> {
  const extensions = libraries.map((folder) => join(folder, EXTENSIONS)).find((folder) => existsSync(folder));
  const extended = basename(program).startsWith("iptables");
  if (!extended && (await missingLibraries(program)).length === 0) return symlink(program, command);
  await expectLibraries(program, libraries);
  await writeFile(command, wrapper(program, libraries, extended ? extensions : undefined), { mode: 0o755 });
}

/** @throws when a program lacks a shared library, also with those in `libraries`. */
export async function expectLibraries(program: string, libraries: readonly string[]): Promise<void> {
  const missing = await missingLibraries(program, libraries);
  if (missing.length > 0)
    throw new Error(
      `${program} lacks shared libraries on this machine, also with those of its packages: ${missing.join("; ")}. ` +
        `Upgrade the machine to the release that apt's sources name, or install the package of ${basename(program)}`,
    );
}

/** A shell script that runs a program with its own libraries, and iptables with its extensions. */
export const wrapper = (program: string, libraries: readonly string[], extensions: string | undefined): string => {
  // An empty folder name in the list would be the working folder.
  const inherited = "$" + "{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}";
  return `#!/bin/sh
export LD_LIBRARY_PATH=${quote(libraries.join(":"))}"${inherited}"
${extensions === undefined ? "" : `exec 9<${quote(extensions)}\nexport XTABLES_LIBDIR=/proc/self/fd/9\n`}exec ${quote(program)} "$@"
`;
};

/** Folders below an unpacked root that hold shared libraries, for LD_LIBRARY_PATH. */
export async function libraryFolders(root: string): Promise<string[]> {
  const found: string[] = [];
  for (const base of ["lib", "usr/lib"])
    for (const folder of [base, ...((await readFolder(join(root, base))) ?? []).map((name) => join(base, name))]) {
      const names = (await readFolder(join(root, folder))) ?? [];
      if (names.some((name) => /\.so(\.|$)/.test(name))) found.push(join(root, folder));
    }
  return found;
}

/** Where an unpacked root has a program, whichever folder its package puts it in. @throws when it has none. */
export async function unpackedProgram(root: string, name: string): Promise<string> {
  for (const folder of ["usr/sbin", "sbin", "usr/bin", "bin"]) {
    const path = join(root, folder, name);
    // An absolute link leads out of the root, to another file or none.
    const real = await orMissing(realpath(path), "");
    if (real.startsWith(`${await realpath(root)}/`)) return path;
  }
  throw new Error(`the packages in ${root} have no program ${name}: the distribution has moved it to another package`);
}

/** The shared libraries that a program lacks on this machine; with `folders`, also when these are searched first. */
async function missingLibraries(program: string, folders: readonly string[] = []): Promise<string[]> {
  // ldd fails for a program without shared libraries, and says so.
  const told = await run(["sh", "-c", 'ldd "$1" 2>&1 || true', "sh", program], {
    env: folders.length === 0 ? {} : { LD_LIBRARY_PATH: folders.join(":") },
  });
  return told
    .split("\n")
    .filter((line) => line.includes("not found"))
    .map((line) => line.trim());
}
