import { afterEach, expect, test } from "vitest";
import { lookForHub } from "../../../cli/adopt-hub/aws.ts";
import type { Planned } from "../../../cli/adopt-hub/preview.ts";
import { adoptHubPolicy } from "../../../lib/iam/adopt-hub.ts";
import { type Answers, ec2, fakeAws, identity, Refusal, result, tagSet } from "../doctor/support/aws.ts";

let close = async () => {};
afterEach(() => close());

const own = { "fleet.internal/cluster": "hub", "fleet.internal/fleet": "shop" };
const planned = (urn: string, type: string, inputs: Readonly<Record<string, string>>): Planned => ({
  ...{ urn, type, inputs, from: {} },
  entry: { type, name: urn },
});
const all = [
  planned("logs", "aws:cloudwatch/logGroup:LogGroup", { name: "/aws/eks/shop-hub/cluster" }),
  planned("policy", "aws:iam/policy:Policy", { name: "shop-boundary", path: "/" }),
  planned("role", "aws:iam/role:Role", { name: "shop-hub-node" }),
  planned("inline", "aws:iam/rolePolicy:RolePolicy", { name: "own", role: "shop-hub-node" }),
  planned("attached", "aws:iam/rolePolicyAttachment:RolePolicyAttachment", {
    role: "shop-hub-node",
    policyArn: "arn:cni",
  }),
  planned("alias", "aws:kms/alias:Alias", { name: "alias/shop-secrets" }),
  planned("secret", "aws:secretsmanager/secret:Secret", { name: "shop/git/gitops-system" }),
  planned("cluster", "aws:eks/cluster:Cluster", { name: "shop-hub" }),
];

const provider = (id: string) => `arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/${id}`;
const memberTags = (tags: Readonly<Record<string, string>>) => {
  const members = Object.entries(tags).map(
    ([key, value]) => `<member><Key>${key}</Key><Value>${value}</Value></member>`,
  );
  return `<Tags>${members.join("")}</Tags>`;
};
const answers: Answers = {
  GetCallerIdentity: identity("arn:aws:iam::111122223333:user/ann", "111122223333"),
  DescribeVpcs: ec2("DescribeVpcs", "vpcSet", [`<vpcId>vpc-1</vpcId>${tagSet(own)}`]),
  DescribeSubnets: ec2("DescribeSubnets", "subnetSet", []),
  DescribeInternetGateways: ec2("DescribeInternetGateways", "internetGatewaySet", []),
  DescribeRouteTables: ec2("DescribeRouteTables", "routeTableSet", [
    `<routeTableId>rtb-1</routeTableId><routeSet><item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock></item><item><destinationPrefixListId>pl-1</destinationPrefixListId></item></routeSet>${tagSet(own)}`,
  ]),
  DescribeAddresses: ec2("DescribeAddresses", "addressesSet", []),
  DescribeNatGateways: ec2("DescribeNatGateways", "natGatewaySet", []),
  DescribeVpcEndpoints: ec2("DescribeVpcEndpoints", "vpcEndpointSet", []),
  DescribeTransitGatewayVpcAttachments: ec2("DescribeTransitGatewayVpcAttachments", "transitGatewayVpcAttachments", []),
  DescribeFlowLogs: ec2("DescribeFlowLogs", "flowLogSet", []),
  DescribeLaunchTemplates: ec2("DescribeLaunchTemplates", "launchTemplates", []),
  DescribeSecurityGroups: ec2("DescribeSecurityGroups", "securityGroupInfo", [
    "<groupId>sg-1</groupId><vpcId>vpc-1</vpcId>",
  ]),
  DescribeCluster: new Refusal("ResourceNotFoundException"),
  DescribeLogGroups: { logGroups: [{ logGroupName: "/aws/eks/shop-hub/cluster" }] },
  GetPolicy: result("GetPolicy", "<Policy><PolicyName>shop-boundary</PolicyName></Policy>"),
  GetRole: result("GetRole", "<Role><RoleName>shop-hub-node</RoleName></Role>"),
  GetRolePolicy: result("GetRolePolicy", "<PolicyName>own</PolicyName>"),
  ListAttachedRolePolicies: result(
    "ListAttachedRolePolicies",
    "<AttachedPolicies><member><PolicyArn>arn:cni</PolicyArn></member></AttachedPolicies>",
  ),
  ListKeys: { Keys: [] },
  DescribeKey: { KeyMetadata: { KeyId: "1234", KeyState: "Enabled" } },
  DescribeSecret: { ARN: "arn:secret", Name: "shop/git/gitops-system" },
  ListOpenIDConnectProviders: result(
    "ListOpenIDConnectProviders",
    `<OpenIDConnectProviderList><member><Arn>${provider("OLD")}</Arn></member></OpenIDConnectProviderList>`,
  ),
  GetOpenIDConnectProvider: result("GetOpenIDConnectProvider", memberTags(own)),
};

async function ask(change: Answers = {}, more: readonly Planned[] = []) {
  const aws = await fakeAws({ ...answers, ...change });
  close = aws.close;
  const sought = { fleet: "shop", cluster: "shop-hub", region: "eu-central-1", planned: [...all, ...more] };
  return { aws, found: () => lookForHub(sought, aws.config) };
}

test("what has a name is found under it, and what the hub's tags tell", async () => {
  const { aws, found } = await ask();
  const { named, tagged, ...more } = await found();
  expect(Object.fromEntries(named)).toEqual({
    logs: { id: "/aws/eks/shop-hub/cluster" },
    policy: { id: "arn:aws:iam::111122223333:policy/shop-boundary" },
    role: { id: "shop-hub-node" },
    inline: { id: "shop-hub-node:own" },
    attached: { id: "shop-hub-node/arn:cni" },
    alias: { id: "alias/shop-secrets", key: "1234" },
    secret: { id: "arn:secret" },
  });
  expect(tagged.map(({ id, routes }) => [id, routes])).toEqual([
    ["vpc-1", undefined],
    ["rtb-1", ["0.0.0.0/0"]],
  ]);
  expect(more).toEqual({
    ...{ account: "111122223333", hasCluster: false },
    ...{ workspaces: {}, inMetrics: { rules: [], alertManagers: [] } },
    ...{ defaultGroups: { "vpc-1": "sg-1" }, oidcProviders: [provider("OLD")] },
  });
  const allowed = adoptHubPolicy().Statement.flatMap(({ Action = [] }) => Action.map((action) => action.split(":")[1]));
  const asked = [...new Set(aws.asked.map(({ operation }) => operation))];
  // sts:GetCallerIdentity needs no permission.
  expect(asked.filter((operation) => operation !== "GetCallerIdentity" && !allowed.includes(operation))).toEqual([]);
});

test("workspaces are found by the hub's tags, with what is in them", async () => {
  const types = ["aws:amp/workspace:Workspace", "aws:grafana/workspace:Workspace"] as const;
  const rules = "arn:aws:aps:eu-central-1:111122223333:rulegroupsnamespace/ws-1/fleet";
  const change: Answers = {
    // What both services call a workspace.
    ListWorkspaces: {
      workspaces: [
        { workspaceId: "ws-1", id: "g-1", alias: "shop", name: "shop", tags: own },
        {
          workspaceId: "ws-2",
          id: "g-2",
          alias: "shop",
          name: "shop",
          tags: { ...own, "fleet.internal/fleet": "other" },
        },
      ],
    },
    ListRuleGroupsNamespaces: { ruleGroupsNamespaces: [{ arn: rules, name: "fleet" }] },
    DescribeAlertManagerDefinition: new Refusal("ResourceNotFoundException"),
  };
  const { found } = await ask(
    change,
    types.map((type) => planned(type, type, {})),
  );
  expect(await found()).toMatchObject({
    workspaces: { [types[0]]: ["ws-1"], [types[1]]: ["g-1"] },
    inMetrics: { rules: [rules], alertManagers: [] },
  });
});

test("a policy of the hub's own is found where it is attached, although Pulumi does not know its ARN yet", async () => {
  const policyArn = "arn:aws:iam::111122223333:policy/shop-boundary";
  const attached = (urn: string, policy: string): Planned => ({
    ...planned(urn, "aws:iam/rolePolicyAttachment:RolePolicyAttachment", {
      role: "shop-hub-node",
      policyArn: "unknown",
    }),
    from: { policyArn: [policy] },
  });
  const { found } = await ask(
    {
      ListAttachedRolePolicies: result(
        "ListAttachedRolePolicies",
        `<AttachedPolicies><member><PolicyArn>${policyArn}</PolicyArn></member></AttachedPolicies>`,
      ),
    },
    [attached("of-own", "policy"), attached("of-another", "made-later")],
  );
  const { named } = await found();
  expect(named.get("of-own")).toEqual({ id: `shop-hub-node/${policyArn}` });
  expect(named.has("of-another")).toBe(false);
});

test("what AWS does not have, by each service's own code, is not found", async () => {
  const none = new Refusal("NoSuchEntity");
  const { found } = await ask({
    DescribeLogGroups: { logGroups: [{ logGroupName: "/aws/eks/shop-hub/cluster-other" }] },
    ...{ GetPolicy: none, GetRole: none, GetRolePolicy: none, ListAttachedRolePolicies: none },
    DescribeKey: new Refusal("NotFoundException"),
    DescribeSecret: new Refusal("ResourceNotFoundException"),
    GetOpenIDConnectProvider: result(
      "GetOpenIDConnectProvider",
      memberTags({ ...own, "fleet.internal/fleet": "other" }),
    ),
  });
  const { named, oidcProviders } = await found();
  expect([...named]).toEqual([]);
  expect(oidcProviders).toEqual([]);
});

test("what AWS is about to delete has the command that keeps it", async () => {
  const { found } = await ask({
    DescribeKey: { KeyMetadata: { KeyId: "1234", KeyState: "PendingDeletion" } },
    DescribeSecret: { ARN: "arn:secret", DeletedDate: 1_790_000_000 },
  });
  const { named } = await found();
  expect(named.get("alias")?.unusable).toContain("aws kms cancel-key-deletion --key-id 1234");
  expect(named.get("secret")?.unusable).toContain("restore-secret --secret-id shop/git/gitops-system");
});

test("of a sealing key the public half is read, and of no other secret anything", async () => {
  const key = planned("key", "aws:secretsmanager/secret:Secret", { name: "shop/sealing-keys/dev/1" });
  const value = { "tls.crt": "CERTIFICATE", "tls.key": "PRIVATE" };
  const { aws, found } = await ask({ GetSecretValue: { SecretString: JSON.stringify(value) } }, [key]);
  const { named } = await found();
  expect(named.get("key")).toEqual({ id: "arn:secret", certificate: "CERTIFICATE" });
  expect(JSON.stringify([...named])).not.toContain("PRIVATE");
  expect(aws.asked.filter(({ operation }) => operation === "GetSecretValue")).toHaveLength(1);
  await aws.close();
  const other = await ask({ GetSecretValue: { SecretString: "PRIVATE" } }, [key]);
  await expect(other.found()).rejects.toThrow(
    /^the secret shop\/sealing-keys\/dev\/1 is not a sealing key(?!.*PRIVATE)/,
  );
  await other.aws.close();
  const refused = await ask({ GetSecretValue: new Refusal("AccessDeniedException") }, [key]);
  await expect(refused.found()).rejects.toThrow(
    "Allow this identity secretsmanager:GetSecretValue: the policy deployer-secrets",
  );
});

test("a call that AWS refuses is not taken for nothing there", async () => {
  const policy = "docs/reference/deployer-policy/fleet-adopt-hub.json has all that is asked for";
  const refused = await ask({ GetRole: new Refusal("AccessDenied") });
  await expect(refused.found()).rejects.toThrow(`Allow this identity iam:GetRole: ${policy}`);
  await refused.aws.close();
  const also = await ask({ DescribeVpcs: new Refusal("UnauthorizedOperation") });
  await expect(also.found()).rejects.toThrow(`Allow this identity ec2:DescribeVpcs: ${policy}`);
});
