import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hub } from "../functions/spoke/support/fixtures.ts";
import { build } from "./support/kustomize.ts";
import { system } from "./support/spoke.ts";

const policies = join(system, "platform", "policies");

describe("the admission policies", () => {
  test("take those of the hub's add-ons for which there is a folder", () => {
    const [step] = build(join(system, "clusters", "hub")).filter(
      ({ metadata }) => metadata.name === "platform-policies",
    );
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a Flux variable
    expect(step?.spec).toMatchObject({ components: "${addons}", ignoreMissingComponents: true });
    expect(hub.addons.filter((addon) => existsSync(join(policies, addon)))).toEqual([]);
  });

  test("come with Kyverno, and the Kyverno set after it, when the hub enables it", () => {
    const steps = build(policies, ["kyverno"]).filter(({ kind }) => kind === "Kustomization");
    expect(steps.map(({ metadata, spec }) => [metadata.name, spec.dependsOn?.[0].name])).toEqual([
      ["kyverno", undefined],
      ["kyverno-policies", "kyverno"],
    ]);
  });

  test("of the hub are those of every spoke", () => {
    const spoke = build(join(system, "spoke-bootstrap", "base"));
    for (const object of build(policies)) expect(spoke).toContainEqual(object);
  });
});
