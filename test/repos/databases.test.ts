import { describe, expect, test } from "vitest";
import type { Manifest } from "./support/kustomize.ts";
import { kustomizations, render, withAddons } from "./support/spoke.ts";

const rendered = render(withAddons("minimal", ["rds_instances"]));
const one = (step: string, wanted: string): Manifest => {
  const found = rendered.by(step).find(({ kind }) => kind === wanted);
  if (found === undefined) throw new Error(`${step} makes no ${wanted}`);
  return found;
};

describe("the group of the subnets that databases are in", () => {
  test("goes before the provider does, which stays as long as the group is there", () => {
    const step = kustomizations(rendered.by("tools")).find(({ metadata }) => metadata.name === "rds-subnets");
    expect(step?.spec).toMatchObject({ dependsOn: [{ name: "rds-instances" }], deletionPolicy: "WaitForTermination" });
    const { apiVersion, kind, metadata } = one("rds-subnets", "SubnetGroup");
    const policy = one("rds-instances", "ValidatingAdmissionPolicy");
    expect(policy.spec).toMatchObject({ paramKind: { apiVersion, kind }, validations: [{ expression: "false" }] });
    expect(one("rds-instances", "ValidatingAdmissionPolicyBinding").spec).toEqual({
      policyName: policy.metadata.name,
      paramRef: { namespace: metadata.namespace, selector: {}, parameterNotFoundAction: "Allow" },
      validationActions: ["Deny"],
    });
  });
});
