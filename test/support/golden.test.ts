import { describe, expect, it } from "vitest";
import { difference, withDifference, written } from "./golden.ts";

const base = { same: 1, changed: "a", gone: true, list: [1, 2], inner: { same: null, gone: {}, deep: { changed: 1 } } };

describe("a difference", () => {
  it.each([
    ["nothing", base, {}],
    ["a changed field", { ...base, changed: "b" }, { changed: "b" }],
    ["a list, whole", { ...base, list: [1] }, { list: [1] }],
    ["a missing field", { same: 1, changed: "a", list: [1, 2], inner: base.inner }, { gone: "(absent)" }],
    [
      "fields at any depth",
      { ...base, inner: { same: null, added: {}, deep: { changed: 2 } } },
      { inner: { gone: "(absent)", deep: { changed: 2 }, added: {} } },
    ],
    ["another kind of value", { ...base, inner: [], list: { a: 1 } }, { inner: [], list: { a: 1 } }],
  ])("has %s, and the base with it is the other value", (_what, other, change) => {
    expect(difference(base, other)).toEqual(change);
    expect(withDifference(base, change)).toEqual(other);
  });
});

it("writes what fits into 140 characters in one line", () => {
  const long = "x".repeat(120);
  expect(written({ short: { a: [1], b: {} }, wide: { a: { c: long }, b: [{ a: 1 }] } })).toBe(
    `short: { a: [ 1 ], b: {} }\nwide:\n  a: { c: ${long} }\n  b: [ { a: 1 } ]\n`,
  );
});
