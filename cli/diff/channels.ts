import { existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { parseAllDocuments } from "yaml";
import { removeFiles } from "../render/copy.ts";
import type { Manifest } from "../render/files.ts";
import type { Rendered } from "../render/fleet.ts";
import type { Build } from "../render/kustomize.ts";
import { type CrossplaneSpec, takes } from "../render/spoke-steps.ts";
import type { Workspace } from "../render/workspace.ts";
import { extract, fileAt, historyOf } from "./git.ts";
import type { Side } from "./side.ts";

/** Which revision of the Composition a Spoke uses: a change reaches a channel only when it is promoted to it. */

const crossplaneOf = ({ spec }: Manifest): CrossplaneSpec => (spec?.crossplane ?? {}) as CrossplaneSpec;

/** Whether the Spoke stays at its revision until somebody sets another one by hand. */
export const isManual = (spoke: Manifest): boolean => crossplaneOf(spoke).compositionUpdatePolicy === "Manual";

/** The path in its Git repository of what was rendered from a workspace. */
function pathInGit({ systemPath, repos }: Side, workspace: Workspace, { place }: Rendered): string {
  const inSystem = relative(join(repos, "gitops-system"), workspace.original(place([]).file));
  return join(systemPath, inSystem);
}

/** Whether a Composition comes from a file's: that of a ring has the ring's name behind the one in the file. */
const isSame = ({ metadata: { name } }: Manifest, { metadata: { name: inFile } }: Manifest): boolean =>
  name === inFile || name.startsWith(`${inFile}-`);

/** The Composition of a name among YAML documents. */
const compositionIn = (text: string, composition: Rendered): Manifest | undefined =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .find((each): each is Manifest => each?.kind === "Composition" && isSame(composition.manifest, each));

/** The Composition of a file at a commit as Flux applies it: with what its folder's kustomization.yaml adds, such as the roles of add-ons. */
function builtAt({ top = "", systemPath }: Side, build: Build, revision: string, path: string, composition: Rendered) {
  const work = mkdtempSync(join(tmpdir(), "fleet-composition-"));
  try {
    const files = join(work, "files");
    mkdirSync(files);
    extract(top, revision, files);
    const folder = join(files, dirname(path));
    const text = existsSync(join(folder, "kustomization.yaml"))
      ? build(folder, { checkout: join(files, systemPath), reachesOut: false })
      : readFileSync(join(files, path), "utf8");
    return compositionIn(text, composition);
  } finally {
    removeFiles(work);
  }
}

export interface History {
  readonly side: Side;
  readonly workspace: Workspace;
  readonly build: Build;
}

/** The Composition at the last commit whose revision the Spoke would use; undefined if Git does not have one. */
export function earlier(
  { side, workspace, build }: History,
  composition: Rendered,
  spoke: Manifest,
): Manifest | undefined {
  const { top, commit } = side;
  if (top === undefined || commit === undefined) return undefined;
  // Other files may have changed between a commit of this file and the next one: the last state before that counts.
  let last = commit;
  for (const { revision, path } of historyOf(top, commit, pathInGit(side, workspace, composition))) {
    const found = compositionIn(fileAt(top, revision, path) ?? "", composition);
    if (found && takes(spoke, found)) return builtAt(side, build, last, path, composition);
    last = `${revision}^`;
  }
  return undefined;
}
