import { describe, expect, test } from "vitest";
import { barChart, benchmarkPlots, tableBars } from "../../scripts/documents/plots.ts";
import { text } from "../docs/support/pages.ts";

const page =
  "# Page\n\n## Times\n\n| Phase | Time |\n| --- | ---: |\n| `a` & <b> | 2.5 s |\n| c | 10 s |\n\n## Words\n\nnone\n";

describe("a plot", () => {
  test("has the figures of the page's table, in its words", () => {
    expect(tableBars(page, "Times", 1)).toEqual([
      { label: "a & <b>", value: 2.5, shown: "2.5 s" },
      { label: "c", value: 10, shown: "10 s" },
    ]);
  });

  test("has bars in proportion, and texts that are XML", () => {
    const svg = barChart("Times", tableBars(page, "Times", 1));
    const [first = 0, second = 0] = [...svg.matchAll(/<rect [^>]*width="(\d+)"/g)].map(([, width]) => Number(width));
    expect(first * 4).toBe(second);
    expect(svg).toContain("a &amp; &lt;b&gt;");
  });

  test("is not made of a page without the table, or of a cell without a figure", () => {
    expect(() => tableBars(page, "Words", 1)).toThrow('no table below "Words"');
    expect(() => tableBars(page.replace("10 s", "soon"), "Times", 1)).toThrow('"c" has no figure in column 1: soon');
  });

  test("of each benchmark is shown on the page of benchmarks", () => {
    for (const name of Object.keys(benchmarkPlots))
      expect(text("docs/reference/benchmarks.md")).toContain(`](plots/${name})`);
  });
});
