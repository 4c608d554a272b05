import { mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Repository } from "../../lib/names.ts";
import { check } from "../check/check.ts";
import { blastRadius } from "../diff/blast-radius.ts";
import { terminalText } from "../diff/markdown.ts";
import { workloadsTemplate } from "../fleet/folders.ts";
import { copyFiles } from "../render/copy.ts";
import { isFolder } from "../render/files.ts";
import type { Rule } from "../render/findings.ts";
import { type Build, kustomize } from "../render/kustomize.ts";
import { type Proposal, writeFiles } from "./files.ts";

/** What a change does to every cluster, before it is written. */

/** The programs of this machine that it needs. */
export interface Programs {
  readonly kustomize: () => Build;
}

export const programs: Programs = { kustomize };

/** Two folders with the repositories side by side: as they are, and as the change makes them. */
interface States {
  readonly before: string;
  readonly after: string;
}

/** What only a checkout of each repository has. */
const landmarks: Readonly<Record<Repository, string>> = {
  "gitops-system": join("platform", "api"),
  "gitops-workloads": workloadsTemplate,
};

/** The repository of which a folder is a checkout. */
export const repositoryIn = (folder: string): Repository | undefined =>
  (Object.keys(landmarks) as Repository[]).find((name) => isCheckout(name, folder));

const isCheckout = (repository: Repository, folder: string): boolean => isFolder(join(folder, landmarks[repository]));

/** Checkouts that a command line names, beside those that change. */
export type Beside = Partial<Record<Repository, string | undefined>>;

/** Whether clusters read the repository. */
const isRead = (proposal: Proposal): proposal is Proposal & { readonly repository: Repository } =>
  proposal.repository !== undefined;

/** The checkouts by repository: those that change, those that are named, and what lies beside the first. */
function checkoutsOf(proposals: readonly Proposal[], named: Beside): Map<Repository, string> {
  const beside = proposals.flatMap(({ checkout }) =>
    (Object.keys(landmarks) as Repository[]).map((name) => [name, join(dirname(checkout), name)] as const),
  );
  const own = proposals.filter(isRead).map(({ repository, checkout }) => [repository, checkout] as const);
  const other = Object.entries(named).filter((entry): entry is [Repository, string] => entry[1] !== undefined);
  return new Map([...beside, ...other, ...own].filter(([name, folder]) => isCheckout(name, folder)));
}

const notOfGit = new Set([".git", "node_modules", ".local"]);

async function withStates<T>(
  proposals: readonly Proposal[],
  named: Beside,
  use: (states: States) => Promise<T>,
): Promise<T> {
  const work = mkdtempSync(join(tmpdir(), "fleet-change-"));
  const states = { before: join(work, "before"), after: join(work, "after") };
  try {
    for (const [name, checkout] of checkoutsOf(proposals, named))
      for (const state of Object.values(states)) {
        mkdirSync(state, { recursive: true });
        copyFiles(checkout, join(state, name), notOfGit, (link, at) => symlinkSync(readlinkSync(link), at));
      }
    for (const { repository, files } of proposals.filter(isRead))
      await writeFiles(join(states.after, repository), files);
    return await use(states);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** helm would fetch both charts of every release, which takes longer than one waits before anything is written. */
const charts = {
  withoutHelm: "a dry run fetches no charts; once it is committed, fleet diff renders them with helm",
};

const labels = { before: "the checkout", after: "the change" };

const leftOut = (why: string): string => `What it does to each cluster is left out: ${why}.\n`;

/** What `fleet diff` says of a change; where it can't say it, why. */
export async function effectOf(
  proposals: readonly Proposal[],
  { fleet, beside = {} }: { readonly fleet?: string | undefined; readonly beside?: Beside },
  { kustomize }: Programs,
): Promise<string> {
  try {
    const build = kustomize();
    return await withStates(proposals, beside, async ({ before, after }) => {
      const report = await blastRadius({
        ...{ base: before, head: after, cwd: before, build, stacks: [], recorded: new Map(), charts },
        ...(fleet === undefined ? {} : { fleet }),
      });
      return terminalText({ ...report, base: { label: labels.before }, head: { label: labels.after } });
    });
  } catch (error) {
    return leftOut((error as Error).message);
  }
}

/** What `fleet check` finds of one rule on a cluster once a change is made, each as a line; or why that is not known. */
export async function findingsOf(
  proposals: readonly Proposal[],
  rule: Rule,
  cluster: string,
  { kustomize }: Programs,
): Promise<{ readonly lines: readonly string[] } | { readonly unknown: string }> {
  try {
    const build = kustomize();
    return await withStates(proposals, {}, async ({ after }) => {
      const found = check({ repos: after, build }).findings.filter(
        (finding) => finding.rule === rule && finding.clusters.some((name) => name.split("/").at(-1) === cluster),
      );
      return {
        lines: found.map(
          ({ place: { file, line }, problem, remedy }) => `${relative(after, file)}:${line}: ${problem}; ${remedy}`,
        ),
      };
    });
  } catch (error) {
    return { unknown: (error as Error).message };
  }
}
