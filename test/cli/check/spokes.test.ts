import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { isolatedServices } from "../../functions/spoke/support/rule-cases.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { type Change, found, removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const findings = (changes: readonly Change[]) =>
  withChanges(changes, (folder) => found(check({ repos: folder, build: buildText }), folder));

const file = "gitops-system/spokes/fleet/blue/spoke.yaml";
const isolated = (...more: string[]) => [
  ...spoke("blue", "10.64.0.0/18"),
  replaced(
    file,
    "  network:\n",
    `  network:\n    natGateways: isolated\n    endpoints: [${[...isolatedServices, ...more].join(", ")}]\n`,
  ),
];
const podIdentity = replaced(
  "gitops-system/platform/composition/composition.yaml",
  "        kubeConfig: configMap\n",
  "        kubeConfig: configMap\n        workloadIdentity: pod-identity\n",
);

describe("fleet check, of a Spoke without internet access", () => {
  test("finds that EKS Pod Identity lacks its endpoint, and nothing with it or with IRSA", () => {
    expect(findings([...isolated(), podIdentity])).toEqual([
      {
        rule: "spoke",
        file,
        line: "    natGateways: isolated",
        problem:
          "Spoke blue: natGateways isolated leaves the agent of EKS Pod Identity, which the Composition spoke chooses, no way to EKS Auth",
        clusters: ["blue"],
      },
    ]);
    expect(findings(isolated())).toEqual([]);
    expect(findings([...isolated("eks-auth"), podIdentity])).toEqual([]);
  });
});
