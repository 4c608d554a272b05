import { fileAt } from "../diff/git.ts";

interface Section {
  readonly heading: string;
  readonly entries: readonly string[];
}

/** The sections of a changelog with their entries: list items, each with the lines that belong to it. */
const sectionsOf = (text: string): Section[] =>
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = "", ...lines] = section.split("\n");
      const entries = lines
        .join("\n")
        .split(/^(?=- )/m)
        .map((entry) => entry.trim());
      return { heading, entries: entries.filter((entry) => entry.startsWith("- ")) };
    });

/** What the changelog says of the later commit and not of the earlier one, whatever the section is called by now. */
function changesBetween(before: string, after: string): string {
  const known = new Set(sectionsOf(before).flatMap(({ entries }) => entries));
  return sectionsOf(after)
    .map(({ heading, entries }) => ({ heading, added: entries.filter((entry) => !known.has(entry)) }))
    .filter(({ added }) => added.length > 0)
    .map(({ heading, added }) => `## ${heading}\n\n${added.join("\n")}`)
    .join("\n\n");
}

/** What a user notices of the releases between two commits of the project. */
export const changelogOf = (project: string, from: string, to: string): string =>
  changesBetween(fileAt(project, from, "CHANGELOG.md") ?? "", fileAt(project, to, "CHANGELOG.md") ?? "");
