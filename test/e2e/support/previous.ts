import { existsSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { git, root, succeed } from "../../support/process.ts";

/** The project as somebody has it who came with the previous version and takes this one: a clone of its own. */

const lockFile = "package-lock.json";
/** Where the version stands, first of all in each; tests hold the three together. */
const versioned = [
  "package.json",
  "functions/spoke/package.json",
  "repos/gitops-system/platform/crossplane/packages/function.yaml",
] as const;
/** Before every version that is released. */
const earliest = "0.0.0";

export interface ProjectClone {
  readonly folder: string;
  /** The commit of the previous version. */
  readonly from: string;
  /** Version of the composition function that this version brings. */
  readonly version: string;
  /** Checks this version out: the commit that is checked out here, without what no commit has. */
  readonly takeThis: () => Promise<void>;
  readonly remove: () => void;
}

const read = (folder: string, path: string): string => readFileSync(join(folder, path), "utf8");
const versionIn = (folder: string): string => JSON.parse(read(folder, "package.json")).version;

/**
 * Gives a checkout the packages that its lock file asks for: those of this one, where both files are the same. What is linked already stays,
 * because programs of the checkout may be running.
 */
async function install(folder: string): Promise<void> {
  const [own, packages] = [root, folder].map((of) => join(of, "node_modules")) as [string, string];
  const isSame = read(folder, lockFile) === read(root, lockFile);
  if (isSame && existsSync(packages) && realpathSync(packages) === realpathSync(own)) return;
  rmSync(packages, { recursive: true, force: true });
  if (isSame) symlinkSync(own, packages);
  else await succeed("npm", ["ci"], { cwd: folder });
}

/**
 * Commits another version number. A hub gets its composition function by it, and commits after a release have the same one until the next.
 */
async function renumber(folder: string): Promise<void> {
  const version = versionIn(folder);
  for (const path of versioned) {
    const text = read(folder, path);
    if (!text.includes(version)) throw new Error(`${path} of the previous version does not say ${version}`);
    writeFileSync(join(folder, path), text.replace(version, earliest));
  }
  await git(["commit", "--quiet", "--message", `Call this version ${earliest}`, "--", ...versioned], folder);
}

/** Clones the project and checks the previous version out, a tag. */
export async function previousProject(previous: string): Promise<ProjectClone> {
  const present = (await git(["rev-parse", "HEAD"], root)).trim();
  // Without links above it: the commands compare it with the folder that they run in.
  const folder = realpathSync(await mkdtemp(join(tmpdir(), "fleet-project-")));
  const checkOut = (commit: string) => git(["checkout", "--quiet", "--detach", commit], folder);
  await git(["clone", "--quiet", "--no-checkout", root, folder]);
  await checkOut(present);
  const version = versionIn(folder);
  await checkOut(previous);
  if (versionIn(folder) === version) await renumber(folder);
  await install(folder);
  return {
    folder,
    from: (await git(["rev-parse", "HEAD"], folder)).trim(),
    version,
    takeThis: async () => {
      await checkOut(present);
      await install(folder);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
