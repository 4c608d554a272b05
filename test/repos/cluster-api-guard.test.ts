import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  anotherCluster,
  definitionsOfClusters,
  inClusters,
  madeByClusterApi,
  partsOf,
  releaseOf,
  spokeOf,
  stepOf,
} from "../envtest/support/cluster-api-guard.ts";
import { refusal } from "./support/admission.ts";
import { build, type Manifest, merge } from "./support/kustomize.ts";
import { system } from "./support/spoke.ts";

/** The same as test/envtest/cluster-api-guard.test.ts asks a real API server. */

const objects = build(join(system, "platform", "hub", "cluster-api", "clusters"));
const policy = objects.find(({ kind }) => kind === "ValidatingAdmissionPolicy") as Manifest;
const binding = objects.find(({ kind }) => kind === "ValidatingAdmissionPolicyBinding") as Manifest;
const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: inClusters } };
const definitionOf = (name: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name },
});
const blue = spokeOf("blue", madeByClusterApi);

const [cluster, controlPlane, managedCluster, machinePool] = partsOf("blue");
const kept = [
  releaseOf("blue"),
  stepOf("cluster-blue"),
  cluster,
  controlPlane,
  managedCluster,
  namespace,
] as Manifest[];
/** What the policy says of the removal, asked with this Spoke. */
const removal = (from: unknown, parameters: object = blue) => refusal(policy, { from: from as Manifest, parameters });
const change = (spec: object) => {
  const from = releaseOf("blue");
  return refusal(policy, { from, object: { ...from, spec: merge(from.spec, spec) } as Manifest, parameters: blue });
};

describe("the guard of clusters that Cluster API makes", () => {
  test.each(kept.map((each) => [each.kind, each] as const))("keeps a %s while its Spoke is there", (kind, each) => {
    expect(removal(each)).toBe(
      `${kind} ${each.metadata.name} belongs to the cluster of Spoke blue, which still exists; got a request to delete it: remove the whole folder of the spoke (fleet remove), and the cluster goes after it; or give Git back what was there`,
    );
  });

  test.each(kept.filter(({ kind }) => kind !== "Namespace").map((each) => [each.kind, each] as const))(
    "lets a %s go that is another Spoke's, or of a Spoke whose cluster Crossplane makes",
    (_kind, each) => {
      expect(removal(each, spokeOf("green", madeByClusterApi))).toBeUndefined();
      expect(removal(each, spokeOf("blue"))).toBeUndefined();
    },
  );

  test("keeps a definition with which every cluster would go, while there is a Spoke of one, and others not", () => {
    for (const name of definitionsOfClusters) {
      expect(removal(definitionOf(name)), name).toContain("of Spoke blue, which still exists");
      expect(removal(definitionOf(name), spokeOf("blue")), name).toBeUndefined();
    }
    expect(removal(definitionOf("machinedeployments.cluster.x-k8s.io"))).toBeUndefined();
  });

  test("knows a release by the cluster in its values too, whatever it is called", () => {
    const { releaseName: _, ...spec } = releaseOf("blue").spec;
    const unnamed = { ...releaseOf("blue"), spec };
    expect(removal(unnamed)).toContain("belongs to the cluster of Spoke blue");
    expect(removal(unnamed, spokeOf("green", madeByClusterApi))).toBeUndefined();
  });

  test.each(anotherCluster)("keeps a release from becoming %s", (_what, spec) => {
    expect(change(spec)).toContain("got a change that makes it another cluster");
  });

  test("lets a release be scaled, upgraded and suspended, and machine pools go", () => {
    const scaled = { values: { machinePools: { nodes: { desired: 2 } } } };
    const upgraded = { chart: { spec: { chart: "./charts/eks-cluster/1.1.0" } } };
    for (const spec of [scaled, upgraded, { suspend: true }, {}]) expect(change(spec)).toBeUndefined();
    expect(removal(machinePool)).toBeUndefined();
  });

  test("has nothing to say of releases, steps and namespaces of others", () => {
    const elsewhere = { ...namespace, metadata: { name: "podinfo" } };
    for (const each of [releaseOf("blue", "podinfo"), stepOf("tools"), stepOf("spoke-blue"), elsewhere])
      expect(removal(each)).toBeUndefined();
  });

  test("asks every Spoke, and is in nobody's way where there is none, or no API of Spokes", () => {
    expect(binding.spec).toMatchObject({
      policyName: policy.metadata.name,
      validationActions: ["Deny"],
      paramRef: { namespace: "spokes", selector: {}, parameterNotFoundAction: "Allow" },
    });
    expect(policy.spec.failurePolicy).toBe("Ignore");
  });
});
