import { describe, expect, it } from "vitest";
import { clusterApiPolicy } from "../../../lib/iam/cluster-api.ts";
import { clusterApiBoundary } from "../../../lib/iam/cluster-api-boundary.ts";
import { allowed } from "../../support/iam.ts";
import { mentions } from "../../support/iam-evaluator.ts";

const account = { partition: "aws", accountId: "000000000000", region: "us-east-1" };
const iam = (resource: string) => `arn:aws:iam::000000000000:${resource}`;
const eks = (resource: string) => `arn:aws:eks:us-east-1:000000000000:${resource}`;
const boundaryArn = iam("policy/fleet-cluster-api-boundary");
const policy = clusterApiPolicy({
  ...account,
  fleet: "fleet",
  dnsSuffix: "amazonaws.com",
  spokePrefix: "fleet-spoke-",
  boundaryArn,
  keyArn: "arn:aws:kms:us-east-1:000000000000:key/1",
});

type Tags = Readonly<Record<string, string>>;
const role = (name: string) => iam(`role/fleet-spoke-${name}`);
const keyed = (prefix: string, tags: Tags): Tags =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [`${prefix}/${key}`, value]));
/** The tags of what exists, by both keys that IAM has for them. */
const existing = (tags: Tags): Tags => ({ ...keyed("aws:ResourceTag", tags), ...keyed("iam:ResourceTag", tags) });
const requested = (tags: Tags): Tags => keyed("aws:RequestTag", tags);

const bounded = { "iam:PermissionsBoundary": boundaryArn };
const ofSpoke = { "fleet.internal/fleet": "fleet", "eks-cluster-name": "fleet-spoke-blue" };
const ofChart = (identity: string) => ({
  ...ofSpoke,
  "fleet.internal/identity": identity,
  "fleet.internal/made-by": "cluster-api",
});
const node = ofChart("node");
const ofCrossplane = (identity: string) => ({ ...ofSpoke, "fleet.internal/identity": identity });
const ofApplication = { "eks-cluster-name": "fleet-spoke-green", "kubernetes-namespace": "shop" };

const may = (action: string, resource: string, context: Tags = {}) => allowed(policy, { action, resource, context });

describe("Cluster API's AWS provider and roles", () => {
  it.each(["cluster", "node"])("makes the role of a %s with its tags, and looks after it", (identity) => {
    const own = role(`blue.${identity}`);
    const tags = ofChart(identity);
    expect(may("iam:CreateRole", own, { ...bounded, ...requested(tags) })).toBe(true);
    expect(may("iam:TagRole", own, requested(tags))).toBe(true);
    const known = { ...bounded, ...existing(tags) };
    expect(may("iam:TagRole", own, { ...existing(tags), ...requested({ environment: "dev" }) })).toBe(true);
    expect(may("iam:UntagRole", own, existing(tags))).toBe(true);
    for (const action of ["iam:DeleteRole", "iam:UpdateAssumeRolePolicy"])
      expect(may(action, own, known), action).toBe(true);
    const policyOf = (name: string) => ({ "iam:PolicyARN": `arn:aws:iam::aws:policy/${name}` });
    expect(may("iam:AttachRolePolicy", own, { ...known, ...policyOf("AmazonEKSWorkerNodePolicy") })).toBe(true);
    expect(may("iam:AttachRolePolicy", own, { ...known, ...policyOf("AdministratorAccess") })).toBe(false);
  });

  it("makes no role without the boundary or the tags by which it is known, or of another identity", () => {
    const makes = (context: Tags) => may("iam:CreateRole", role("blue.node"), context);
    expect(makes(requested(node))).toBe(false);
    expect(makes(bounded)).toBe(false);
    expect(makes({ ...bounded, ...requested(ofChart("external-secrets")) })).toBe(false);
    expect(may("iam:TagRole", role("blue.node"), requested(ofChart("external-secrets")))).toBe(false);
    const renamed = { ...existing(node), ...requested({ "fleet.internal/identity": "external-secrets" }) };
    expect(may("iam:TagRole", role("blue.node"), renamed)).toBe(false);
  });

  it.each(["cluster", "node", "node-batch", "aws-ebs-csi-driver"])(
    "passes the role of %s to EC2 and EKS, and no role of a cluster that Crossplane made",
    (suffix) => {
      for (const service of ["ec2.amazonaws.com", "eks.amazonaws.com"]) {
        const passes = (name: string) => may("iam:PassRole", role(name), { "iam:PassedToService": service });
        expect(passes(`blue.${suffix}`)).toBe(true);
        for (const name of [`blue-${suffix}`, `multi-node-${suffix}`, "blue_shop"])
          expect(passes(name), name).toBe(false);
      }
      expect(may("iam:PassRole", role(`blue.${suffix}`), { "iam:PassedToService": "lambda.amazonaws.com" })).toBe(
        false,
      );
    },
  );

  it.each([
    ["Crossplane's on a spoke that is called multi-node-a", "multi-node-a-crossplane", ofCrossplane("crossplane")],
    ["the nodes' of a cluster that Crossplane made", "green-node", ofCrossplane("node")],
    ["an application's that is called like a node's", "green_shop_my-node", ofApplication],
    ["one without tags", "green-node", {}],
  ])("changes no role of others: %s", (_name, name, tags) => {
    const known = { ...bounded, ...existing(tags), "iam:PolicyARN": "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy" };
    for (const action of ["AttachRolePolicy", "DeleteRole", "DetachRolePolicy", "UpdateAssumeRolePolicy", "UntagRole"])
      expect(may(`iam:${action}`, role(name), known), action).toBe(false);
    if (Object.keys(tags).length === 0) return;
    for (const wanted of [node, { ...node, ...tags }, { environment: "dev" }])
      expect(may("iam:TagRole", role(name), { ...existing(tags), ...requested(wanted) })).toBe(false);
  });
});

describe("Cluster API's AWS provider and clusters", () => {
  const cluster = eks("cluster/fleet-spoke-blue");
  const ofCluster = [
    ...["AssociateEncryptionConfig", "CreateAccessEntry", "CreateAddon", "CreateNodegroup"],
    ...["DeleteCluster", "UpdateClusterConfig", "UpdateClusterVersion"],
  ].map((call) => [call, cluster] as const);
  const ofParts = [
    ["access-entry/fleet-spoke-blue/role/000000000000/x/1", "AccessEntry"],
    ["addon/fleet-spoke-blue/coredns/1", "Addon"],
    ["nodegroup/fleet-spoke-blue/fleet-spoke-blue-nodes/1", "Nodegroup"],
  ].flatMap(([resource = "", kind = ""]) =>
    [`Delete${kind}`, `Update${kind}${kind === "Nodegroup" ? "Config" : ""}`].map(
      (call) => [call, eks(resource)] as const,
    ),
  );
  const policies = ["AssociateAccessPolicy", "DisassociateAccessPolicy"].map(
    (call) => [call, eks("access-entry/fleet-spoke-blue/role/000000000000/x/1")] as const,
  );

  it.each([...ofCluster, ...ofParts, ...policies])(
    "calls %s on what it made, and on nothing of a cluster that Crossplane made or that has no tags",
    (call, resource) => {
      expect(may(`eks:${call}`, resource, existing(node))).toBe(true);
      expect(may(`eks:${call}`, resource, existing(ofCrossplane("cluster")))).toBe(false);
      expect(may(`eks:${call}`, resource)).toBe(false);
    },
  );

  it("makes clusters with tags, and takes none over by its tags", () => {
    expect(may("eks:CreateCluster", cluster, requested(node))).toBe(true);
    expect(may("eks:TagResource", cluster, requested(node))).toBe(true);
    // Whether EKS takes the tags of the request for those of the cluster or not.
    expect(may("eks:TagResource", cluster, { ...existing(node), ...requested(node) })).toBe(true);
    expect(may("eks:TagResource", cluster, { ...existing(ofSpoke), ...requested(node) })).toBe(false);
    expect(may("eks:UntagResource", cluster, existing(ofSpoke))).toBe(false);
  });

  it.each([
    ["CreateTags", "vpc"],
    ["DeleteSubnet", "subnet"],
    ["DeleteVpc", "vpc"],
    ["ReplaceRoute", "route-table"],
    ["AuthorizeSecurityGroupIngress", "security-group"],
    ["DeleteSecurityGroup", "security-group"],
  ])("calls %s on a %s that it made, and on none that Crossplane made for a spoke", (call, kind) => {
    const calls = (tags: Tags) =>
      may(`ec2:${call}`, `arn:aws:ec2:us-east-1:000000000000:${kind}/x`, {
        ...existing(tags),
        "aws:RequestedRegion": "us-east-1",
      });
    expect(calls(ofChart("cluster"))).toBe(true);
    expect(calls(ofSpoke)).toBe(false);
    expect(calls({ ...ofSpoke, "fleet.internal/made-by": "crossplane" })).toBe(false);
    expect(calls({})).toBe(false);
  });

  it("changes nothing of the hub's network, whatever tags it has besides", () => {
    const tags = { ...ofChart("cluster"), "fleet.internal/cluster": "hub" };
    const context = { ...existing(tags), "aws:RequestedRegion": "us-east-1" };
    expect(may("ec2:DeleteVpc", "arn:aws:ec2:us-east-1:000000000000:vpc/x", context)).toBe(false);
  });

  it("makes networks with the tags by which it finds them again", () => {
    const makes = (call: string, kind: string, tags: Tags) =>
      may(`ec2:${call}`, `arn:aws:ec2:us-east-1:000000000000:${kind}/x`, {
        ...requested(tags),
        "aws:RequestedRegion": "us-east-1",
      });
    expect(makes("CreateVpc", "vpc", ofChart("cluster"))).toBe(true);
    expect(makes("CreateSecurityGroup", "security-group", ofChart("cluster"))).toBe(true);
  });

  it("starts no instances and has no launch templates: EKS makes its nodes", () => {
    for (const call of ["RunInstances", "CreateLaunchTemplate", "CreateLaunchTemplateVersion", "DeleteLaunchTemplate"])
      expect(mentions(policy, `ec2:${call}`), call).toBe(false);
    expect(mentions(policy, "ec2:CreateSubnet")).toBe(true);
  });
});

describe("the boundary of the roles that Cluster API's AWS provider makes", () => {
  const boundary = clusterApiBoundary({ ...account, fleet: "fleet" });
  const vpc = (id: string) => `arn:aws:ec2:us-east-1:000000000000:vpc/${id}`;
  const ec2 = (kind: string) => `arn:aws:ec2:us-east-1:000000000000:${kind}/x`;
  /** The credentials of a node of blue, which EKS started from its own launch template. */
  const atNode = {
    ...keyed("aws:PrincipalTag", node),
    "aws:RequestedRegion": "us-east-1",
    "aws:Ec2InstanceSourceVpc": "vpc-blue",
  };
  const asNode = (action: string, kind: string, context: Tags = {}) =>
    allowed(boundary, { action: `ec2:${action}`, resource: ec2(kind), context: { ...atNode, ...context } });
  const inVpc = (id: string) => ({ "ec2:Vpc": vpc(id) });
  const ofCni = requested({ "eks-cluster-name": "fleet-spoke-blue", "node.k8s.amazonaws.com/instance_id": "i-1" });
  const byEks = (cluster: string) => existing({ "eks:cluster-name": cluster });

  it("lets a node tag its first interface, which has no tags, and then do with it what the VPC CNI does", () => {
    expect(asNode("CreateTags", "network-interface", { ...inVpc("vpc-blue"), ...ofCni })).toBe(true);
    const tagged = existing({ "eks-cluster-name": "fleet-spoke-blue" });
    for (const call of ["AssignPrivateIpAddresses", "UnassignPrivateIpAddresses", "ModifyNetworkInterfaceAttribute"]) {
      expect(asNode(call, "network-interface", inVpc("vpc-blue")), call).toBe(false);
      expect(asNode(call, "network-interface", { ...inVpc("vpc-blue"), ...tagged }), call).toBe(true);
    }
    expect(asNode("CreateNetworkInterface", "network-interface", ofCni)).toBe(true);
  });

  it.each<[string, Tags]>([
    ["in another VPC", { ...inVpc("vpc-hub"), ...ofCni }],
    [
      "of another cluster",
      { ...inVpc("vpc-blue"), ...ofCni, ...existing({ "eks-cluster-name": "fleet-spoke-green" }) },
    ],
    ["as another cluster's", { ...inVpc("vpc-blue"), ...requested({ "eks-cluster-name": "fleet-spoke-green" }) }],
    ["of the hub", { ...inVpc("vpc-blue"), ...ofCni, ...existing({ "fleet.internal/cluster": "hub" }) }],
    [
      "as a node that Crossplane made, whose VPC may be others' too",
      { ...inVpc("vpc-blue"), ...ofCni, "aws:PrincipalTag/fleet.internal/made-by": "crossplane" },
    ],
  ])("lets nobody tag an interface %s", (_what, context) => {
    expect(asNode("CreateTags", "network-interface", context)).toBe(false);
  });

  it("lets credentials that no instance has tag no interface", () => {
    const { "aws:Ec2InstanceSourceVpc": _, ...context } = atNode;
    const request = { action: "ec2:CreateTags", resource: ec2("network-interface") };
    const withTags = { ...inVpc("vpc-blue"), ...ofCni };
    expect(allowed(boundary, { ...request, context: { ...atNode, ...withTags } })).toBe(true);
    expect(allowed(boundary, { ...request, context: { ...context, ...withTags } })).toBe(false);
  });

  it("lets a node attach interfaces to nodes that EKS tagged with its cluster, and to no other instance", () => {
    for (const call of ["AttachNetworkInterface", "DetachNetworkInterface", "ModifyNetworkInterfaceAttribute"]) {
      expect(asNode(call, "instance", byEks("fleet-spoke-blue")), call).toBe(true);
      for (const tags of [{}, byEks("fleet-spoke-green"), byEks("fleet-hub")])
        expect(asNode(call, "instance", tags), call).toBe(false);
    }
    for (const call of ["TerminateInstances", "ModifyInstanceAttribute", "CreateTags"])
      expect(asNode(call, "instance", { ...byEks("fleet-spoke-blue"), ...ofCni }), call).toBe(false);
  });

  it("has no right that only an identity of a Spoke needs", () => {
    for (const action of ["secretsmanager:GetSecretValue", "kms:Decrypt", "dynamodb:CreateTable", "iam:CreateRole"])
      expect(mentions(boundary, action), action).toBe(false);
  });
});
