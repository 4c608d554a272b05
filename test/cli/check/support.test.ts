import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import {
  charts,
  compatibilityWarning,
  kubernetesLimits,
  kubernetesReleases,
  kubernetesVersions,
  supportWarning,
} from "../../../components/versions.ts";
import { compositionInput } from "../../functions/spoke/support/definition.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { removeCopies, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const warningsOn = (day: string) =>
  withChanges(spoke("teal", "10.64.0.0/18"), (folder) =>
    check({ repos: folder, build: buildText, today: new Date(`${day}T23:00:00Z`) }).warnings.map((warning) => ({
      ...warning,
      place: { ...warning.place, file: warning.place.file.slice(join(folder, "/").length) },
    })),
  );

describe("fleet check warns of the end of a Spoke's Kubernetes version", () => {
  test("from 90 days before, at the line that names it", () => {
    expect(warningsOn("2026-12-26")).toEqual([]);
    expect(warningsOn("2026-12-27")).toEqual([
      {
        place: { file: "gitops-system/spokes/fleet/teal/spoke.yaml", line: 10 },
        problem: "Spoke teal: Kubernetes 1.35 leaves EKS's standard support on 2027-03-27, in 90 days",
        remedy: expect.stringContaining("raise spec.kubernetesVersion by one minor"),
        clusters: ["teal"],
      },
    ]);
  });

  test("and after it, without a finding that would fail the check", () => {
    expect(warningsOn("2027-03-28").map(({ problem }) => problem)).toEqual([
      "Spoke teal: Kubernetes 1.35 left EKS's standard support on 2027-03-27",
    ]);
  });
});

describe("fleet check warns of a Spoke that is newer than pinned components support", () => {
  test("at the line that names its version", () => {
    const newer = spoke("teal", "10.64.0.0/18").map((change) => ({
      ...change,
      to: change.to.replace('"1.35"', '"1.37"'),
    }));
    const warnings = withChanges(
      newer,
      (folder) => check({ repos: folder, build: buildText, today: new Date("2026-11-29") }).warnings,
    );
    expect(warnings).toMatchObject([
      {
        problem: "Spoke teal: Kubernetes 1.37 is newer than supported: Flux 2.9 up to 1.36",
        remedy: expect.stringContaining("keep spec.kubernetesVersion at a supported minor"),
        clusters: ["teal"],
      },
    ]);
  });
});

describe("the table of components", () => {
  test("has the pinned charts only, and the repositories install them", () => {
    for (const { chart, chartMinor } of kubernetesLimits)
      expect(charts[chart].version.startsWith(`${chartMinor}.`), `${chart} ${chartMinor}`).toBe(true);
    const release = readFileSync(
      join(import.meta.dirname, "../../../repos/gitops-system/spoke-bootstrap/flux/release.yaml"),
      "utf8",
    );
    expect(release).toContain(`version: ${charts.flux.version}\n`);
  });

  test("warns of minors that are newer, by number", () => {
    expect(compatibilityWarning("1.36")).toBeUndefined();
    expect(compatibilityWarning("1.9")).toBeUndefined();
    expect(compatibilityWarning("1.100")).toBe("Kubernetes 1.100 is newer than supported: Flux 2.9 up to 1.36");
  });
});

describe("the supported Kubernetes versions", () => {
  test("end in their order, and Spokes are offered the same", () => {
    const ends = kubernetesReleases.map(({ supportEnds }) => supportEnds);
    expect(ends).toEqual(ends.toSorted());
    expect(Object.keys(compositionInput()["kubernetesVersions"] as object)).toEqual(kubernetesVersions);
  });

  test("are not warned about while the end is far, and unknown ones never", () => {
    expect(supportWarning("1.37", new Date("2027-09-01"))).toBeUndefined();
    expect(supportWarning("1.37", new Date("2027-11-30"))).toMatch(/in 1 day$/);
    expect(supportWarning("1.99", new Date("2099-01-01"))).toBeUndefined();
  });
});
