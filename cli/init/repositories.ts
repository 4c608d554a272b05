import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Repository } from "../../lib/names.ts";
import { complaint, type Run } from "../doctor/process.ts";
import { fleetFiles } from "../fleet/folders.ts";
import { type Files, readFiles } from "../folder.ts";
import { projectCopy, sampleApp, withoutPins, withPipelines } from "./pipelines.ts";
import type { InitRequest } from "./request.ts";

/**
 * The Git repositories that a fleet begins with. Their content is in repos/ of the project, one folder each; the local stack publishes
 * the same.
 */

/** Where the content of a repository is. */
export const contentFolder = (root: string, name: string): string => join(root, "repos", name);

/** Names of all repositories in repos/. */
export const contentNames = async (root: string): Promise<string[]> =>
  (await readdir(join(root, "repos"), { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const branch = "main";

/** A new repository. */
export interface Fresh {
  readonly name: string;
  /** URL to which it will be pushed. */
  readonly url: string;
  readonly files: Files;
}

/** Content of a repository: in a checkout only files that are in Git, without what somebody has left there. */
async function contentOf(root: string, name: string, run: Run): Promise<Files> {
  const files = await readFiles(contentFolder(root, name));
  if (!existsSync(join(root, ".git"))) return files; // unpacked from an archive
  const tracked = new Set((await git(run, contentFolder(root, name), ["ls-files", "-z"])).split("\0"));
  return Object.fromEntries(Object.entries(files).filter(([path]) => tracked.has(path)));
}

/** The repositories that a request makes. */
export async function freshRepositories(
  root: string,
  request: Pick<InitRequest, "fleet" | "systemUrl" | "workloadsUrl" | "sampleAppUrl" | "projectUrl" | "owners">,
  run: Run,
): Promise<Fresh[]> {
  const { fleet, systemUrl, workloadsUrl, sampleAppUrl } = request;
  const project = await projectCopy(root, request.projectUrl, run);
  const fresh = async (name: Repository | typeof sampleApp, url: string, more: Files = {}): Promise<Fresh> => ({
    name,
    url,
    files: { ...withPipelines(name, await contentOf(root, name, run), request, project), ...more },
  });
  return [
    await fresh("gitops-system", systemUrl, await fleetFiles(contentFolder(root, "gitops-system"), fleet)),
    await fresh("gitops-workloads", workloadsUrl),
    ...(sampleAppUrl === undefined ? [] : [await fresh(sampleApp, sampleAppUrl)]),
  ];
}

/** Temporary path at which a repository is made; the next run begins there again. */
const partialOf = (folder: string) => join(dirname(folder), `.${basename(folder)}.partial`);

/** Without this option git invents an identity from the machine's name (git-config, user.useConfigOnly). */
const byName = ["-c", "user.useConfigOnly=true"];

/** Runs git in a folder. @throws Error with git's message */
async function git(run: Run, folder: string, args: readonly string[]): Promise<string> {
  const ended = await run("git", ["-C", folder, ...byName, ...args]);
  if (ended?.code !== 0)
    throw new Error(
      `git ${args[0]} failed in ${folder}: ${ended === undefined ? "git is not on PATH" : complaint(ended)}`,
    );
  return ended.stdout.trim();
}

/** Makes a Git repository with one commit, whole or not at all. */
export async function writeRepository(
  folder: string,
  { name, url, files }: Fresh,
  message: string,
  run: Run,
): Promise<void> {
  const partial = partialOf(folder);
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(partial, path)), { recursive: true });
      await writeFile(join(partial, path), text);
    }
    await git(run, partial, ["init", "--quiet", `--initial-branch=${branch}`]);
    await git(run, partial, ["remote", "add", "origin", url]);
    // Not affected by the user's own ignore file.
    await git(run, partial, ["add", "--all", "--force"]);
    await git(run, partial, ["commit", "--quiet", "-m", `Begin ${name}`, "-m", message]);
    await rename(partial, folder); // fails if something was created there meanwhile
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Whether anything exists at a repository's path, apart from an empty folder. */
export const isThere = (folder: string): boolean => existsSync(folder) && readdirSync(folder).length > 0;

/** How an existing repository differs from what would be written. Additional files belong to the fleet and don't count. */
export async function repositoryDifferences(folder: string, { url, files }: Fresh, run: Run): Promise<string[]> {
  const remote = existsSync(join(folder, ".git"))
    ? await run("git", ["-C", folder, "config", "--get", "remote.origin.url"])
    : undefined;
  const origin = remote?.stdout.trim() ?? "";
  const ofGit =
    remote === undefined
      ? ["it is not a Git repository"]
      : origin === url
        ? []
        : [`origin is ${origin || "not set"}, would be ${url}`];
  const ofFiles = Object.entries(files).map(async ([path, text]) => {
    const file = join(folder, path);
    if (!existsSync(file)) return [`${path} is missing`];
    return withoutPins(await readFile(file, "utf8")) === withoutPins(text) ? [] : [`${path} differs`];
  });
  return [...ofGit, ...(await Promise.all(ofFiles)).flat()];
}

/** The folder itself, or the nearest existing one above it. */
const nearest = (folder: string): string =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? folder : nearest(dirname(folder));

/**
 * What the Git identity for commits below `folder` lacks; undefined if it is complete. It is read in a temporary repository there,
 * because the project's checkout may have an identity that the new repositories don't have.
 */
export async function identityComplaint(folder: string, run: Run): Promise<string | undefined> {
  const asked = await mkdtemp(join(nearest(folder), ".fleet-init-"));
  try {
    for (const args of [
      ["init", "--quiet"],
      ...["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map((who) => ["var", who]),
    ]) {
      const ended = await run("git", ["-C", asked, ...byName, ...args]);
      if (ended === undefined) return "git is not on PATH";
      if (ended.code !== 0) return complaint(ended);
    }
    return undefined;
  } finally {
    await rm(asked, { recursive: true });
  }
}
