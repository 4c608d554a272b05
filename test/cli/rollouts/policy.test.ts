import { describe, expect, test } from "vitest";
import { readPolicy } from "../../../cli/rollouts/policy.ts";

const hour = 3_600_000;

function read(text: string) {
  const found = readPolicy(text);
  if ("problems" in found) throw new Error(JSON.stringify(found.problems));
  return found.rings;
}

function problems(text: string) {
  const found = readPolicy(text);
  return "problems" in found ? found.problems : [];
}

/** Where there are problems. */
const places = (text: string) => problems(text).map(({ key }) => key);

describe("rings.yaml", () => {
  test("has defaults: two hours of soak and four until it is late, no unhealthy spoke, always open", () => {
    const [ring] = read("rings: [{ name: canary }]");
    expect(ring).toMatchObject({ name: "canary", soak: 2 * hour, deadline: 4 * hour, windows: [], hold: false });
    expect(ring).not.toHaveProperty("revision");
    expect(ring?.allows(1000)).toBe(0);
  });

  test("says everything about a ring", () => {
    const revision = "0123456789abcdef0123456789abcdef01234567";
    const [early, rest] = read(`
rings:
  - name: early
    soak: 1h30m
    maxUnavailable: 3
    windows:
      - { days: [Mon, Fri], from: "08:00", to: "16:00", timeZone: Europe/Berlin }
      - { days: [Sat] }
  - { name: rest, hold: true, revision: ${revision}, soak: 0s, maxUnavailable: 100% }
`);
    expect(early).toMatchObject({
      soak: 1.5 * hour,
      windows: [
        { days: ["Mon", "Fri"], from: 480, to: 960, timeZone: "Europe/Berlin" },
        { days: ["Sat"], from: 0, to: 1440, timeZone: "UTC" },
      ],
    });
    expect(early?.allows(5)).toBe(3);
    expect(rest).toMatchObject({ hold: true, revision, soak: 0 });
    expect(rest?.allows(7)).toBe(7);
  });

  test("is refused with all problems at once, each with its place", () => {
    const text = `
rings:
  - { name: Canary, soak: 1d, maxUnavailable: 101%, hold: maybe, revision: abc }
  - { name: ${"a".repeat(41)}, soak: 24, deadline: never, maxUnavailable: -1, windows: [], color: red }
  - name: rest
    windows:
      - { days: [Monday], from: "8:00", to: "24:01", timeZone: Europe/Bonn, until: never }
`;
    expect(places(text)).toEqual([
      ...["rings[0].name", "rings[0].soak", "rings[0].maxUnavailable", "rings[0].hold", "rings[0].revision"],
      ...["rings[1].name", "rings[1].soak", "rings[1].deadline", "rings[1].maxUnavailable", "rings[1].windows"],
      ...["rings[1].color", "rings[2].windows[0].days[0]", "rings[2].windows[0].from", "rings[2].windows[0].to"],
      ...["rings[2].windows[0].timeZone", "rings[2].windows[0].until"],
    ]);
  });

  test("says of a problem what was given, what is allowed, and what to do", () => {
    expect(problems("rings: [{ name: early, soak: 2d, every: 1h }]")).toEqual([
      {
        key: "rings[0].soak",
        what: "has another form",
        got: "2d",
        allowed: "hours, minutes and seconds such as 30m, 1h30m or 24h",
        remedy: "write days as hours",
      },
      {
        key: "rings[0].every",
        what: "is not a field",
        got: "every",
        allowed: "name, soak, deadline, maxUnavailable, windows, hold, revision",
        remedy: "correct it, or take it away",
      },
    ]);
    expect(problems("rings: [{ name: a, windows: [{ day: Mon }] }]")[0]?.allowed).toBe("days, from, to, timeZone");
    expect(problems("rings: [{ soak: 1h }]")).toMatchObject([{ key: "rings[0].name", what: "is missing" }]);
  });

  test.each(["-a", "a-", "a.b", "a/b", "a b", ""])("has no ring called %j", (name) =>
    expect(places(`rings: [{ name: "${name}" }]`)).toEqual(["rings[0].name"]),
  );

  test("has a ring's name once, which is told beside other problems", () => {
    expect(places("rings: [{ name: a }, { name: b, soak: x }, { name: a }]")).toEqual([
      "rings[1].soak",
      "rings[2].name",
    ]);
  });

  test.each([
    ["the same time twice", '{ from: "08:00", to: "08:00" }'],
    ["nothing until midnight", '{ from: "24:00", to: "08:00" }'],
    ["an end at 00:00, which is 24:00", '{ from: "08:00", to: "00:00" }'],
  ])("has no window of %s", (_, window) => {
    expect(places(`rings: [{ name: a, windows: [${window}] }]`)[0]).toMatch(/^rings\[0\]\.windows\[0\]\.(from|to)$/);
  });

  test("may have a window over midnight", () => {
    const [ring] = read('rings: [{ name: a, windows: [{ from: "22:00", to: "04:00" }] }]');
    expect(ring?.windows).toMatchObject([{ from: 1320, to: 240 }]);
  });

  test.each(["", "rings: []", "rings: {}", "- name: a", "rings: [canary]"])("is not %j", (text) =>
    expect(places(text)).toHaveLength(1),
  );

  test("that is not YAML is a problem of its line, and so is a key that stands twice", () => {
    expect(problems("rings: [")[0]?.got).toContain("line 1");
    expect(problems("rings:\n  - name: a\n    name: b\n")[0]?.got).toContain("line 3");
  });
});
