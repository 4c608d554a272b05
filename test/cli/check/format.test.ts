import { describe, expect, test } from "vitest";
import type { Report } from "../../../cli/check/check.ts";
import { formatted } from "../../../cli/check/format.ts";

const report: Report = {
  findings: [
    {
      rule: "network",
      place: { file: "/work/repos/a,b.yaml", line: 7 },
      problem: "100% of it\noverlaps",
      remedy: "give it another",
      clusters: ["blue", "green"],
    },
  ],
  warnings: [
    {
      place: { file: "/work/repos/spoke.yaml", line: 3 },
      problem: "support ends",
      remedy: "raise it",
      clusters: ["blue"],
    },
  ],
  notes: ["nothing applies x.yaml"],
  clusters: ["hub", "blue", "green"],
  objects: 1,
};

describe("the report", () => {
  test("is for a person: file, line, what is wrong, where, what to do", () => {
    expect(formatted({ ...report, notes: [] }, "text", "/work")).toBe(
      "repos/a,b.yaml:7: network: 100% of it\noverlaps [blue, green]\n    give it another\n" +
        "repos/spoke.yaml:3: warning: support ends [blue]\n    raise it\n1 finding; 1 object on hub, blue, green\n",
    );
  });

  test("is for a program: one JSON document", () => {
    expect(JSON.parse(formatted(report, "json", "/work"))).toEqual({
      findings: [
        {
          rule: "network",
          file: "repos/a,b.yaml",
          line: 7,
          problem: "100% of it\noverlaps",
          remedy: "give it another",
          clusters: ["blue", "green"],
        },
      ],
      warnings: [
        { file: "repos/spoke.yaml", line: 3, problem: "support ends", remedy: "raise it", clusters: ["blue"] },
      ],
      notes: ["nothing applies x.yaml"],
      clusters: ["hub", "blue", "green"],
      objects: 1,
    });
  });

  test("is for GitHub: annotations at the line, with its characters escaped", () => {
    expect(formatted(report, "github", "/work")).toBe(
      "::error file=repos/a%2Cb.yaml,line=7,title=fleet check%3A network::100%25 of it%0Aoverlaps [blue, green]%0Agive it another\n" +
        "::warning file=repos/spoke.yaml,line=3,title=fleet check::support ends [blue]%0Araise it\n" +
        "::notice title=fleet check::nothing applies x.yaml\n",
    );
  });
});
