import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How a program is run on files that somebody else wrote. */

/** Runs the program; it needs no more than what is in `folder`. */
export type Run = (args: readonly string[], folder: string) => SpawnSyncReturns<string>;

/** Nothing of this process's environment, in which credentials may be: kustomize has been known to put variables into ConfigMaps. */
const options = { encoding: "utf8", maxBuffer: 2 ** 28, env: {} } as const;

/** Without confinement. */
export const free =
  (program: string): Run =>
  (args) =>
    spawnSync(program, args, options);

/**
 * An empty root folder with the program and the folder, at its own path; gone with the namespace.
 * $1: the root folder; $2: the program; $3: the folder.
 */
const script = `
mount -t tmpfs tmpfs "$1"
mkdir -p "$1$3"
mount --bind "$3" "$1$3"
: > "$1/program"
mount --bind "$2" "$1/program"
root=$1
shift 3
exec chroot "$root" /program "$@"
`;

function confined(program: string): Run {
  const isRoot = process.getuid?.() === 0;
  const namespaces = ["--mount", "--net", ...(isRoot ? [] : ["--map-root-user"])];
  return (args, folder) => {
    const root = mkdtempSync(join(tmpdir(), "fleet-root-"));
    try {
      const command = ["sh", "-euc", script, "sh", root, program, folder, ...args];
      return spawnSync("unshare", [...namespaces, ...command], {
        ...options,
        env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
      });
    } finally {
      rmdirSync(root);
    }
  };
}

/**
 * Linux namespaces in which the program sees the folder, itself and no network; undefined where the system does not let this user
 * make them, or where the program does not run alone (it is a script, or linked to libraries).
 */
export function confinement(program: string): Run | undefined {
  if (process.platform !== "linux") return undefined;
  const run = confined(program);
  const empty = mkdtempSync(join(tmpdir(), "fleet-empty-"));
  try {
    return run(["help"], empty).status === 0 ? run : undefined;
  } finally {
    rmdirSync(empty);
  }
}
