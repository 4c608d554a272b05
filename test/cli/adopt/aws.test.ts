import { afterEach, describe, expect, test } from "vitest";
import { look } from "../../../cli/adopt/aws.ts";
import { adoptPolicy } from "../../../lib/iam/adopt.ts";
import { type Answers, type Asked, ec2, fakeAws, identity, Refusal, result, tagSet } from "../doctor/support/aws.ts";

let close = async () => {};
afterEach(() => close());

const sought = { fleet: "fleet", spoke: "blue", cluster: "fleet-spoke-blue", region: "eu-west-1" };
const own = { "fleet.internal/cluster": "blue", "fleet.internal/fleet": "fleet" };
const tags = (Name: string) => tagSet({ ...own, Name });
const named = (Name: string) => ({ ...own, Name });

const association = (id: string, subnet: string, state = "associated") =>
  `<item><routeTableAssociationId>${id}</routeTableAssociationId><subnetId>${subnet}</subnetId>` +
  `<associationState><state>${state}</state></associationState></item>`;

const keyTags = (all: Readonly<Record<string, string>>) => ({
  Tags: Object.entries(all).map(([TagKey, TagValue]) => ({ TagKey, TagValue })),
});
const block = (id: string, cidr: string, state = "associated") =>
  `<item><associationId>${id}</associationId><cidrBlock>${cidr}</cidrBlock><cidrBlockState><state>${state}</state></cidrBlockState></item>`;

/** What KMS answers of a key of AWS, one that only its own policy opens, the spoke's, and one of it that is on its way out. */
const tagsOfKey = ({ input: { KeyId } }: Asked) =>
  KeyId === "closed" ? new Refusal("AccessDeniedException") : keyTags(KeyId === "aws" ? {} : named("secrets"));

const answers: Answers = {
  ListKeys: { Keys: ["aws", "closed", "1234", "gone"].map((KeyId) => ({ KeyId })) },
  ListResourceTags: tagsOfKey,
  DescribeKey: ({ input: { KeyId } }) => ({
    KeyMetadata: { KeyId, KeyState: KeyId === "gone" ? "PendingDeletion" : "Disabled" },
  }),
  GetCallerIdentity: identity("arn:aws:iam::111122223333:user/ann", "111122223333"),
  DescribeVpcs: ec2("DescribeVpcs", "vpcSet", [
    `<vpcId>vpc-1</vpcId><cidrBlock>10.1.0.0/16</cidrBlock><cidrBlockAssociationSet>${block("vpc-cidr-assoc-1", "10.1.0.0/16")}${block("vpc-cidr-assoc-2", "100.64.0.0/16")}${block("vpc-cidr-assoc-0", "100.65.0.0/16", "disassociated")}</cidrBlockAssociationSet>${tags("vpc")}`,
    // An endpoint that heeds no filter.
    `<vpcId>vpc-2</vpcId><cidrBlock>10.2.0.0/16</cidrBlock>${tagSet({ ...own, "fleet.internal/fleet": "other" })}`,
  ]),
  DescribeSubnets: ec2("DescribeSubnets", "subnetSet", [
    `<subnetId>subnet-1</subnetId><cidrBlock>10.1.0.0/18</cidrBlock><availabilityZone>eu-west-1a</availabilityZone><vpcId>vpc-1</vpcId>${tags("private-0")}`,
  ]),
  DescribeInternetGateways: ec2("DescribeInternetGateways", "internetGatewaySet", [
    `<internetGatewayId>igw-1</internetGatewayId><attachmentSet><item><vpcId>vpc-1</vpcId></item></attachmentSet>${tags("internet")}`,
  ]),
  DescribeRouteTables: ec2("DescribeRouteTables", "routeTableSet", [
    `<routeTableId>rtb-1</routeTableId><vpcId>vpc-1</vpcId><associationSet>${association("rtbassoc-1", "subnet-1")}${association("rtbassoc-0", "subnet-0", "disassociated")}</associationSet>${tags("private-0")}`,
  ]),
  DescribeAddresses: ec2("DescribeAddresses", "addressesSet", [
    `<allocationId>eipalloc-1</allocationId>${tags("nat-0")}`,
  ]),
  DescribeNatGateways: ec2("DescribeNatGateways", "natGatewaySet", [
    `<natGatewayId>nat-1</natGatewayId><vpcId>vpc-1</vpcId><state>available</state>${tags("nat-0")}`,
    // AWS shows them for about an hour.
    `<natGatewayId>nat-0</natGatewayId><state>deleted</state>${tags("nat-0")}`,
    `<natGatewayId>nat-2</natGatewayId><vpcId>vpc-1</vpcId><state>failed</state><failureCode>Resource.AlreadyAssociated</failureCode><failureMessage>it is associated</failureMessage>${tags("nat-0")}`,
  ]),
  DescribeVpcEndpoints: ec2("DescribeVpcEndpoints", "vpcEndpointSet", [
    `<vpcEndpointId>vpce-1</vpcEndpointId><vpcId>vpc-1</vpcId><state>available</state>${tags("s3")}`,
  ]),
  DescribeTransitGatewayVpcAttachments: ec2("DescribeTransitGatewayVpcAttachments", "transitGatewayVpcAttachments", [
    `<transitGatewayAttachmentId>tgw-attach-1</transitGatewayAttachmentId><vpcId>vpc-1</vpcId><state>available</state>${tags("transit-gateway")}`,
    // AWS shows them for some hours.
    `<transitGatewayAttachmentId>tgw-attach-0</transitGatewayAttachmentId><vpcId>vpc-1</vpcId><state>deleted</state>${tags("transit-gateway")}`,
  ]),
  DescribeFlowLogs: ec2("DescribeFlowLogs", "flowLogSet", [
    `<flowLogId>fl-1</flowLogId><resourceId>vpc-1</resourceId>${tags("flow-log-all")}`,
  ]),
  DescribeLaunchTemplates: ec2("DescribeLaunchTemplates", "launchTemplates", [
    `<launchTemplateId>lt-1</launchTemplateId>${tags("nodes")}`,
  ]),
  DescribeSecurityGroupRules: ec2("DescribeSecurityGroupRules", "securityGroupRuleSet", [
    `<securityGroupRuleId>sgr-1</securityGroupRuleId><isEgress>false</isEgress><cidrIpv4>10.0.0.0/16</cidrIpv4>${tagSet(own)}`,
    "<securityGroupRuleId>sgr-2</securityGroupRuleId><isEgress>false</isEgress><cidrIpv4>10.9.0.0/16</cidrIpv4>",
    `<securityGroupRuleId>sgr-3</securityGroupRuleId><isEgress>true</isEgress><cidrIpv4>0.0.0.0/0</cidrIpv4>${tagSet(own)}`,
  ]),
  DescribeCluster: {
    cluster: {
      name: "fleet-spoke-blue",
      version: "1.35",
      tags: own,
      encryptionConfig: [{ provider: { keyArn: "arn:aws:kms:eu-west-1:111122223333:key/1234" } }],
      identity: { oidc: { issuer: "https://oidc.eks.eu-west-1.amazonaws.com/id/BLUE" } },
      resourcesVpcConfig: { vpcId: "vpc-1", clusterSecurityGroupId: "sg-1" },
    },
  },
  ListNodegroups: { nodegroups: ["fleet-spoke-blue-nodes"] },
  ListPodIdentityAssociations: { associations: [{ associationId: "a-1" }] },
  DescribePodIdentityAssociation: {
    association: { associationId: "a-1", tags: { ...own, "fleet.internal/identity": "crossplane" } },
  },
  ListOpenIDConnectProviders: result(
    "ListOpenIDConnectProviders",
    "<OpenIDConnectProviderList><member><Arn>arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/GREEN</Arn></member>" +
      "<member><Arn>arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/BLUE</Arn></member></OpenIDConnectProviderList>",
  ),
};

async function ask(change: Answers = {}) {
  const aws = await fakeAws({ ...answers, ...change });
  close = aws.close;
  return { aws, found: () => look(sought, aws.config) };
}

describe("what AWS has of a spoke", () => {
  test("is read with its tags; what is deleted, of another fleet or nobody's does not count", async () => {
    const { found } = await ask();
    const { account, cluster, tagged } = await found();
    expect(account).toBe("111122223333");
    expect(tagged.map(({ id }) => id)).toEqual([
      ...[
        ...["vpc-1", "subnet-1", "igw-1", "rtb-1", "eipalloc-1", "nat-1", "nat-2"],
        ...["tgw-attach-1", "vpce-1", "fl-1", "lt-1", "1234"],
      ],
    ]);
    const blocks = { "10.1.0.0/16": "vpc-cidr-assoc-1", "100.64.0.0/16": "vpc-cidr-assoc-2" };
    expect(tagged).toContainEqual({ kind: "VPC", id: "vpc-1", cidr: "10.1.0.0/16", blocks, tags: named("vpc") });
    expect(tagged).toContainEqual(expect.objectContaining({ zone: "eu-west-1a", cidr: "10.1.0.0/18" }));
    expect(tagged.filter(({ vpc }) => vpc === "vpc-1").map(({ id }) => id)).toEqual([
      ...["subnet-1", "igw-1", "rtb-1", "nat-1", "nat-2", "tgw-attach-1", "vpce-1"],
    ]);
    expect(tagged).toContainEqual(expect.objectContaining({ associations: { "subnet-1": "rtbassoc-1" } }));
    expect(tagged.flatMap(({ id, failed }) => (failed === undefined ? [] : [[id, failed]]))).toEqual([
      ["nat-2", "Resource.AlreadyAssociated: it is associated"],
    ]);
    expect(tagged).toContainEqual({ kind: "Key", id: "1234", tags: named("secrets") });
    expect(cluster).toEqual({
      ...{ version: "1.35", tags: own, vpcId: "vpc-1", isAuto: false, key: "1234", rules: { "10.0.0.0/16": "sgr-1" } },
      oidcProvider: "arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/BLUE",
      podIdentities: { crossplane: "a-1" },
      nodeGroups: ["fleet-spoke-blue-nodes"],
    });
  });

  test("may be without a control plane", async () => {
    const { found } = await ask({ DescribeCluster: new Refusal("ResourceNotFoundException") });
    expect((await found()).cluster).toBeUndefined();
  });

  test("is asked for in the Spoke's region, with the rights that the documentation names", async () => {
    const { aws, found } = await ask();
    await found();
    const asked = new Set(aws.asked.map(({ operation }) => operation));
    const allowed = adoptPolicy().Statement.flatMap(({ Action }) => Action as string[]);
    const operations = allowed.map((action) => action.split(":")[1]);
    // sts:GetCallerIdentity needs no permission.
    expect([...asked].sort()).toEqual([...operations, "GetCallerIdentity"].sort());
    const regions = aws.asked.filter(({ operation }) => operation !== "ListOpenIDConnectProviders");
    expect(new Set(regions.map(({ region }) => region))).toEqual(new Set(["eu-west-1"]));
  });

  test("is not guessed where no key tells its tags: then the right is missing", async () => {
    const { found } = await ask({ ListResourceTags: new Refusal("AccessDeniedException") });
    await expect(found()).rejects.toThrow(
      /^AWS did not answer kms:ListResourceTags: AccessDeniedException: .* Allow this identity kms:ListResourceTags: docs/,
    );
  });

  test("has no key in an account without any", async () => {
    const { found } = await ask({ ListKeys: { Keys: [] } });
    expect((await found()).tagged.map(({ kind }) => kind)).not.toContain("Key");
  });

  test.each([
    ["a right is missing", "UnauthorizedOperation", "Allow this identity ec2:DescribeSubnets: docs/reference/"],
    ["the login is over", "ExpiredToken", "Get credentials: aws sso login"],
    ["AWS fails", "InternalError", "Correct this, then run it again"],
  ])("is not guessed where %s: the message says what to do", async (_, code, remedy) => {
    const { found } = await ask({ DescribeSubnets: new Refusal(code) });
    await expect(found()).rejects.toThrow(/^AWS did not answer ec2:DescribeSubnets: /);
    await expect(found()).rejects.toThrow(remedy);
  });
});
