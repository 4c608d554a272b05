import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheRoot, lock } from "./cache.ts";
import { ensureCharts } from "./charts.ts";
import { cniDir, ensureDebianPackages, SYSTEM_COMMANDS } from "./debian.ts";
import { ensureGoGroup, type GoGroup, goEntry, goGroups, mainGroup, moduleDir, removeBuildCache } from "./go.ts";
import { ensureImages, type Image } from "./images.ts";
import { Reporter } from "./progress.ts";
import { ensurePython } from "./python.ts";

export { chartVersions } from "./charts.ts";
export { type Image, type ImageName, imageReferences } from "./images.ts";

/** Everything that the local stack runs, built or installed. */
export interface Toolchain {
  /**
   * Absolute path of a program: one of ours (`pulumi`, `kubelet`, `helm`, `etcd`, `kubeseal` …), of the Python environment
   * (`aws`, `ministack`), or of the system (`containerd`, `ctr`, `nft` …). @throws for any other name.
   */
  bin(name: string): string;
  /** Names of all programs that `bin` knows. */
  readonly programs: readonly string[];
  /** The images that nodes import. */
  images(): readonly Image[];
  /** Folder of the chart mirror: a static Helm repository, index.yaml and archives. */
  readonly charts: string;
  /** Folder of the Python environment with ministack and awscli. */
  readonly python: string;
  /** Folder of the CNI plugins. */
  readonly cni: string;
  /** Folder of a Go module's source, for its CRDs and the like. @throws for a module that no go.mod here requires. */
  module(path: string): string;
}

const PYTHON_PROGRAMS = ["aws", "ministack"] as const;

/**
 * Builds or installs what is not cached yet and returns where everything is: seconds when all is there, minutes when not.
 * Safe to kill and to call from several processes at once: they take turns, and each goes on from what is done.
 * @param write takes lines of progress (default: stderr)
 */
export async function ensureToolchain(
  write: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<Toolchain> {
  const root = cacheRoot();
  const held = await lock(root, () => write(`toolchain: another run is building in ${root}; waiting for it`));
  try {
    const report = new Reporter(goGroups.length + 4, write);
    const groups = new Map<GoGroup, { dir: string; key: string }>();
    await report.part("system packages", ensureDebianPackages);
    const python = await report.part("Python environment", (say) => ensurePython(root, say));
    for (const group of goGroups) {
      const dir = await report.part(`Go programs (${group.name})`, (say) => ensureGoGroup(root, group, say));
      groups.set(group, { dir, key: (await goEntry(root, group)).key });
    }
    await removeBuildCache(root);
    const programsOf = (group: GoGroup) => groups.get(group) ?? fail(`The group ${group.name} is not built`);
    const images = await report.part("images", (say) => ensureImages(root, programsOf, say));
    const helm = join(programsOf(mainGroup).dir, "helm");
    const charts = await report.part("charts", (say) => ensureCharts(root, helm, say));

    const paths = new Map<string, string>();
    for (const [group, { dir }] of groups) for (const name of group.programs) paths.set(name, join(dir, name));
    for (const name of PYTHON_PROGRAMS) paths.set(name, join(python, "bin", name));
    for (const name of SYSTEM_COMMANDS) paths.set(name, systemPath(name));
    const cni = cniDir() ?? fail("No CNI plugins in /usr/lib/cni or /opt/cni/bin; install containernetworking-plugins");
    for (const [name, path] of paths)
      if (!existsSync(path)) fail(`${name} is missing: ${path}. Remove ${root} and run again.`);
    return {
      bin: (name) =>
        paths.get(name) ?? fail(`The toolchain has no program ${name}; it has ${[...paths.keys()].sort().join(", ")}`),
      programs: [...paths.keys()].sort(),
      images: () => images,
      charts,
      python,
      cni,
      module: moduleDir,
    };
  } finally {
    held.release();
  }
}

function systemPath(name: string): string {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  try {
    return execFileSync("sh", ["-c", 'command -v "$1"', "sh", name], { env, encoding: "utf8" }).trim();
  } catch {
    return fail(`${name} is not on PATH. Install the package that has it (on Debian the toolchain does so itself).`);
  }
}

function fail(message: string): never {
  throw new Error(message);
}
