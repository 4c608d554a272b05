import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { CommandError, run } from "../instance/command.ts";
import { OVERLAY_PROBE_PREFIX } from "../instance/folder.ts";
import { compare } from "../product.ts";
import { hasApt } from "./debian.ts";
import { goGroups } from "./go.ts";

/** The build tools that were found on this machine; a tool that isn't on PATH is undefined. */
export interface BuildTools {
  /** What `go env GOVERSION` says, such as `go1.26.8`. */
  readonly go: string | undefined;
  /** What `python3 --version` says. */
  readonly python: string | undefined;
  /** python3 can make virtual environments, or does with the pip that apt serves. */
  readonly venv: boolean;
  /** What `git --version` says. */
  readonly git: string | undefined;
  /** Why the kernel can't mount an overlay file system on the instance's disk; undefined when it can. */
  readonly overlayProblem: string | undefined;
}

/** Disk that a build from nothing takes: the Go build cache at its peak, modules, programs and images. Bytes. */
export const BUILD_DISK = 16 * 1024 ** 3;

// What the pinned awscli and ministack ask for.
const PYTHON_NEEDED = "3.10";
// The first with `merge-tree --write-tree`, by which a person's commits and a new content of repos/ are merged.
const GIT_NEEDED = "2.38";

/** The least Go release that builds every module of the toolchain: the newest of their go directives. */
export const goNeeded = (): string =>
  goGroups.map((group) => group.mod.go).reduce((a, b) => (compare(a, b) < 0 ? b : a));

/** All that is wrong with the build tools; empty when nothing is. A tool that isn't there is not judged here. */
export function toolProblems(tools: BuildTools, needed: string = goNeeded()): string[] {
  const tooOld = (name: string, found: string | undefined, least: string) =>
    found !== undefined &&
    compare(found, least) < 0 &&
    `${name} ${least} or newer is needed, found "${found.trim()}": install a newer one and put it first on PATH`;
  const problems = [
    tooOld("Go", tools.go, needed),
    tooOld("Python", tools.python, PYTHON_NEEDED),
    tooOld("git", tools.git, GIT_NEEDED),
    tools.python !== undefined &&
      !tools.venv &&
      "python3 can't make virtual environments (no module venv, or no ensurepip and no apt-get to take pip from): install its venv package, such as python3-venv",
    tools.overlayProblem !== undefined &&
      `containers need overlay mounts, and one on the instance's disk failed: ${tools.overlayProblem}. Put FLEET_LOCAL_DIR on a disk with ext4 or xfs, or load the kernel module overlay`,
  ];
  return problems.filter((problem) => problem !== false);
}

/** Looks at the build tools of this machine, and tries an overlay mount beside `instanceDir`. Leaves nothing behind. */
export async function findTools(instanceDir: string): Promise<BuildTools> {
  let disk = instanceDir;
  while (!existsSync(disk)) disk = dirname(disk);
  const [go, python, git, ensurepip, venv, overlay] = await Promise.all([
    attempt("go", "env", "GOVERSION"),
    attempt("python3", "--version"),
    attempt("git", "--version"),
    attempt("python3", "-c", "import ensurepip, venv"),
    attempt("python3", "-c", "import venv"),
    attempt("unshare", "--mount", "sh", "-c", OVERLAY_PROBE, "sh", disk),
  ]);
  return {
    go: go.output,
    python: python.output,
    git: git.output,
    venv: ensurepip.output !== undefined || (venv.output !== undefined && hasApt()),
    overlayProblem: overlay.problem,
  };
}

const OVERLAY_PROBE = `
dir=$(mktemp -d "$1/${OVERLAY_PROBE_PREFIX}XXXXXX") && trap 'umount "$dir/merged" 2>/dev/null; rm -rf "$dir"' EXIT
mkdir "$dir/lower" "$dir/upper" "$dir/work" "$dir/merged"
mount -t overlay overlay -o "lowerdir=$dir/lower,upperdir=$dir/upper,workdir=$dir/work" "$dir/merged"`;

async function attempt(...argv: [string, ...string[]]): Promise<{ output?: string; problem?: string }> {
  try {
    return { output: await run(argv) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { problem: error.stderr.trim() || error.message };
  }
}
