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
  it.each(Object.keys(dev))("says nothing while %s can't be read", (name) => expect(found(without(name))).toEqual([]));

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

const taken = (what: string, changes: object) => [what, changes as Readable] as const;
/** Keys that are blamed for a change, in the order of the rules. */
const blamed = (what: string, keys: string[], changes: object) => [what, keys, changes as Readable] as const;

describe("the rules take", () => {
  it.each([
    taken("a subnet of the VPC for each zone", { privateSubnetCidrs: ["10.0.0.0/18", "10.0.64.0/18"] }),
    taken("subnets of the smallest size that EC2 has, next to each other", {
      publicSubnetCidrs: ["10.0.0.0/28", "10.0.0.16/28"],
    }),
    taken("a zone's name for each zone", { availabilityZones: zones }),
    taken("as many nodes as there may be at least", { nodeMin: 2, nodeDesired: 2, nodeMax: 3 }),
    taken("as many nodes as there may be at most", { nodeMin: 1, nodeDesired: 3, nodeMax: 3 }),
    taken("several Graviton types", { nodeInstanceTypes: ["m7g.large", "m6g.large"] }),
    taken("a private endpoint alone", {
      endpointPublicAccess: false,
      endpointPublicAccessCidrs: [],
      endpointPrivateAccess: true,
      endpointPrivateAccessCidrs: ["10.20.0.0/16"],
    }),
    taken("a private endpoint alone in a VPC that exists, where the cluster's security group may have a runner in it", {
      endpointPublicAccess: false,
      vpcId: "vpc-1",
      privateSubnetIds: ["a", "b"],
    }),
    taken("both endpoints without connected networks", { endpointPublicAccess: true, endpointPrivateAccess: true }),
    taken("a public endpoint alone", { endpointPublicAccess: true, endpointPrivateAccess: false }),
    taken("networks of a public endpoint that is off", {
      endpointPublicAccess: false,
      endpointPrivateAccess: true,
      endpointPrivateAccessCidrs: ["10.20.0.0/16"],
    }),
    taken("an active generation in each scope, beside older ones", {
      sealingKeys: [sealed("dev", "1", false), sealed("dev", "2", true), sealed("qa", "1", true)],
    }),
    taken("former keys beside the one that seals, whose names end as ARNs do, too", {
      sealingKeys: [sealed("dev", "2", true)],
      formerSealingKeys: [former("dev", "1"), former("dev", "of-abcdef")],
    }),
    taken("names that only contain the reserved words", { fleet: "github-spokes" }),
    taken("a pool beside the VPC", { vpcCidr: "10.0.0.0/16", spokeCidrPool: "10.64.0.0/10" }),
    taken("a pool over the block of a VPC that is not made", {
      vpcId: "vpc-1",
      privateSubnetIds: ["a", "b"],
      spokeCidrPool: "10.0.0.0/8",
    }),
    taken("what add-ons of the catalogue need", {
      addonPermissions: [
        { actions: ["route53:ChangeResourceRecordSets"], resources: ["arn:aws:route53:::hostedzone/Z1"] },
      ],
    }),
    taken("accounts with regions of their own and in the hub's, and further regions of the hub's account", {
      accounts: [
        { id: "333333333333", regions: ["eu-west-1", "eu-west-2"], scopes: ["dev"] },
        { id: "444444444444", regions: [], scopes: ["dev"] },
      ],
      spokeRegions: ["eu-west-1"],
    }),
    taken("as many regions as the policies of Crossplane's role have room for", { spokeRegions: regions(12) }),
    taken("a topic for the alerts of a workspace", {
      metrics: "amp",
      metricsAlertTopicArn: "arn:aws:sns:us-east-1:111111111111:alerts",
    }),
    taken("Grafana over metrics, with administrators", {
      metrics: "amp",
      grafana: "amg",
      grafanaAdminGroups: ["group"],
    }),
    taken("Grafana with SAML", { metrics: "amp", grafana: "amg", grafanaAuthentication: "SAML" }),
    taken("an Argo CD elsewhere that administers the hub", {
      argocdClusterSecret: true,
      argocdHubAdmin: true,
      argocdRoleArn: "arn:aws:iam::111111111111:role/a",
    }),
    taken("an Argo CD on the hub that acts on spokes", { argocdClusterSecret: true, argocdSpokes: true }),
    taken("an Argo CD elsewhere that acts on spokes", {
      argocdClusterSecret: true,
      argocdSpokes: true,
      argocdRoleArn: "arn:aws:iam::111111111111:role/a",
    }),
    taken("the default namespace of Argo CD", { argocdClusterSecret: true, argocdNamespace: "argocd" }),
  ])("%s", (_what, changes) => expect(inDev(changes)).toEqual([]));
});

describe("the rules blame", () => {
  it.each([
    blamed("fewer nodes wanted than there must be", ["nodeDesired"], { nodeMin: 3, nodeDesired: 2, nodeMax: 4 }),
    blamed("a subnet larger than EC2 has", ["privateSubnetCidrs[0]"], {
      vpcCidr: "10.0.0.0/8",
      spokeCidrPool: "172.16.0.0/12",
      privateSubnetCidrs: ["10.0.0.0/15", "10.2.0.0/16"],
    }),
    blamed("more zone names than zones", ["availabilityZones"], { availabilityZones: [...zones, "eu-central-1c"] }),
    blamed("fewer subnets than zones", ["publicSubnetCidrs"], { publicSubnetCidrs: ["10.0.0.0/24"] }),
    blamed("a list of one zone twice", ["availabilityZones"], {
      availabilityZones: ["eu-central-1a", "eu-central-1a"],
    }),
    blamed("one subnet of an existing VPC, twice", ["privateSubnetIds"], {
      vpcId: "vpc-1",
      privateSubnetIds: ["a", "a"],
    }),
    blamed("ids without a VPC, each list", ["publicSubnetIds", "egressCidrs"], {
      publicSubnetIds: ["a"],
      egressCidrs: ["5.6.7.8/32"],
    }),
    blamed("connected networks of a private endpoint that is off", ["endpointPrivateAccessCidrs"], {
      endpointPublicAccess: true,
      endpointPrivateAccess: false,
      endpointPrivateAccessCidrs: ["10.20.0.0/16"],
    }),
    blamed("a private endpoint alone that nobody but the nodes of a new VPC may use", ["endpointPrivateAccessCidrs"], {
      endpointPublicAccess: false,
      endpointPrivateAccess: true,
      endpointPrivateAccessCidrs: [],
    }),
    blamed("no endpoint at all once", ["endpointPrivateAccess"], {
      endpointPublicAccess: false,
      endpointPrivateAccess: false,
    }),
    blamed("a connected network that is more than a /8", ["endpointPrivateAccessCidrs"], {
      endpointPrivateAccess: true,
      endpointPrivateAccessCidrs: ["10.0.0.0/8", "8.0.0.0/7"],
    }),
    blamed("Grafana without metrics", ["grafana"], { grafana: "amg" }),
    blamed("administrators of a Grafana that isn't made", ["grafanaAdminGroups"], { grafanaAdminGroups: ["group"] }),
    blamed("groups of IAM Identity Center where people sign in by SAML", ["grafanaAdminGroups"], {
      metrics: "amp",
      grafana: "amg",
      grafanaAuthentication: "SAML",
      grafanaAdminGroups: ["group"],
    }),
    blamed("a fleet that begins as a hub", ["fleet"], { fleet: "hub-a" }),
    blamed("a fleet that ends as a spoke", ["fleet"], { fleet: "a-spoke" }),
    blamed("a fleet called hub", ["fleet"], { fleet: "hub" }),
    blamed("the sealing key whose name is too long, not the fleet", ["sealingKeys"], {
      sealingKeys: [sealed("a".repeat(500), "1", true)],
    }),
    blamed("a scope without an active generation and one with two, each once", ["sealingKeys", "sealingKeys"], {
      sealingKeys: [sealed("dev", "1", true), sealed("dev", "2", true), sealed("qa", "1", false)],
    }),
    blamed(
      "a former key that is there twice, one that the stack makes, and one of a scope with which nobody seals",
      ["formerSealingKeys", "formerSealingKeys", "formerSealingKeys"],
      {
        sealingKeys: [sealed("dev", "2", true)],
        formerSealingKeys: [former("dev", "1"), former("dev", "1"), former("dev", "2"), former("qa", "1")],
      },
    ),
    blamed(
      "the ARN of another key, of another kind of secret, and one without what Secrets Manager puts behind the name",
      ["formerSealingKeys", "formerSealingKeys", "formerSealingKeys"],
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
    ),
    blamed("another processor once, whatever the number of types", ["nodeInstanceTypes"], {
      nodeInstanceTypes: ["m6i.large", "m6i.xlarge"],
    }),
    blamed("two administrators who are named three times", ["clusterAdmins", "clusterAdmins"], {
      clusterAdmins: ["a", "b", "a", "b", "a"],
    }),
    blamed(
      "each action that gives rights, roles of others and a boundary that is too long",
      ["addonPermissions", "addonPermissions", "addonPermissions", "addonPermissions"],
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
    ),
    blamed(
      "an account, one of its regions, one of its scopes and a region of the hub's account that are named twice",
      ["accounts", "accounts", "accounts", "spokeRegions"],
      {
        accounts: [
          { id: "333333333333", regions: ["eu-west-1", "eu-west-1"], scopes: ["dev", "dev"] },
          { id: "333333333333", regions: [], scopes: ["dev"] },
        ],
        spokeRegions: ["eu-west-1", "eu-west-1"],
      },
    ),
    blamed("regions of two partitions", ["accounts"], {
      accounts: [{ id: "333333333333", regions: ["cn-north-1"], scopes: ["dev"] }],
      spokeRegions: ["eu-west-1"],
    }),
    blamed("a scope of an account that has no sealing key, and that of the hub", ["accounts", "accounts"], {
      accounts: [{ id: "333333333333", regions: [], scopes: ["dev", "prod", "cluster-hub"] }],
      sealingKeys: [sealed("dev", "1", true), sealed("cluster-hub", "1", true)],
    }),
    blamed("more accounts than a policy of Crossplane's providers has room for", ["accounts"], {
      accounts: Array.from({ length: 110 }, (_, index) => ({
        id: String(300_000_000_000 + index),
        regions: [],
        scopes: ["dev"],
      })),
    }),
    blamed("more regions than a policy of Crossplane's providers has room for", ["spokeRegions"], {
      spokeRegions: regions(24),
    }),
    blamed(
      "more regions than a policy of Crossplane's providers and a boundary have room for",
      ["spokeRegions", "spokeRegions"],
      { spokeRegions: regions(40) },
    ),
    blamed("each Git URL that does not go with tokens", ["gitopsSystemRepoUrl", "gitopsWorkloadsRepoUrl"], {
      gitAuthentication: "token",
      gitToken: "t",
    }),
  ])("%s", (_what, keys, changes) => expect(inDev(changes).map(({ key }) => key)).toEqual(keys));

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
