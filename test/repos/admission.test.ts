import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hub } from "../functions/spoke/support/fixtures.ts";
import { refusal } from "./support/admission.ts";
import { bindingsOf, type Case, cases, isBound, isComplete, policies } from "./support/judged.ts";
import { build, type Manifest } from "./support/kustomize.ts";
import { system } from "./support/spoke.ts";

const folder = join(system, "platform", "policies");
const policyOf = ({ policy }: Case) => policies.get(policy) as Manifest;

describe("the admission policies, without an API server,", () => {
  test.for(cases.map((each) => [each.policy, each.refused ? "refuses" : "lets through", each.title, each] as const))(
    "%s %s: %s",
    ([, , , each]) => {
      const said = refusal(policyOf(each), each.request);
      if (each.refused === undefined) expect(said).toBeUndefined();
      else expect(said).toContain(each.refused);
    },
  );

  test("have for each of their rules a request that this rule alone refuses", () => {
    for (const policy of policies.values()) {
      const own = cases.filter((each) => each.policy === policy.metadata.name && each.refused);
      for (const [index, { expression }] of policy.spec.validations.entries()) {
        const validations = policy.spec.validations.with(index, { expression: "true" });
        const without = { ...policy, spec: { ...policy.spec, validations } };
        expect(
          own.some(({ request }) => refusal(without, request) === undefined),
          `${policy.metadata.name}: ${expression}`,
        ).toBe(true);
      }
    }
  });

  test("judge every object that is made or changed, or every one that is removed, and refuse what they can't judge", () => {
    for (const policy of policies.values()) expect(isComplete(policy), policy.metadata.name).toBe(true);
  });

  // The evaluator here takes any name, an API server none of these (Kubernetes, "Validating Admission Policy", CEL identifiers; cel-spec, doc/langdef.md).
  const reserved =
    /^(as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace|null|package|return|true|var|void|while)$/;

  test("name their variables as CEL lets one name them", () => {
    const names = [...policies.values()].flatMap(({ metadata, spec }): [string, string][] =>
      (spec.variables ?? []).map(({ name }: { name: string }) => [metadata.name, name]),
    );
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter(([, name]) => !/^[_a-zA-Z]\w*$/.test(name) || reserved.test(name))).toEqual([]);
  });

  test("are bound so that what they refuse is refused, and with the right word about absent parameters", () => {
    for (const name of policies.keys()) {
      const bindings = bindingsOf(name);
      expect(bindings.length, name).toBeGreaterThan(0);
      for (const binding of bindings) expect(isBound(binding), name).toBe(true);
    }
  });
});

describe("the admission policies", () => {
  test("take those of the hub's add-ons for which there is a folder", () => {
    const [step] = build(join(system, "platform", "hub")).filter(
      ({ metadata }) => metadata.name === "platform-policies",
    );
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a Flux variable
    expect(step?.spec).toMatchObject({ components: "${addons}", ignoreMissingComponents: true });
    expect(hub.addons.filter((addon) => existsSync(join(folder, addon)))).toEqual([]);
  });

  test("come with Kyverno, and the Kyverno set after it, when the hub enables it", () => {
    const steps = build(folder, ["kyverno"]).filter(({ kind }) => kind === "Kustomization");
    expect(steps.map(({ metadata, spec }) => [metadata.name, spec.dependsOn?.[0].name])).toEqual([
      ["kyverno-namespace", undefined],
      ["kyverno", "kyverno-namespace"],
      ["kyverno-policies", "kyverno"],
    ]);
  });

  test("of the hub are those of every spoke", () => {
    const spoke = build(join(system, "spoke-bootstrap", "base"));
    for (const object of build(folder)) expect(spoke).toContainEqual(object);
  });
});
