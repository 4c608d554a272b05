import { join, relative } from "node:path";
import { parseAllDocuments } from "yaml";
import type { Manifest } from "../render/files.ts";
import type { Rendered } from "../render/fleet.ts";
import type { Workspace } from "../render/workspace.ts";
import { fileAt, historyOf } from "./git.ts";
import type { Side } from "./side.ts";

/** Which revision of the Composition a Spoke uses: a change reaches a channel only when it is promoted to it. */

interface CrossplaneSpec {
  readonly compositionUpdatePolicy?: string;
  readonly compositionRevisionSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
}

const crossplaneOf = ({ spec }: Manifest): CrossplaneSpec => (spec?.crossplane ?? {}) as CrossplaneSpec;

/** Whether the Spoke stays at its revision until somebody sets another one by hand. */
export const isManual = (spoke: Manifest): boolean => crossplaneOf(spoke).compositionUpdatePolicy === "Manual";

/** Whether the Spoke would use a revision with the labels of `composition`. */
export function takes(spoke: Manifest, composition: Manifest): boolean {
  const labels = crossplaneOf(spoke).compositionRevisionSelector?.matchLabels ?? {};
  return Object.entries(labels).every(([name, value]) => composition.metadata.labels?.[name] === value);
}

/** The path in its Git repository of what was rendered from a workspace. */
function pathInGit({ systemPath, repos }: Side, workspace: Workspace, { place }: Rendered): string {
  const inSystem = relative(join(repos, "gitops-system"), workspace.original(place([]).file));
  return join(systemPath, inSystem);
}

/** Whether a Composition comes from a file's: that of a ring has the ring's name behind the one in the file. */
const isSame = ({ metadata: { name } }: Manifest, { metadata: { name: inFile } }: Manifest): boolean =>
  name === inFile || name.startsWith(`${inFile}-`);

/** The Composition at the last commit whose revision the Spoke would use; undefined if Git does not have one. */
export function earlier(
  side: Side,
  workspace: Workspace,
  composition: Rendered,
  spoke: Manifest,
): Manifest | undefined {
  const { top, commit } = side;
  if (top === undefined || commit === undefined) return undefined;
  for (const { revision, path } of historyOf(top, commit, pathInGit(side, workspace, composition))) {
    const text = fileAt(top, revision, path);
    const found = parseAllDocuments(text ?? "")
      .map((document) => document.toJS() as Manifest | null)
      .find((each) => each?.kind === "Composition" && isSame(composition.manifest, each));
    if (found && takes(spoke, found)) return found;
  }
  return undefined;
}
