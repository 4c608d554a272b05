import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bridgeData } from "../../lib/bridge.ts";
import { admissionCases } from "../e2e/support/admission-cases.ts";
import { type AdmissionCase, kept, tenantNamespace } from "../e2e/support/admission-request.ts";
import { tenantOrders } from "../e2e/support/tenant-orders.ts";
import { tenantWorkloads } from "../e2e/support/tenant-workloads.ts";
import { hub } from "../functions/spoke/support/fixtures.ts";
import { refusal } from "./support/admission.ts";
import { substituted } from "./support/flux.ts";
import { build, type Manifest } from "./support/kustomize.ts";
import { render, system, withAddons } from "./support/spoke.ts";

const policies = join(system, "platform", "policies");
const ofHub = build(policies).map((object) => substituted(object, bridgeData(hub)));
const ofSpoke = render(withAddons("minimal", [])).applied.flatMap(({ objects }) => objects);
const named = (objects: readonly Manifest[], kind: string, name: string): Manifest => {
  const found = objects.find(({ kind: other, metadata }) => other === kind && metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const policyOf = (name: string) => named([...ofHub, ...ofSpoke], "ValidatingAdmissionPolicy", name);
const parameters = named(ofHub, "ConfigMap", "admission-parameters");

const cases: readonly AdmissionCase[] = [
  ...admissionCases,
  ...tenantOrders.map((each) => ({ ...each, policy: "tenant-resources.fleet.internal" })),
  ...tenantWorkloads.map((each) => ({ ...each, policy: "tenant-workloads.fleet.internal" })),
];

function operationsOf({ spec }: Manifest): string[] {
  return spec.matchConstraints.resourceRules.flatMap(({ operations }: { operations: string[] }) => operations);
}

/** The object as the API server has it when it is being removed. */
const removed = (object: AdmissionCase["object"]) => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
});

const asked = (policy: Manifest, { object, from, leaving, by }: AdmissionCase) =>
  refusal(policy, {
    object: leaving ? removed(object) : object,
    ...(from && { from: leaving ? removed(from) : from }),
    ...(by && { by }),
    namespace: object.metadata.namespace ?? "",
    parameters,
  });

/** The policies that judge what is made and changed; the others are about removals alone. */
const judging = [
  ...ofHub,
  ...ofSpoke.filter(({ metadata }) => !ofHub.some((other) => other.metadata.name === metadata.name)),
].filter((object) => object.kind === "ValidatingAdmissionPolicy" && operationsOf(object).includes("CREATE"));

describe("the admission policies, without an API server,", () => {
  const matched = cases.filter(
    ({ policy, object }) => policy !== "tenant-source.fleet.internal" || object.metadata.namespace === tenantNamespace,
  );
  test.for(matched.map((each) => [each.policy, each.refused ? "refuses" : "lets through", each.title, each] as const))(
    "%s %s: %s",
    ([policy, , , each]) => {
      const said = asked(policyOf(policy), each);
      if (each.refused === undefined) expect(said).toBeUndefined();
      else expect(said).toContain(each.refused);
    },
  );

  const isJudged = ({ policy }: AdmissionCase) => operationsOf(policyOf(policy)).includes("UPDATE");

  test("let finalizers go from what is there, whatever they would say of it as something new", () => {
    const unlawful = matched.filter((each) => each.refused && !each.from && isJudged(each));
    expect(unlawful.length).toBeGreaterThan(20);
    for (const { policy, title, object } of unlawful)
      for (const [from, now] of [
        [kept(object), object],
        [removed(kept(object)), removed(object)],
      ] as const) {
        const namespace = object.metadata.namespace ?? "";
        expect(refusal(policyOf(policy), { object: now, from, namespace, parameters }), title).toBeUndefined();
      }
  });

  test("have for each of their rules a request that this rule alone refuses", () => {
    for (const policy of judging) {
      const own = matched.filter((each) => each.policy === policy.metadata.name && each.refused);
      for (const [index, { expression }] of policy.spec.validations.entries()) {
        const validations = policy.spec.validations.with(index, { expression: "true" });
        const without = { ...policy, spec: { ...policy.spec, validations } };
        expect(
          own.some((each) => asked(without, each) === undefined),
          `${policy.metadata.name}: ${expression}`,
        ).toBe(true);
      }
    }
  });

  test("judge every object that is made or changed", () => {
    for (const { metadata, spec } of judging)
      // Region and account of a Spoke can't be changed afterwards.
      for (const { operations, resources } of spec.matchConstraints.resourceRules)
        expect(operations, metadata.name).toEqual(resources.join() === "spokes" ? ["CREATE"] : ["CREATE", "UPDATE"]);
  });
});

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
