import { describe, expect, test } from "vitest";
import { SubstitutionError, substitute, uses, variable } from "../../../cli/render/envsubst.ts";

const values: Readonly<Record<string, string>> = {
  name: "blue",
  empty: "",
  path: "a/b/c.tar.gz",
  lines: "[1,\n2]",
  other: "x",
};
const filled = (text: string) => substitute(text, (name) => values[name] ?? "");

/** Texts and what Flux 2.9 (fluxcd/pkg/envsubst 1.7) makes of them. */
const cases: readonly (readonly [string, string])[] = [
  ["no variable, $HOME, a $ and a }", "no variable, $HOME, a $ and a }"],
  [`${variable("name")}-${variable("other")}`, "blue-x"],
  [`$${variable("name")}`, variable("name")],
  ["costs $$5", "costs $5"],
  [variable("lines"), "[1,2]"],
  [variable("missing:=none"), "none"],
  [variable("empty:-none"), "none"],
  [variable("empty=none"), "none"],
  [variable("name:=none"), "blue"],
  [variable(`missing:=${variable("name")}-1`), "blue-1"],
  [variable("missing:=https://charts.example.com/a"), "https://charts.example.com/a"],
  [variable("name^"), "Blue"],
  [variable("name^^"), "BLUE"],
  [variable("#name"), "4"],
  [variable("name:1"), "lue"],
  [variable("name:1:2"), "lu"],
  [variable("name: -2"), "blue"],
  [variable("name:-2:1"), "blue"],
  [variable("name/lu/o"), "boe"],
  [variable("path//a/"), "/b/c.tr.gz"],
  [variable("path#*/"), "b/c.tar.gz"],
  [variable("path##*/"), "c.tar.gz"],
  [variable("path%.*"), "a/b/c.tar"],
  [variable("path%%.*"), "a/b/c"],
];

describe("substitution", () => {
  test.each(cases)("makes of %s: %s", (text, result) => expect(filled(text)).toBe(result));

  test.each([variable("a-b"), variable("name-none"), variable("name").slice(0, -1), variable(""), variable(" name")])(
    "refuses %s, as Flux does",
    (text) => expect(() => filled(text)).toThrow(SubstitutionError),
  );

  test("names the variables that a text needs, and those with a default", () => {
    expect(uses(`${variable("a")} $${variable("b")} ${variable(`c:=${variable("d")}`)}`)).toEqual([
      { name: "a", hasDefault: false },
      { name: "c", hasDefault: true },
      { name: "d", hasDefault: false },
    ]);
  });
});
