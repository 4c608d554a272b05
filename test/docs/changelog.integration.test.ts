import { describe, expect, test } from "vitest";
import { releasesIn } from "../../cli/upgrade-platform/changelog.ts";
import { anchors, links, text } from "./support/pages.ts";

const guide = "docs/guides/repositories.md";
const duties = "What you have to do";
const changelog = text("CHANGELOG.md");
const releases = releasesIn(changelog);
const entriesOf = (title: string) =>
  releases.flatMap(({ parts }) => parts.filter((part) => part.title === title).flatMap(({ entries }) => entries));

/** The anchors of the guide's sections that ask something of every fleet. */
function asking(): string[] {
  const [, upgrade = ""] = /^## Upgrade a fleet\n(.*?)(?=^## )/ms.exec(text(guide)) ?? [];
  expect(upgrade).not.toBe("");
  const sections = upgrade.split(/^### /m).slice(1);
  return sections
    .filter((section) => !/^.*\n\nNothing to do\b/.test(section))
    .map((section) => `### ${section}`)
    .flatMap(anchors);
}

describe("the changelog", () => {
  test("says of each release first what a user has to do, then what changes, and nothing outside of both", () => {
    expect(releases.length).toBeGreaterThan(0);
    for (const { heading, parts } of releases) {
      const [above, ...titled] = parts;
      expect(above?.entries, heading).toEqual([]);
      const titles = titled.map(({ title }) => title);
      expect([[duties, "Changes"], ["Changes"]], heading).toContainEqual(titles);
      for (const { title, entries } of titled) expect(entries.length, `${heading}, ${title}`).toBeGreaterThan(0);
    }
  });

  test("names every section of the upgrade guide that asks something of a fleet among what a user has to do", () => {
    const linked = entriesOf(duties)
      .flatMap(links)
      .filter((target) => target.startsWith(`${guide}#`))
      .map((target) => target.split("#")[1]);
    expect([...new Set(linked)].sort()).toEqual(asking().sort());
  });

  test("asks nothing of a user among the changes", () => {
    for (const entry of entriesOf("Changes"))
      expect(entry).not.toMatch(/\b(have|has) to\b(?! be compiled)|\byou must\b|\bbefore you\b/i);
  });
});
