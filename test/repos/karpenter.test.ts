import { describe, expect, test } from "vitest";
import { nodeTemplate } from "../../lib/eks-baseline.ts";
import { arns } from "../../lib/iam/policy.ts";
import { principalTags } from "../../lib/labels.ts";
import * as fixtures from "../functions/spoke/support/fixtures.ts";
import { settled } from "../functions/spoke/support/world.ts";
import { arn, rightsOf } from "./support/addon-role.ts";
import type { Manifest } from "./support/kustomize.ts";
import { kustomizations, type Rendered, render, withAddons } from "./support/spoke.ts";

const spoke = withAddons("minimal", ["karpenter", "karpenter_nodes"]);
const rendered = render(spoke);
const one = (step: string, wanted: string, from: Rendered = rendered): Manifest => {
  const found = from.by(step).find(({ kind }) => kind === wanted);
  if (found === undefined) throw new Error(`${step} makes no ${wanted}`);
  return found;
};
const cluster = "fleet-spoke-blue";
const ofCluster = (name: string, by: "Request" | "Resource" = "Resource") => ({
  [`aws:${by}Tag/kubernetes.io/cluster/${name}`]: "owned",
  [`aws:${by}Tag/karpenter.sh/nodepool`]: "default",
});
const made = (name: string) => ({ ...ofCluster(name, "Request"), "aws:RequestTag/eks:eks-cluster-name": name });

describe("the role of Karpenter", () => {
  const may = rightsOf("karpenter");
  const instance = arn("ec2", "instance/i-1");
  const template = arn("ec2", "launch-template/lt-1");
  const subnet = arn("ec2", "subnet/subnet-1");
  const group = arn("ec2", "security-group/sg-1");
  const profile = (name: string) =>
    arns({ partition: "aws", accountId: "000000000000", region: "us-east-1" }).instanceProfile(
      `karpenter/us-east-1/${name}/uid/${name}_1`,
    );
  const role = (name: string) => `arn:aws:iam::000000000000:role/${name}`;

  test.for([
    ["ec2:TerminateInstances", instance],
    ["ec2:DeleteLaunchTemplate", template],
    ["ec2:RunInstances", template],
    ["ec2:CreateFleet", template],
  ] as const)(
    "may %s of its own cluster's, and neither of another cluster's nor of what has no tag",
    ([action, on]) => {
      expect(may(action, on, ofCluster(cluster))).toBe(true);
      expect(may(action, on, ofCluster("fleet-spoke-green"))).toBe(false);
      expect(may(action, on, { [`aws:ResourceTag/kubernetes.io/cluster/${cluster}`]: "owned" })).toBe(false);
      expect(may(action, on)).toBe(false);
    },
  );

  test("makes instances, volumes and launch templates with the tags of its own cluster only", () => {
    for (const [action, on] of [
      ["ec2:RunInstances", instance],
      ["ec2:RunInstances", arn("ec2", "volume/vol-1")],
      ["ec2:RunInstances", arn("ec2", "network-interface/eni-1")],
      ["ec2:CreateFleet", arn("ec2", "fleet/fleet-1")],
      ["ec2:CreateLaunchTemplate", template],
    ] as const) {
      expect(may(action, on, made(cluster)), action).toBe(true);
      expect(may(action, on, made("fleet-spoke-green")), action).toBe(false);
      expect(may(action, on), action).toBe(false);
    }
  });

  test("puts nodes into the subnets and the security group of its own cluster, and nowhere else", () => {
    for (const [on, key] of [
      [subnet, "aws:ResourceTag/karpenter.sh/discovery"],
      [group, "aws:ResourceTag/aws:eks:cluster-name"],
    ] as const) {
      expect(may("ec2:RunInstances", on, { [key]: cluster }), on).toBe(true);
      for (const other of ["fleet-hub", "fleet-spoke-green"])
        expect(may("ec2:RunInstances", on, { [key]: other }), on).toBe(false);
      expect(may("ec2:RunInstances", on), on).toBe(false);
    }
  });

  test("gives nodes the role of the spoke's own nodes, and no other, and to no other service", () => {
    const pass = (name: string, service = "ec2.amazonaws.com") =>
      may("iam:PassRole", role(name), { "iam:PassedToService": service });
    expect(pass(`${cluster}-node`)).toBe(true);
    for (const name of [
      "fleet-spoke-green-node",
      "fleet-hub-node",
      `${cluster}-crossplane`,
      `${cluster}-addon-karpenter`,
    ])
      expect(pass(name), name).toBe(false);
    expect(pass(`${cluster}-node`, "lambda.amazonaws.com")).toBe(false);
  });

  test("makes and changes instance profiles of its own cluster only", () => {
    const own = { [`aws:ResourceTag/kubernetes.io/cluster/${cluster}`]: "owned" };
    const asked = {
      "aws:RequestTag/eks:eks-cluster-name": cluster,
      [`aws:RequestTag/kubernetes.io/cluster/${cluster}`]: "owned",
      "aws:RequestTag/topology.kubernetes.io/region": "us-east-1",
      "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass": "default",
    };
    for (const [action, context] of [
      ["iam:CreateInstanceProfile", asked],
      ["iam:TagInstanceProfile", { ...own, ...asked }],
      ["iam:AddRoleToInstanceProfile", own],
      ["iam:RemoveRoleFromInstanceProfile", own],
      ["iam:DeleteInstanceProfile", own],
    ] as const) {
      expect(may(action, profile(cluster), context), action).toBe(true);
      expect(may(action, profile(cluster)), action).toBe(false);
      // That of the managed node group, and another cluster's.
      for (const other of [arn("iam", "instance-profile/eks-1").replace("us-east-1", ""), profile("fleet-spoke-green")])
        expect(may(action, other, context), `${action} ${other}`).toBe(false);
    }
  });

  test("takes no node from another cluster, and gives none to one", () => {
    const tag = (keys: string, resource: Readonly<Record<string, string>>, name = cluster) =>
      may("ec2:CreateTags", instance, {
        ...resource,
        "aws:TagKeys": keys.split(","),
        "aws:RequestTag/eks:eks-cluster-name": name,
      });
    expect(tag("Name,karpenter.sh/nodeclaim,eks:eks-cluster-name", ofCluster(cluster))).toBe(true);
    expect(tag("Name", ofCluster("fleet-spoke-green"))).toBe(false);
    expect(tag("eks:eks-cluster-name", ofCluster(cluster), "fleet-spoke-green")).toBe(false);
    expect(tag("Name,kubernetes.io/cluster/fleet-spoke-green", ofCluster(cluster))).toBe(false);
  });
});

describe("the chart of Karpenter", () => {
  test.for([
    ["", "oci", "oci://public.ecr.aws/karpenter"],
    ["https://charts.example.com", "default", "https://charts.example.com"],
    ["oci://registry.example.com/charts", "oci", "oci://registry.example.com/charts"],
  ] as const)("comes from a mirror %o as from upstream, in the form of the registry", ([chartsRegistry, type, url]) => {
    const hub = { ...fixtures.hub, chartsRegistry };
    expect(one("karpenter", "HelmRepository", render(spoke, { hub })).spec).toMatchObject({ type, url });
  });
});

describe("the nodes that Karpenter makes", () => {
  const { spec } = one("karpenter-nodes", "EC2NodeClass");
  const pool = one("karpenter-nodes", "NodePool").spec;

  test("are found in the subnets with a route to the internet: the function tags those, and no others", () => {
    for (const [natGateways, side] of [
      ["single", "private"],
      ["none", "public"],
    ] as const) {
      const network = { ...spoke.spec.network, natGateways };
      const world = settled({ ...spoke, spec: { ...spoke.spec, network } });
      for (const each of ["public", "private"] as const)
        expect(world.forProvider(`subnet-${each}-0`)["tags"]).toEqual(
          (each === side ? expect : expect.not).objectContaining(spec.subnetSelectorTerms[0].tags),
        );
    }
  });

  test("have the role, the root volume and the metadata settings of the spoke's managed nodes", () => {
    const template = nodeTemplate(50, undefined);
    expect(spec.role).toBe(settled(spoke).object("role-node").metadata.annotations?.["crossplane.io/external-name"]);
    expect(spec.metadataOptions).toMatchObject(template.metadataOptions);
    const [disk] = template.blockDeviceMappings;
    expect(spec.blockDeviceMappings).toEqual([
      {
        deviceName: disk?.deviceName,
        ebs: { volumeSize: "50Gi", volumeType: disk?.ebs.volumeType, encrypted: true, deleteOnTermination: true },
      },
    ]);
  });

  test("have the Spoke's own key for their volumes", () => {
    const volumeKey = "arn:aws:kms:us-east-1:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    const { accountId } = fixtures.hub.aws;
    const places = { ...fixtures.hub.spokePlaces, [accountId]: { regions: ["us-east-1"], volumeKeys: [volumeKey] } };
    const own = render(
      { ...spoke, spec: { ...spoke.spec, volumeKey } },
      { hub: { ...fixtures.hub, spokePlaces: places } },
    );
    const [disk] = one("karpenter-nodes", "EC2NodeClass", own).spec.blockDeviceMappings;
    expect(disk.ebs).toEqual({ ...spec.blockDeviceMappings[0].ebs, kmsKeyID: volumeKey });
  });

  test("carry the tags by which the boundary of their role lets the VPC CNI act", () => {
    const { Name: _, ...tags } = settled(spoke).forProvider("launch-template")["tags"] as Record<string, string>;
    expect(spec.tags).toEqual(tags);
    expect(spec.tags[principalTags.cluster]).toBe(cluster);
  });

  test("are limited, on demand and replaced by nobody but a commit until a value says otherwise", () => {
    expect(pool.limits).toEqual({ cpu: "64", memory: "256Gi" });
    const requirement = (key: string) =>
      pool.template.spec.requirements.find((each: { key: string }) => each.key === key)?.values;
    expect(requirement("karpenter.sh/capacity-type")).toEqual(["on-demand"]);
    expect(pool.disruption.budgets).toContainEqual({ nodes: "0", reasons: ["Drifted"] });
  });

  test("take each value from every cluster's, then the environment's, then the cluster's own", () => {
    const step = kustomizations(rendered.by("tools")).find(({ metadata }) => metadata.name === "karpenter-nodes");
    expect(step?.spec.postBuild.substituteFrom).toEqual([
      { kind: "ConfigMap", name: "cluster-info" },
      { kind: "ConfigMap", name: "karpenter-nodes-values" },
      { kind: "ConfigMap", name: "karpenter-nodes-values-environment", optional: true },
      { kind: "ConfigMap", name: "karpenter-nodes-values-cluster", optional: true },
    ]);
  });

  test("go before the controller does, which stays as long as there is one", () => {
    const step = kustomizations(rendered.by("tools")).find(({ metadata }) => metadata.name === "karpenter-nodes");
    expect(step?.spec).toMatchObject({ dependsOn: [{ name: "karpenter" }], deletionPolicy: "WaitForTermination" });
    expect(one("karpenter", "ValidatingAdmissionPolicy").spec).toMatchObject({
      paramKind: { apiVersion: "karpenter.sh/v1", kind: "NodeClaim" },
      matchConstraints: {
        resourceRules: [{ operations: ["DELETE"], resources: ["kustomizations"], resourceNames: ["karpenter"] }],
      },
      validations: [{ expression: "false" }],
    });
    expect(one("karpenter", "ValidatingAdmissionPolicyBinding").spec).toEqual({
      policyName: one("karpenter", "ValidatingAdmissionPolicy").metadata.name,
      paramRef: { selector: {}, parameterNotFoundAction: "Allow" },
      validationActions: ["Deny"],
    });
  });
});
