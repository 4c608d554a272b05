import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { repos } from "../../repos/support/spoke.ts";
import { type Change, fleetFolder, found, removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const policy = (text: string): Change => ({ file: "gitops-system/clusters/fleet/rings.yaml", to: text });
const template = readFileSync(join(repos, "gitops-system", "templates", "ring", "ring.yaml"), "utf8");

/** What fleet new-ring makes of a ring on the hub. */
const onHub = (...rings: readonly string[]): Change[] => [
  ...rings.map((ring) => ({
    file: `gitops-system/clusters/fleet/rings/${ring}.yaml`,
    to: template.replaceAll("__ring__", ring),
  })),
  replaced(
    fleetFolder("fleet").file,
    "  - ../../platform/hub\n",
    `  - ../../platform/hub\n${rings.map((ring) => `  - rings/${ring}.yaml\n`).join("")}`,
  ),
];

const spokeIn = (name: string, cidr: string, ring: string): Change[] => [
  ...spoke(name, cidr),
  replaced(
    `gitops-system/spokes/fleet/${name}/spoke.yaml`,
    "spec:\n",
    `spec:\n  ring: ${ring}\n  crossplane:\n    compositionRef:\n      name: spoke-${ring}\n`,
  ),
];

/** Lines and problems that fleet check finds. */
const problems = (...changes: readonly Change[]) =>
  withChanges(changes, (folder) =>
    found(check({ repos: folder, build: buildText }), folder).map(({ line, problem }) => [line.trim(), problem]),
  );

test("fleet check finds nothing wrong with rings that the hub has", () => {
  const changes = [...spokeIn("one", "10.90.0.0/18", "canary"), ...onHub("canary")];
  expect(problems(...changes, policy("rings: [{ name: canary }]\n"))).toEqual([]);
});

test("fleet check finds rings and Spokes of rings that rings.yaml does not have", () => {
  const changes = [...spokeIn("one", "10.90.0.0/18", "stray"), ...onHub("canary", "stray")];
  expect(problems(...changes, policy("rings: [{ name: canary }]\n"))).toEqual([
    [
      "name: gitops-system-ring-stray",
      "the ring stray is not in clusters/fleet/rings.yaml, so that nothing moves its branch",
    ],
    [
      "ring: stray",
      "Spoke one: clusters/fleet/rings.yaml has no ring stray, so that no change of the platform reaches the spoke",
    ],
  ]);
});

test("fleet check finds everything that is wrong in rings.yaml, by its line", () => {
  const text = "rings:\n  - name: canary\n    soak: 1d\n  - name: rest\n    hold: maybe\n";
  expect(problems(fleetFolder("fleet"), policy(text))).toEqual([
    ["soak: 1d", expect.stringMatching(/^rings\[0\]\.soak has another form: got 1d; allowed is hours/)],
    ["hold: maybe", "rings[1].hold has another form: got maybe; allowed is true or false"],
  ]);
  expect(problems(fleetFolder("fleet"), policy("rings:\n  - name: a\n    name: b\n"))).toEqual([
    ["name: b", expect.stringContaining("is not YAML")],
  ]);
});
