import { commitOf, git, gitOutput } from "../diff/git.ts";
import { filledIn, pipelinesGuide } from "../init/pipelines.ts";
import type { Sides } from "./revisions.ts";

/**
 * The files of repos/ with placeholders, which fleet init filled in. Both releases are filled in with what the fleet's file says before
 * they are merged, so that only what the release changes is a change.
 */

/** Texts by path; undefined for a file that is left out. */
export type Filling = Readonly<Record<string, string | undefined>>;

type Values = Readonly<Record<string, string>>;

const placeholder = /__([a-zA-Z]+)__/g;
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** What a text made from a template has in the place of its placeholders; the first line that fits says it. */
function valuesOf(template: string, text: string): Values {
  const lines = template.split("\n").filter((line) => line.search(placeholder) >= 0);
  return Object.fromEntries(
    lines.toReversed().flatMap((line) => {
      const names = [...line.matchAll(placeholder)].map(([, name]) => name as string);
      const pattern = line
        .split(/__[a-zA-Z]+__/)
        .map(escaped)
        .join("(.+?)");
      const values = new RegExp(`^${pattern}$`, "m").exec(text)?.slice(1) ?? [];
      return values.map((value, index) => [names[index] as string, value] as const);
    }),
  );
}

/** A template with the values that are known; other placeholders stay. */
const filled = (template: string, values: Values): string =>
  template.replaceAll(placeholder, (whole, name: string) => values[name] ?? whole);

/** A file of a commit or tree, to the last character; undefined if it is not there. */
const textAt = (folder: string, object: string): string | undefined =>
  git(folder, "cat-file", "-e", object).ok ? gitOutput(folder, ["cat-file", "blob", object]) : undefined;

/** Whether the fleet's pin of the project is one that the release replaces. */
function isOlder({ project, to }: Sides, pinned: string): boolean {
  const known = commitOf(project, pinned);
  return known !== undefined && git(project, "merge-base", "--is-ancestor", known, to).ok;
}

interface Filled {
  readonly base: string | undefined;
  readonly theirs: string | undefined;
  readonly notes: readonly string[];
}

function fillingOf(path: string, sides: Sides): Filled {
  const { project, checkout, content, from, to, version } = sides;
  const [base, theirs] = [from, to].map((commit) => textAt(project, `${commit}:${content}/${path}`));
  const ours = textAt(checkout, `HEAD:${path}`);
  if (ours === undefined)
    return {
      ...{ base: undefined, theirs: undefined },
      notes:
        theirs === undefined || theirs === base
          ? []
          : [
              `${path}: the release ${base === undefined ? "adds" : "changes"} it, and this repository has none: left out (${pipelinesGuide})`,
            ],
    };
  const values = { ...valuesOf(theirs ?? "", ours), ...valuesOf(base ?? "", ours) };
  const pinned = values["commit"];
  const isRaised = pinned !== undefined && pinned !== to && isOlder(sides, pinned);
  const raised = isRaised ? { ...values, commit: to, version } : values;
  const after = theirs && filled(theirs, raised);
  const open = [...new Set(after?.match(placeholder) ?? [])];
  return {
    base: base && filled(base, values),
    theirs: after,
    notes: [
      ...(isRaised
        ? [`${path}: runs commit ${to.slice(0, 12)} of the project, which must be pushed to your copy of it`]
        : []),
      ...(pinned !== undefined && pinned !== to && !isRaised
        ? [
            `${path}: the commit of the project that it pins, ${pinned.slice(0, 12)}, is not one before the release: left as it is`,
          ]
        : []),
      ...(open.length > 0
        ? [`${path}: what belongs in the place of ${open.join(", ")} is not known: look at it (${pipelinesGuide})`]
        : []),
    ],
  };
}

/** The files that fleet init filled in, as both releases have them for this fleet, and what a person has to know about them. */
export function fillings(sides: Sides): { base: Filling; theirs: Filling; notes: readonly string[] } {
  const all = filledIn.map((path) => ({ path, ...fillingOf(path, sides) }));
  return {
    base: Object.fromEntries(all.map(({ path, base }) => [path, base])),
    theirs: Object.fromEntries(all.map(({ path, theirs }) => [path, theirs])),
    notes: all.flatMap(({ notes }) => notes),
  };
}
