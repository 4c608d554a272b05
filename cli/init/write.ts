import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import { identityProblem } from "../change/commit.ts";
import type { Run } from "../doctor/process.ts";
import { readProject, stackPath } from "../fleet/stack-config.ts";
import { refuse, together } from "../usage.ts";
import { problemsOf } from "./problems.ts";
import {
  freshRepositories,
  identityComplaint,
  isThere,
  repositoryDifferences,
  writeRepository,
} from "./repositories.ts";
import type { InitRequest } from "./request.ts";
import { stackDifferences, stackText, writeNew } from "./stack.ts";

/** A part of a new fleet: a repository, or the stack's file. */
export interface Part {
  readonly path: string;
  /** Whether this run wrote it; what existed stays as it is. */
  readonly made: boolean;
  /** How what exists differs from what would be written. */
  readonly differences: readonly string[];
}

/** The commit's message about the origin of the content: the project's revision, if the checkout is a Git repository. */
async function provenance(root: string, run: Run): Promise<string> {
  const ended = await run("git", ["-C", root, "describe", "--tags", "--always", "--dirty"]);
  return `From eks-gitops-fleet${ended?.code === 0 ? ` ${ended.stdout.trim()}` : ""}, by fleet init.`;
}

/**
 * Writes the parts of a new fleet that don't exist: the repositories, each with one commit, and the stack's file.
 * @param root the project's checkout.
 * @param told problems of the command line.
 * @throws UsageError that lists every problem, before anything is written.
 */
export async function init(
  root: string,
  request: InitRequest,
  run: Run,
  told: readonly Problem[] = [],
): Promise<Part[]> {
  const project = await readProject(root);
  const complaint = await identityComplaint(request.folder, run);
  const problems = await problemsOf(root, request, project);
  refuse("init", together(told, [...problems, ...(complaint === undefined ? [] : [identityProblem(complaint)])]));

  await mkdir(request.folder, { recursive: true });
  const message = await provenance(root, run);
  const parts: Part[] = [];
  for (const fresh of await freshRepositories(root, request, run)) {
    const path = join(request.folder, fresh.name);
    const made = !isThere(path);
    if (made) await writeRepository(path, fresh, message, run);
    parts.push({ path, made, differences: made ? [] : await repositoryDifferences(path, fresh, run) });
  }

  const path = stackPath(project, request.stack);
  const text = await stackText(request, project);
  const made = !existsSync(path);
  if (made) writeNew(path, text);
  return [...parts, { path, made, differences: made ? [] : await stackDifferences(path, text, project) }];
}
