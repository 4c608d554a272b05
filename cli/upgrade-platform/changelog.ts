import { fileAt } from "../diff/git.ts";

interface Part {
  /** What it is about, such as what a user has to do; empty for entries above the first heading of a release. */
  readonly title: string;
  /** What stands above its first entry and holds for all of them; may be empty. */
  readonly preface: string;
  /** List items, each with the lines that belong to it. */
  readonly entries: readonly string[];
}

interface Release {
  readonly heading: string;
  readonly parts: readonly Part[];
}

/** A text by its headings: each with what stands below it. */
function below(text: string, heading: RegExp): [string, string][] {
  const sections = text.split(heading).slice(1);
  return sections.map((section) => {
    const [title = "", ...lines] = section.split("\n");
    return [title, lines.join("\n")];
  });
}

function entriesIn(text: string): Omit<Part, "title"> {
  const items = text.split(/^(?=- )/m).map((entry) => entry.trim());
  const [first = ""] = items;
  return { preface: first.startsWith("- ") ? "" : first, entries: items.filter((entry) => entry.startsWith("- ")) };
}

/** The releases of a changelog, newest first, with what is said of them. */
export const releasesIn = (text: string): Release[] =>
  below(text, /^## /m).map(([heading, said]) => {
    const [untitled = ""] = said.split(/^### /m);
    const titled = below(said, /^### /m).map(([title, lines]) => ({ title, ...entriesIn(lines) }));
    return { heading, parts: [{ title: "", ...entriesIn(untitled) }, ...titled] };
  });

/** What the changelog says of the later commit and not of the earlier one, whatever the section is called by now. */
function changesBetween(before: string, after: string): string {
  const known = new Set(releasesIn(before).flatMap(({ parts }) => parts.flatMap(({ entries }) => entries)));
  return releasesIn(after)
    .map(({ heading, parts }) => {
      const added = parts.map((part) => ({ ...part, entries: part.entries.filter((each) => !known.has(each)) }));
      const said = added.filter(({ entries }) => entries.length > 0);
      const texts = said.map(({ title, preface, entries }) =>
        [title && `### ${title}`, title && preface, entries.join("\n")].filter(Boolean),
      );
      return { heading, texts: texts.flat() };
    })
    .filter(({ texts }) => texts.length > 0)
    .map(({ heading, texts }) => [`## ${heading}`, ...texts].join("\n\n"))
    .join("\n\n");
}

/** What a user notices of the releases between two commits of the project. */
export const changelogOf = (project: string, from: string, to: string): string =>
  changesBetween(fileAt(project, from, "CHANGELOG.md") ?? "", fileAt(project, to, "CHANGELOG.md") ?? "");
