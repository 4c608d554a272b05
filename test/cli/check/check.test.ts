import { afterAll, describe, expect, test } from "vitest";
import { check, compile, rules } from "../../../cli/check/check.ts";
import { Findings, ruleNames } from "../../../cli/render/findings.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { repos } from "../../repos/support/spoke.ts";
import { applicationSeeds } from "../support/application-seeds.ts";
import {
  type Change,
  expected,
  type Found,
  fleetSeeds,
  found,
  kustomizeTells,
  moreSeeds,
  removeCopies,
  replaced,
  seeds,
  spoke,
  withChanges,
} from "../support/seeds.ts";
import { spokeSeeds } from "../support/spoke-seeds.ts";
import { validationSeeds } from "../support/validation-seeds.ts";

afterAll(removeCopies);

/** Without a cluster and without kustomize: test/envtest/check.test.ts does the same with the real one and with definitions. */

const foundIn = (changes: readonly Change[]): Found[] =>
  withChanges(changes, (folder) => found(check({ repos: folder, build: buildText }), folder));

const everySeed = [...seeds, ...moreSeeds, ...fleetSeeds, ...spokeSeeds, ...applicationSeeds, ...validationSeeds];
const all = everySeed.filter((seed) => !seed.needsDefinitions && !kustomizeTells(seed));
const together = all.filter(({ alone }) => !alone);

describe("fleet check", () => {
  test("finds nothing in the repositories as they are, and every file in them is some cluster's", () => {
    const report = check({ repos, build: buildText });
    expect(found(report, repos)).toEqual([]);
    expect(report.clusters).toEqual(["hub", "check-dev", "check-prod"]);
    // The sizes that the hub does not take are no note: nobody can change that they are there.
    expect(report.notes).toEqual([
      expect.stringMatching(/^the fields of \d+ kinds were not checked, .*--crds crds.*; --list-unchecked names them$/),
    ]);
    expect(report.notes[0]?.length).toBeLessThan(300);
  });

  describe("finds once, whatever else is wrong,", () => {
    const results = foundIn(together.flatMap(({ changes }) => changes));

    test.each(together)("$fault", (seed) => {
      expect(results.filter(({ problem }) => problem === seed.problem)).toEqual(
        together.filter(({ problem }) => problem === seed.problem).map(expected),
      );
    });

    test("and raises no false alarm beside", () => {
      const problems = together.map(({ problem }) => problem);
      expect(results.filter(({ problem }) => !problems.includes(problem))).toEqual([]);
    });
  });

  test("tells an environment that has no sealing keys and no tools at the Spoke that names it", () => {
    const file = "gitops-system/spokes/fleet/blue/spoke.yaml";
    const results = foundIn([
      ...spoke("blue", "10.64.0.0/18"),
      replaced(file, "environment: dev", "environment: stage"),
    ]);
    const leads = (to: string) =>
      new RegExp(`^Spoke blue: environment stage leads Kustomization \\S+ to ${to}, which is not there$`);
    expect(new Set(results.map((each) => each.file))).toEqual(new Set([file]));
    const problems = results.map(({ problem }) => problem);
    expect(problems).toContainEqual(expect.stringMatching(leads("./spoke-bootstrap/sealing-keys/stage")));
  });

  test("notes a manifest that no choice of the stack applies, beside folders of which each cluster takes one", () => {
    const size = "gitops-system/platform/crossplane/packages/sizes";
    const lost = `${size}-lost/kustomization.yaml`;
    const text = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    const changes = [lost, `${size}/huge/kustomization.yaml`].map((file) => ({ file, to: text }));
    const notes = withChanges(changes, (folder) => check({ repos: folder, build: buildText }).notes);
    expect(notes.filter((note) => note.startsWith("nothing applies"))).toEqual([`nothing applies ${lost}`]);
  });

  test("has a seeded fault for each rule, so that none can go unnoticed", () => {
    const seeded = new Set(everySeed.map(({ rule }) => rule));
    expect([...seeded].sort()).toEqual([...ruleNames].sort());
  });

  describe("misses a fault", () => {
    const problemsOf = (findings: Findings) => findings.sorted().map(({ problem }) => problem);
    const changes = together.flatMap((seed) => seed.changes);
    const { rendering, byRule } = withChanges(changes, (folder) =>
      compile({ repos: folder, build: buildText }, ({ compiled, findings }) => ({
        rendering: problemsOf(findings),
        byRule: Object.entries(rules).map(([name, rule]) => {
          const own = new Findings();
          for (const each of compiled) rule({ ...each, findings: own });
          return { name, problems: problemsOf(own) };
        }),
      })),
    );

    test.each(Object.keys(rules))("without its rule %s", (without) => {
      const others = byRule.filter(({ name }) => name !== without);
      const problems = [...rendering, ...others.flatMap((rule) => rule.problems)];
      expect(together.filter(({ problem }) => !problems.includes(problem))).not.toEqual([]);
    });
  });

  test("says once of a kind which of its rules it can't evaluate", () => {
    const definition = "gitops-system/platform/api/definition.yaml";
    const changes = [{ file: definition, from: "self != '0.0.0.0/0'", to: "isPublic(self)" }];
    const endpoint = "  tenant: __tenant__\n  endpoint: { publicAccessCidrs: [5.6.7.0/24] }";
    const template = { file: "gitops-system/templates/spoke/spoke.yaml", from: "  tenant: __tenant__", to: endpoint };
    withChanges([...changes, template], (folder) => {
      const { findings, notes } = check({ repos: folder, build: buildText });
      expect(findings).toEqual([]);
      expect(notes.filter((note) => note.includes("isPublic"))).toEqual([
        "fleet.internal/v1alpha1 Spoke: the rule isPublic(self) was not evaluated: found no matching overload for 'isPublic(dyn)'",
      ]);
    });
  });

  describe("finds, and nothing else,", () => {
    test.each(all.filter(({ alone }) => alone))("$fault", (seed) => {
      const results = foundIn(seed.changes);
      expect(results).toEqual([expected(seed)]);
      expect(results[0]?.clusters).toHaveLength(seed.clusters.length);
    });
  });
});
