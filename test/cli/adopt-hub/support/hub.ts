import type { HubInAws } from "../../../../cli/adopt-hub/locate.ts";

/** A hub of a few resources: what Pulumi says of it, and what AWS has. */

const project = "urn:pulumi:prod::eks-gitops-fleet::";
const component = (path: string) => path.split("/").map((type) => `eks-gitops-fleet:index:${type}`);
/** URN of a resource of `type` in the components whose types `path` names. */
const urn = (path: string, type: string, name: string): string =>
  `${project}${[...(path === "" ? [] : component(path)), type].join("$")}::${name}`;

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const tags = (Name: string) => ({ "fleet.internal/fleet": "shop", "fleet.internal/cluster": "hub", Name });

interface Made {
  readonly path: string;
  readonly type: string;
  readonly name: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly from?: Readonly<Record<string, readonly string[]>>;
}

const network = (type: string, name: string, inputs = {}, from = {}): Made => ({
  path: "Network",
  ...{ type, name, inputs: { tags: tags(name), ...inputs }, from },
});
const vpc = urn("Network", "aws:ec2/vpc:Vpc", "hub-vpc");
const table = urn("Network", "aws:ec2/routeTable:RouteTable", "hub-private-0");
const subnet = urn("Network", "aws:ec2/subnet:Subnet", "hub-private-0");
const keyUrn = urn("EncryptionKey", "aws:kms/key:Key", "secrets-key");
export const aliasUrn = urn("EncryptionKey", "aws:kms/alias:Alias", "secrets-alias");
const roleUrn = urn("IrsaRole", "aws:iam/role:Role", "crossplane-iam-role");
export const secretUrn = urn("GitCredentials/ManagedSecret", "aws:secretsmanager/secret:Secret", "git-secret");
export const sealingUrn = urn("SealingKeys/ManagedSecret", "aws:secretsmanager/secret:Secret", "prod/1-secret");

const metricsUrn = urn("MetricsWorkspace", "aws:amp/workspace:Workspace", "metrics");

const made: readonly Made[] = [
  network("aws:ec2/vpc:Vpc", "hub-vpc"),
  // The same logical name as the subnet's, as in the program.
  network("aws:ec2/routeTable:RouteTable", "hub-private-0", { vpcId: unknown }, { vpcId: [vpc] }),
  network("aws:ec2/subnet:Subnet", "hub-private-0", { vpcId: unknown }, { vpcId: [vpc] }),
  {
    ...network("aws:ec2/route:Route", "hub-private-0-nat", {}, { routeTableId: [table], natGatewayId: ["x"] }),
    inputs: { destinationCidrBlock: "0.0.0.0/0", routeTableId: unknown },
  },
  {
    ...network("aws:ec2/routeTableAssociation:RouteTableAssociation", "hub-private-0-0"),
    from: { routeTableId: [table], subnetId: [subnet] },
  },
  network("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "hub-default", {}, { vpcId: [vpc] }),
  { path: "EncryptionKey", type: "aws:kms/key:Key", name: "secrets-key", inputs: { tags: tags("shop-secrets") } },
  {
    ...{ path: "EncryptionKey", type: "aws:kms/alias:Alias", name: "secrets-alias" },
    ...{ inputs: { name: "alias/shop-secrets", targetKeyId: unknown }, from: { targetKeyId: [keyUrn] } },
  },
  {
    path: "IrsaRole",
    type: "aws:iam/role:Role",
    name: "crossplane-iam-role",
    inputs: { name: "shop-hub-crossplane-iam" },
  },
  {
    ...{ path: "GitCredentials/ManagedSecret", type: "aws:secretsmanager/secret:Secret", name: "git-secret" },
    inputs: { name: "shop/git/gitops-system" },
  },
  {
    ...{
      path: "GitCredentials/ManagedSecret",
      type: "aws:secretsmanager/secretVersion:SecretVersion",
      name: "git-version",
    },
    inputs: { secretString: "[secret]" },
  },
  {
    ...{ path: "SealingKeys/ManagedSecret", type: "aws:secretsmanager/secret:Secret", name: "prod/1-secret" },
    inputs: { name: "shop/sealing-keys/prod/1" },
  },
  { path: "MetricsWorkspace", type: "aws:amp/workspace:Workspace", name: "metrics" },
  {
    ...{ path: "MetricsWorkspace", type: "aws:amp/ruleGroupNamespace:RuleGroupNamespace", name: "metrics-rules" },
    ...{ inputs: { name: "fleet" }, from: { workspaceId: [metricsUrn] } },
  },
  {
    ...{
      path: "MetricsWorkspace",
      type: "aws:amp/alertManagerDefinition:AlertManagerDefinition",
      name: "metrics-manager",
    },
    from: { workspaceId: [metricsUrn] },
  },
  { path: "Other", type: "aws:dynamodb/table:Table", name: "other" },
  { path: "HubCluster", type: "aws:eks/cluster:Cluster", name: "hub-eksCluster", inputs: { name: "shop-hub" } },
  { path: "SealingKeys", type: "tls:index/privateKey:PrivateKey", name: "prod/1-key" },
];

/** What `pulumi preview --json` prints. */
export const previewJson = {
  config: { "aws:region": "eu-central-1" },
  steps: [
    { op: "create", urn: `${project}pulumi:pulumi:Stack::eks-gitops-fleet-prod` },
    ...made.map(({ path, type, name, inputs = {}, from = {} }) => ({
      op: "create",
      urn: urn(path, type, name),
      newState: {
        ...{ type, inputs, propertyDependencies: from },
        parent: `${project}${component(path).join("$")}::${path.split("/").at(-1)}`,
      },
    })),
  ],
};

/** What `pulumi preview --import-file` writes: names are unique in it. */
export const importJson = {
  nameTable: { provider: "urn:of:a:provider" },
  resources: [
    ...[...new Set(made.map(({ path }) => path))].flatMap((path) =>
      path.split("/").map((type, index) => ({
        ...{ type: `eks-gitops-fleet:index:${type}`, name: `${path}.${index}`, logicalName: type, component: true },
        ...(index > 0 && { parent: `${path}.${index - 1}` }),
      })),
    ),
    ...made.map(({ path, type, name }) => ({
      ...{ type, name: `${name}${type.split(":").at(-1)}`, logicalName: name, id: "<PLACEHOLDER>", version: "7.48.0" },
      parent: `${path}.${path.split("/").length - 1}`,
    })),
  ],
};

/** All that the hub had, once its cluster is gone; with a new generation of its sealing key. */
export const inAws: HubInAws = {
  ...{ account: "111122223333", hasCluster: false, oidcProviders: [] },
  tagged: [
    { kind: "VPC", id: "vpc-1", tags: tags("hub-vpc") },
    { kind: "Subnet", id: "subnet-1", tags: tags("hub-private-0"), vpc: "vpc-1" },
    {
      ...{ kind: "RouteTable", id: "rtb-1", tags: tags("hub-private-0"), vpc: "vpc-1" },
      ...{ associations: { "subnet-1": "rtbassoc-1" }, routes: ["10.0.0.0/16", "0.0.0.0/0"] },
    },
  ],
  ...{ workspaces: {}, inMetrics: { rules: [], alertManagers: [] } },
  defaultGroups: { "vpc-1": "sg-1" },
  named: new Map([
    [aliasUrn, { id: "alias/shop-secrets", key: "1234" }],
    [roleUrn, { id: "shop-hub-crossplane-iam" }],
    [secretUrn, { id: "arn:aws:secretsmanager:eu-central-1:111122223333:secret:shop/git/gitops-system-abcdef" }],
  ]),
};
