import { existsSync, mkdirSync, readdirSync, readlinkSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { projectRoot } from "../project.ts";
import { copyFiles } from "../render/copy.ts";
import { isBelow } from "../render/inside.ts";
import { UsageError } from "../usage.ts";
import { commitOf, extract, git, topOf } from "./git.ts";

/** One of the two states that are compared, as files. */
export interface Side {
  /** As the user named it. */
  readonly label: string;
  /** Undefined for a folder. */
  readonly commit?: string;
  /** Top folder of the Git repository with the commit. */
  readonly top?: string;
  /** Folder with the files. */
  readonly root: string;
  /** Folder that contains the checkouts of the repositories. */
  readonly repos: string;
  /** Path of gitops-system in the repository that the commit is of: "" when it is that repository. */
  readonly systemPath: string;
  /** Folder with the project's own composition function; undefined if the files contain none. */
  readonly project?: string;
}

export interface SideOptions {
  /** Folder in which the command runs. */
  readonly cwd: string;
  /** Empty folder for the files of this side. */
  readonly work: string;
  /** Folder with checkouts of the repositories that are not compared. */
  readonly others?: string;
}

const system = "gitops-system";
const isSystem = (folder: string) => existsSync(join(folder, "platform", "api"));

/** Not with `recursive` of readdirSync, which follows links to directories. */
const linksBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? linksBelow(path) : entry.isSymbolicLink() ? [path] : [];
  });

/** A link to the outside would put files of this machine into the comparison, which a pull request shows to everybody. */
function refuseLinksOutside(root: string, label: string): void {
  const inside = realpathSync(root);
  for (const path of linksBelow(root)) {
    const target = existsSync(path) ? realpathSync(path) : undefined;
    if (target !== undefined && isBelow(inside, target)) continue;
    throw new UsageError(
      `${label}: the symbolic link ${relative(root, path)} leads ${target === undefined ? "nowhere" : "out of the files that are compared"}; remove it, or replace it by a copy`,
    );
  }
}

/** Not of the files that a commit has. */
const skipped = new Set([".git", "node_modules", ".local"]);

const copy = (from: string, to: string): void =>
  copyFiles(from, to, skipped, (link, at) => symlinkSync(readlinkSync(link), at));

function files(
  spec: string,
  { cwd, work }: SideOptions,
): Pick<Side, "commit" | "top" | "root"> & { readonly name: string } {
  const root = join(work, "files");
  mkdirSync(root, { recursive: true });
  const top = topOf(cwd);
  const isPath = /^(\.{0,2}\/|\.{1,2}$)/.test(spec);
  const commit = top !== undefined && !isPath ? commitOf(top, spec) : undefined;
  if (top !== undefined && commit !== undefined) {
    extract(top, commit, root);
    const { ok, stdout } = git(top, "remote", "get-url", "origin");
    return { commit, top, root, name: basename(ok ? stdout : top).replace(/\.git$/, "") };
  }
  const folder = resolve(cwd, spec);
  if (!existsSync(folder))
    throw new UsageError(
      `${spec} is neither a revision of ${top === undefined ? "a Git repository (the command does not run in one)" : top} nor a folder; git fetch it, or name a folder`,
    );
  copy(folder, root);
  return { root, name: basename(folder) };
}

/** Puts the one repository that is compared beside the others. */
function beside(root: string, name: string, { work, others }: SideOptions, label: string): string {
  const repos = join(work, "repos");
  if (others !== undefined)
    for (const entry of readdirSync(others, { withFileTypes: true }))
      if (entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== name)
        copy(join(others, entry.name), join(repos, entry.name));
  copy(root, join(repos, name));
  if (isSystem(join(repos, system))) return repos;
  throw new UsageError(
    `${label} has neither repos/${system}, nor ${system}, nor is it ${system} itself (platform/api): name the folder with the checkouts of the other repositories by --repos`,
  );
}

function layout(root: string, name: string, options: SideOptions, label: string): Pick<Side, "repos" | "systemPath"> {
  for (const inside of ["repos", "."])
    if (isSystem(join(root, inside, system))) return { repos: join(root, inside), systemPath: join(inside, system) };
  return { repos: beside(root, isSystem(root) ? system : name, options, label), systemPath: "" };
}

/**
 * The files of a Git revision or of a folder; a path that begins with `.` or `/` is a folder.
 * @throws UsageError
 */
export function openSide(spec: string, options: SideOptions): Side {
  const { root, name, ...from } = files(spec, options);
  refuseLinksOutside(root, spec);
  const place = layout(root, name, options, spec);
  const hasFunction = existsSync(join(root, "functions", "spoke", "handler.ts"));
  if (hasFunction) {
    rmSync(join(root, "node_modules"), { recursive: true, force: true });
    symlinkSync(join(projectRoot(), "node_modules"), join(root, "node_modules"));
  }
  return { label: spec, ...from, root, ...place, ...(hasFunction ? { project: root } : {}) };
}
