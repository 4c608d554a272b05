import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { hasWork, note, ok, unchecked, wrong } from "../../../cli/doctor/finding.ts";
import { asData, asText } from "../../../cli/doctor/report.ts";
import { forProgram } from "../../../cli/output.ts";

const groups = [
  { name: "tools", findings: [ok("git", "2.39.5"), note("gh", "is not on PATH", "install it")] },
  {
    name: "quotas",
    findings: [
      wrong("VPCs per Region", "5, all in use", "ask for more:\naws …"),
      unchecked("Clusters", "AWS denies access", "let it"),
    ],
  },
];

describe("fleet doctor's report", () => {
  test("says of each finding what it is, what was found and what to do", () => {
    expect(asText(groups)).toBe(`tools
  ok       git: 2.39.5
  note     gh: is not on PATH
           do: install it

quotas
  WRONG    VPCs per Region: 5, all in use
           do: ask for more:
               aws …
  UNKNOWN  Clusters: AWS denies access
           do: let it

2 to do, marked WRONG or UNKNOWN above
`);
  });

  test("says when nothing has to be done, which a note does not change", () => {
    expect(asText(groups.slice(0, 1))).toContain("nothing has to be done");
    expect(hasWork(groups.slice(0, 1))).toBe(false);
  });

  test("what could not be found out is to be fixed as what is wrong is", () => {
    expect(hasWork([{ name: "a", findings: [unchecked("a", "b", "c")] }])).toBe(true);
    expect(hasWork([{ name: "a", findings: [wrong("a", "b", "c")] }])).toBe(true);
  });

  test("is JSON or YAML for programs", () => {
    expect(JSON.parse(forProgram(asData(groups), "json"))).toEqual({ ok: false, groups });
    expect(parse(forProgram(asData(groups), "yaml"))).toEqual({ ok: false, groups });
  });
});
