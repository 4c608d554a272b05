import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bridgeKeys } from "../../lib/bridge-keys.ts";
import { type AdmissionPolicy, type AdmissionPolicyBinding, kyvernoPolicy } from "../../lib/kyverno.ts";
import { admissionCases } from "../envtest/support/admission-cases.ts";
import { build, documents, type Manifest } from "../repos/support/kustomize.ts";
import { system } from "../repos/support/spoke.ts";

const objects = build(join(system, "platform", "policies"));
const policies = objects.filter(({ kind }) => kind === "ValidatingAdmissionPolicy") as (Manifest & AdmissionPolicy)[];
const bindings = objects.filter(({ kind }) => kind === "ValidatingAdmissionPolicyBinding") as (Manifest &
  AdmissionPolicyBinding)[];
const bindingOf = (policy: AdmissionPolicy) =>
  bindings.find(({ spec }) => spec.policyName === policy.metadata.name) as AdmissionPolicyBinding;

/** The texts in an expression. */
const literals = (expression: string): string[] => [...expression.matchAll(/'([^']*)'/g)].map(([, text]) => text ?? "");

describe("the admission policies", () => {
  test("deny, fail closed, and have one binding each", () => {
    expect(policies.map(({ metadata }) => metadata.name).sort()).toEqual(
      bindings.map(({ spec }) => spec.policyName).sort(),
    );
    for (const { spec } of policies) expect(spec.failurePolicy).toBe("Fail");
    for (const { spec } of bindings) expect(spec.validationActions).toEqual(["Deny"]);
  });

  test("that read parameters read those of the fleet", () => {
    const [parameters] = objects.filter(({ kind }) => kind === "ConfigMap");
    const used = policies.filter((policy) => bindingOf(policy).spec.paramRef !== undefined);
    expect(used.map(({ spec }) => spec.paramKind)).toEqual(used.map(() => ({ apiVersion: "v1", kind: "ConfigMap" })));
    for (const policy of used) expect(bindingOf(policy).spec.paramRef).toMatchObject({ ...name(parameters) });
    const keys = new Set(
      policies.flatMap(({ spec }) =>
        [...JSON.stringify(spec).matchAll(/variables\.parameters\.(\w+)/g)].map(([, key]) => key),
      ),
    );
    expect([...keys].sort()).toEqual(Object.keys(parameters?.["data"] ?? {}).sort());
  });

  test("let a cluster secret have exactly the keys of the bridge contract", () => {
    const policy = policies.find(({ metadata }) => metadata.name === "cluster-secret.fleet.internal");
    const variables: AdmissionPolicy["spec"]["variables"] = policy?.spec.variables;
    const contract = variables?.find(({ name }) => name === "contract")?.expression ?? "";
    expect(literals(contract)).toEqual(Object.keys(bridgeKeys).sort());
  });

  test("have for each of their rules a request that it refuses, and one that passes", () => {
    for (const { metadata, spec } of policies) {
      const cases = admissionCases.filter(({ policy }) => policy === metadata.name);
      expect(cases.some(({ refused }) => refused === undefined)).toBe(true);
      for (const { message, messageExpression } of spec.validations as Record<string, string>[]) {
        const texts = (message ? [message] : literals(messageExpression ?? "")).filter((text) => text.length > 12);
        const met = cases.some(
          ({ refused }) => refused && texts.some((text) => text.includes(refused) || refused.includes(text)),
        );
        expect(met, `${metadata.name}: ${message ?? messageExpression}`).toBe(true);
      }
    }
  });
});

function name(object: Manifest | undefined) {
  return { name: object?.metadata.name, namespace: object?.metadata.namespace };
}

describe("the Kyverno set", () => {
  const file = join(system, "platform", "kyverno", "policies", "policies.yaml");

  test("has the same expressions, but for where parameters come from", () => {
    const expressions = (spec: Manifest["spec"]) => ({
      matchConstraints: spec.matchConstraints,
      matchConditions: spec.matchConditions,
      variables: spec.variables.filter(({ name }: { name: string }) => name !== "parameters"),
      validations: spec.validations,
    });
    expect(documents(file).map(({ spec }) => expressions(spec))).toEqual(policies.map(({ spec }) => expressions(spec)));
  });

  test("reads the parameters that the binding names", () => {
    const [, second] = documents(file);
    expect(second?.spec.variables[0]).toEqual({
      name: "parameters",
      expression: "resource.Get('v1', 'configmaps', 'flux-system', 'admission-parameters').data",
    });
  });
});

describe("kyvernoPolicy", () => {
  const policy: AdmissionPolicy = {
    metadata: { name: "trial" },
    spec: {
      failurePolicy: "Fail",
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConstraints: {},
      variables: [{ name: "parameters", expression: "params.data" }],
      validations: [{ expression: "variables.parameters.x == ''" }],
    },
  };
  const binding: AdmissionPolicyBinding = {
    metadata: { name: "trial" },
    spec: { policyName: "trial", validationActions: ["Deny"], paramRef: { name: "p", namespace: "n" } },
  };
  const changed = (spec: object) => ({ ...policy, spec: { ...policy.spec, ...spec } });

  test("refuses what Kyverno can't say", () => {
    expect(() => kyvernoPolicy(changed({ paramKind: { apiVersion: "v1", kind: "Secret" } }), binding)).toThrow(
      "trial: the parameters must be a ConfigMap, got Secret",
    );
    expect(() => kyvernoPolicy(changed({ validations: [{ expression: "params.data.x == ''" }] }), binding)).toThrow(
      "parameters may only be read by a variable whose expression is params.data",
    );
    const selected = { ...binding, spec: { ...binding.spec, paramRef: {} } };
    expect(() => kyvernoPolicy(policy, selected)).toThrow("must name its parameters by name and namespace");
    expect(() => kyvernoPolicy(policy, { ...binding, spec: { ...binding.spec, policyName: "other" } })).toThrow(
      "the binding trial is not one of trial",
    );
  });

  test("takes no parameters where the policy has none", () => {
    const { paramKind: _, variables: __, ...plain } = policy.spec;
    const none = { ...policy, spec: { ...plain, validations: [{ expression: "true" }] } };
    expect(kyvernoPolicy(none, binding)).toMatchObject({ spec: { validations: [{ expression: "true" }] } });
  });
});
