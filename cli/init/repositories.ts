import { existsSync, readdirSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { complaint, type Run } from "../doctor/process.ts";
import { fleetFiles } from "../fleet-folders.ts";
import { type Files, readFiles } from "../folder.ts";
import type { InitRequest } from "./request.ts";

/** The Git repositories that a fleet begins with. Their content is in repos/ of the project, one folder each; the local stack publishes the same. */

/** Where the content of a repository is. */
export const contentFolder = (root: string, name: string): string => join(root, "repos", name);

/** Names of all repositories that there is content for. */
export const contentNames = async (root: string): Promise<string[]> =>
  (await readdir(join(root, "repos"), { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

/** The repository of the application that shows how one is made. */
export const sampleApp = "payment-app-manifests";

const branch = "main";

/** A repository as it is to begin. */
export interface Fresh {
  readonly name: string;
  /** Where it is to be pushed to. */
  readonly url: string;
  readonly files: Files;
}

/** The repositories that a request makes. */
export async function freshRepositories(
  root: string,
  {
    fleet,
    systemUrl,
    workloadsUrl,
    sampleAppUrl,
  }: Pick<InitRequest, "fleet" | "systemUrl" | "workloadsUrl" | "sampleAppUrl">,
): Promise<Fresh[]> {
  const fresh = async (name: string, url: string, more: Files = {}): Promise<Fresh> => ({
    name,
    url,
    files: { ...(await readFiles(contentFolder(root, name))), ...more },
  });
  return [
    await fresh("gitops-system", systemUrl, await fleetFiles(contentFolder(root, "gitops-system"), fleet)),
    await fresh("gitops-workloads", workloadsUrl),
    ...(sampleAppUrl === undefined ? [] : [await fresh(sampleApp, sampleAppUrl)]),
  ];
}

/** Where a repository is made; the next run begins anew there. */
const partialOf = (folder: string) => join(dirname(folder), `.${basename(folder)}.partial`);

/** git in a folder; @throws what it complained about. */
async function git(run: Run, folder: string, args: readonly string[]): Promise<string> {
  const ended = await run("git", ["-C", folder, ...args]);
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
    // Whatever the user's own ignore file says.
    await git(run, partial, ["add", "--all", "--force"]);
    await git(run, partial, ["commit", "--quiet", "-m", `Begin ${name}`, "-m", message]);
    await rename(partial, folder); // fails when there is something meanwhile
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Whether there is something in a repository's place: an empty folder is nothing. */
export const isThere = (folder: string): boolean => existsSync(folder) && readdirSync(folder).length > 0;

/** What a repository that is there has otherwise than it would be written. What it has beyond that is the fleet's own. */
export async function repositoryDifferences(folder: string, { url, files }: Fresh, run: Run): Promise<string[]> {
  const remote = existsSync(join(folder, ".git"))
    ? await run("git", ["-C", folder, "config", "--get", "remote.origin.url"])
    : undefined;
  const origin = remote?.stdout.trim() ?? "";
  const ofGit =
    remote === undefined
      ? ["it is no Git repository"]
      : origin === url
        ? []
        : [`origin is ${origin || "not set"}, would be ${url}`];
  const ofFiles = Object.entries(files).map(async ([path, text]) => {
    const file = join(folder, path);
    if (!existsSync(file)) return [`${path} is not there`];
    return (await readFile(file, "utf8")) === text ? [] : [`${path} is another one`];
  });
  return [...ofGit, ...(await Promise.all(ofFiles)).flat()];
}

/**
 * What is missing of an identity to commit with; undefined when there is one. git would make one up from the machine's name
 * otherwise (git-config, user.useConfigOnly).
 */
export async function identityComplaint(run: Run): Promise<string | undefined> {
  for (const who of ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"]) {
    const ended = await run("git", ["-c", "user.useConfigOnly=true", "var", who]);
    if (ended === undefined) return "git is not on PATH";
    if (ended.code !== 0) return complaint(ended);
  }
  return undefined;
}
