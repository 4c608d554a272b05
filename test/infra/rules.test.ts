import { describe, expect, it } from "vitest";
import { readConfig } from "../../infra/config.ts";
import { rules } from "../../infra/rules.ts";
import type { Readable } from "../../infra/settings.ts";
import { project, stackConfig } from "../support/program.ts";

/** The rules between keys, on settings that could be read: what they take, and what each blames. */

const { settings: dev } = readConfig({
  project,
  values: stackConfig("dev"),
  isSecret: () => false,
  region: "eu-central-1",
});
const found = (settings: Readable) => rules.flatMap((rule) => rule(settings));
const inDev = (changes: Readable) => found({ ...dev, ...changes });
const without = (...names: string[]): Readable =>
  Object.fromEntries(Object.entries(dev).filter(([name]) => !names.includes(name)));

const former = (scope: string, generation: string, arnOf = `${scope}/${generation}`) => ({
  ...{ scope, generation, certificate: "PEM" },
  arn: `arn:aws:secretsmanager:eu-central-1:111111111111:secret:${dev.fleet}/sealing-keys/${arnOf}-AbCdEf`,
});
const sealed = (scope: string, generation: string, active: boolean) => ({ scope, generation, active });
/** Further regions of the hub's account, with names as long as any. */
const regions = (length: number) => Array.from({ length }, (_, index) => `ap-southeast-${index + 2}`);
const zones = ["eu-central-1a", "eu-central-1b"];

describe("a rule", () => {
  it.each(Object.keys(dev))("says nothing while %s can't be read", (name) => {
    expect(found(without(name))).toEqual([]);
  });

  it.each([
    ["the keys of the nodes", { nodeMin: 5 }, ["nodeDesired", "nodeMax"]],
    ["the keys of the nodes", { nodeMax: 0 }, ["nodeMin", "nodeDesired"]],
    ["the image of the nodes", { nodeInstanceTypes: ["m6i.large"] }, ["nodeAmiType"]],
    ["the number of zones", { availabilityZones: ["eu-central-1a"] }, ["zones"]],
    ["the VPC's block", { privateSubnetCidrs: ["10.9.0.0/18", "10.9.64.0/18"] }, ["vpcCidr"]],
    ["whether the VPC exists", { endpointPublicAccess: false }, ["vpcId"]],
    ["which networks are connected", { endpointPublicAccess: false }, ["endpointPrivateAccessCidrs"]],
    ["how Git is authenticated", { gitopsSystemRepoUrl: "https://github.com/a/b.git" }, ["gitAuthentication"]],
  ] as [string, Readable, string[]][])("does not guess %s", (_what, changes, names) => {
    expect(found({ ...without(...names), ...changes })).toEqual([]);
  });
});

describe("the rules take", () => {
  it.each([
    ["a subnet of the VPC for each zone", { privateSubnetCidrs: ["10.0.0.0/18", "10.0.64.0/18"] }],
    [
      "subnets of the smallest size that EC2 has, next to each other",
      { publicSubnetCidrs: ["10.0.0.0/28", "10.0.0.16/28"] },
    ],
    ["a zone's name for each zone", { availabilityZones: zones }],
    ["as many nodes as there may be at least", { nodeMin: 2, nodeDesired: 2, nodeMax: 3 }],
    ["as many nodes as there may be at most", { nodeMin: 1, nodeDesired: 3, nodeMax: 3 }],
    ["several Graviton types", { nodeInstanceTypes: ["m7g.large", "m6g.large"] }],
    [
      "a private endpoint alone",
      {
        endpointPublicAccess: false,
        endpointPublicAccessCidrs: [],
        endpointPrivateAccess: true,
        endpointPrivateAccessCidrs: ["10.20.0.0/16"],
      },
    ],
    [
      "a private endpoint alone in a VPC that exists, where the cluster's security group may have a runner in it",
      { endpointPublicAccess: false, vpcId: "vpc-1", privateSubnetIds: ["a", "b"] },
    ],
    ["both endpoints without connected networks", { endpointPublicAccess: true, endpointPrivateAccess: true }],
    ["a public endpoint alone", { endpointPublicAccess: true, endpointPrivateAccess: false }],
    [
      "networks of a public endpoint that is off",
      { endpointPublicAccess: false, endpointPrivateAccess: true, endpointPrivateAccessCidrs: ["10.20.0.0/16"] },
    ],
    [
      "an active generation in each scope, beside older ones",
      { sealingKeys: [sealed("dev", "1", false), sealed("dev", "2", true), sealed("qa", "1", true)] },
    ],
    [
      "former keys beside the one that seals, whose names end as ARNs do, too",
      { sealingKeys: [sealed("dev", "2", true)], formerSealingKeys: [former("dev", "1"), former("dev", "of-abcdef")] },
    ],
    ["names that only contain the reserved words", { fleet: "github-spokes" }],
    ["a pool beside the VPC", { vpcCidr: "10.0.0.0/16", spokeCidrPool: "10.64.0.0/10" }],
    [
      "a pool over the block of a VPC that is not made",
      { vpcId: "vpc-1", privateSubnetIds: ["a", "b"], spokeCidrPool: "10.0.0.0/8" },
    ],
    [
      "what add-ons of the catalogue need",
      {
        addonPermissions: [
          { actions: ["route53:ChangeResourceRecordSets"], resources: ["arn:aws:route53:::hostedzone/Z1"] },
        ],
      },
    ],
    [
      "accounts with regions of their own and in the hub's, and further regions of the hub's account",
      {
        accounts: [
          { id: "333333333333", regions: ["eu-west-1", "eu-west-2"], scopes: ["dev"] },
          { id: "444444444444", regions: [], scopes: ["dev"] },
        ],
        spokeRegions: ["eu-west-1"],
      },
    ],
    ["as many regions as the policies of Crossplane's role have room for", { spokeRegions: regions(12) }],
    [
      "a topic for the alerts of a workspace",
      { metrics: "amp", metricsAlertTopicArn: "arn:aws:sns:us-east-1:111111111111:alerts" },
    ],
    ["Grafana over metrics, with administrators", { metrics: "amp", grafana: "amg", grafanaAdminGroups: ["group"] }],
    ["Grafana with SAML", { metrics: "amp", grafana: "amg", grafanaAuthentication: "SAML" }],
    [
      "an Argo CD elsewhere that administers the hub",
      { argocdClusterSecret: true, argocdHubAdmin: true, argocdRoleArn: "arn:aws:iam::111111111111:role/a" },
    ],
    ["an Argo CD on the hub that acts on spokes", { argocdClusterSecret: true, argocdSpokes: true }],
    [
      "an Argo CD elsewhere that acts on spokes",
      { argocdClusterSecret: true, argocdSpokes: true, argocdRoleArn: "arn:aws:iam::111111111111:role/a" },
    ],
    ["the default namespace of Argo CD", { argocdClusterSecret: true, argocdNamespace: "argocd" }],
  ] as [string, Readable][])("%s", (_what, changes) => {
    expect(inDev(changes)).toEqual([]);
  });
});

describe("the rules blame", () => {
  it.each([
    ["fewer nodes wanted than there must be", { nodeMin: 3, nodeDesired: 2, nodeMax: 4 }, ["nodeDesired"]],
    [
      "a subnet larger than EC2 has",
      { vpcCidr: "10.0.0.0/8", spokeCidrPool: "172.16.0.0/12", privateSubnetCidrs: ["10.0.0.0/15", "10.2.0.0/16"] },
      ["privateSubnetCidrs[0]"],
    ],
    ["more zone names than zones", { availabilityZones: [...zones, "eu-central-1c"] }, ["availabilityZones"]],
    ["fewer subnets than zones", { publicSubnetCidrs: ["10.0.0.0/24"] }, ["publicSubnetCidrs"]],
    ["a list of one zone twice", { availabilityZones: ["eu-central-1a", "eu-central-1a"] }, ["availabilityZones"]],
    ["one subnet of an existing VPC, twice", { vpcId: "vpc-1", privateSubnetIds: ["a", "a"] }, ["privateSubnetIds"]],
    [
      "ids without a VPC, each list",
      { publicSubnetIds: ["a"], egressCidrs: ["5.6.7.8/32"] },
      ["publicSubnetIds", "egressCidrs"],
    ],
    [
      "connected networks of a private endpoint that is off",
      { endpointPublicAccess: true, endpointPrivateAccess: false, endpointPrivateAccessCidrs: ["10.20.0.0/16"] },
      ["endpointPrivateAccessCidrs"],
    ],
    [
      "a private endpoint alone that nobody but the nodes of a new VPC may use",
      { endpointPublicAccess: false, endpointPrivateAccess: true, endpointPrivateAccessCidrs: [] },
      ["endpointPrivateAccessCidrs"],
    ],
    [
      "no endpoint at all once",
      { endpointPublicAccess: false, endpointPrivateAccess: false },
      ["endpointPrivateAccess"],
    ],
    [
      "a connected network that is more than a /8",
      { endpointPrivateAccess: true, endpointPrivateAccessCidrs: ["10.0.0.0/8", "8.0.0.0/7"] },
      ["endpointPrivateAccessCidrs"],
    ],
    ["Grafana without metrics", { grafana: "amg" }, ["grafana"]],
    ["administrators of a Grafana that isn't made", { grafanaAdminGroups: ["group"] }, ["grafanaAdminGroups"]],
    [
      "groups of IAM Identity Center where people sign in by SAML",
      { metrics: "amp", grafana: "amg", grafanaAuthentication: "SAML", grafanaAdminGroups: ["group"] },
      ["grafanaAdminGroups"],
    ],
    ["a fleet that begins as a hub", { fleet: "hub-a" }, ["fleet"]],
    ["a fleet that ends as a spoke", { fleet: "a-spoke" }, ["fleet"]],
    ["a fleet called hub", { fleet: "hub" }, ["fleet"]],
    [
      "the sealing key whose name is too long, not the fleet",
      { sealingKeys: [sealed("a".repeat(500), "1", true)] },
      ["sealingKeys"],
    ],
    [
      "a scope without an active generation and one with two, each once",
      { sealingKeys: [sealed("dev", "1", true), sealed("dev", "2", true), sealed("qa", "1", false)] },
      ["sealingKeys", "sealingKeys"],
    ],
    [
      "a former key that is there twice, one that the stack makes, and one of a scope with which nobody seals",
      {
        sealingKeys: [sealed("dev", "2", true)],
        formerSealingKeys: [former("dev", "1"), former("dev", "1"), former("dev", "2"), former("qa", "1")],
      },
      ["formerSealingKeys", "formerSealingKeys", "formerSealingKeys"],
    ],
    [
      "the ARN of another key, of another kind of secret, and one without what Secrets Manager puts behind the name",
      {
        sealingKeys: [sealed("dev", "4", true)],
        formerSealingKeys: [
          former("dev", "1", "prod/1"),
          {
            ...former("dev", "2"),
            arn: `arn:aws:secretsmanager:eu-central-1:111111111111:secret:${dev.fleet}/git/a-AbCdEf`,
          },
          { ...former("dev", "3"), arn: former("dev", "3").arn.replace("-AbCdEf", "") },
        ],
      },
      ["formerSealingKeys", "formerSealingKeys", "formerSealingKeys"],
    ],
    [
      "another processor once, whatever the number of types",
      { nodeInstanceTypes: ["m6i.large", "m6i.xlarge"] },
      ["nodeInstanceTypes"],
    ],
    [
      "two administrators who are named three times",
      { clusterAdmins: ["a", "b", "a", "b", "a"] },
      ["clusterAdmins", "clusterAdmins"],
    ],
    [
      "each action that gives rights, roles of others and a boundary that is too long",
      {
        addonPermissions: [
          { actions: ["iam:CreateRole", "*"], resources: ["*"] },
          { actions: ["iam:PassRole"], resources: ["arn:aws:iam::111111111111:role/admin"] },
          {
            actions: ["ec2:DescribeVpcs"],
            resources: Array.from({ length: 200 }, (_, index) => `arn:aws:s3:::bucket-${index}`),
          },
        ],
      },
      ["addonPermissions", "addonPermissions", "addonPermissions", "addonPermissions"],
    ],
    [
      "an account, one of its regions, one of its scopes and a region of the hub's account that are named twice",
      {
        accounts: [
          { id: "333333333333", regions: ["eu-west-1", "eu-west-1"], scopes: ["dev", "dev"] },
          { id: "333333333333", regions: [], scopes: ["dev"] },
        ],
        spokeRegions: ["eu-west-1", "eu-west-1"],
      },
      ["accounts", "accounts", "accounts", "spokeRegions"],
    ],
    [
      "regions of two partitions",
      { accounts: [{ id: "333333333333", regions: ["cn-north-1"], scopes: ["dev"] }], spokeRegions: ["eu-west-1"] },
      ["accounts"],
    ],
    [
      "a scope of an account that has no sealing key, and that of the hub",
      {
        accounts: [{ id: "333333333333", regions: [], scopes: ["dev", "prod", "cluster-hub"] }],
        sealingKeys: [sealed("dev", "1", true), sealed("cluster-hub", "1", true)],
      },
      ["accounts", "accounts"],
    ],
    [
      "more accounts than a policy of Crossplane's providers has room for",
      {
        accounts: Array.from({ length: 110 }, (_, index) => ({
          id: String(300_000_000_000 + index),
          regions: [],
          scopes: ["dev"],
        })),
      },
      ["accounts"],
    ],
    [
      "more regions than a policy of Crossplane's providers has room for",
      { spokeRegions: regions(24) },
      ["spokeRegions"],
    ],
    [
      "more regions than a policy of Crossplane's providers and a boundary have room for",
      { spokeRegions: regions(40) },
      ["spokeRegions", "spokeRegions"],
    ],
    [
      "each Git URL that does not go with tokens",
      { gitAuthentication: "token", gitToken: "t" },
      ["gitopsSystemRepoUrl", "gitopsWorkloadsRepoUrl"],
    ],
  ] as [string, Readable, string[]][])("%s", (_what, changes, keys) => {
    expect(inDev(changes).map(({ key }) => key)).toEqual(keys);
  });

  it("a fleet's length by how much too long each name is", () => {
    const [role] = inDev({ fleet: "f".repeat(41) });
    expect(role).toMatchObject({
      key: "fleet",
      allowed: "at most 64 characters",
      remedy: "shorten it by at least 2 characters",
    });
  });

  it("two active generations by name", () => {
    const [problem] = inDev({
      sealingKeys: [sealed("dev", "1", true), sealed("dev", "2", true), sealed("dev", "3", false)],
    });
    expect(problem?.got).toBe("active: 1, 2");
  });

  it("only the types of another processor", () => {
    const [problem] = inDev({ nodeInstanceTypes: ["m7g.large", "m6i.large"] });
    expect(problem?.got).toContain("m6i.large");
    expect(problem?.got).not.toContain("m7g.large");
  });
});
