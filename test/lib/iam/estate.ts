/** A hub, two spokes with two applications each, another fleet and other people's things in one account: what there is to be reached. */
import { databaseDigest, databaseName, databasePrefix, databaseTag } from "../../../lib/iam/databases.ts";
import {
  clusterApiMaker,
  clusterTag,
  fleetTag,
  madeByTag,
  principalTags,
  sharedNetworkTag,
} from "../../../lib/labels.ts";
import type { IamRequest } from "../../support/iam-evaluator.ts";

export const account = { partition: "aws", accountId: "000000000000", region: "us-east-1" };
export const spokes = ["blue", "green"] as const;
export const applications = ["payment", "billing"] as const;

export const iam = (resource: string) => `arn:aws:iam::000000000000:${resource}`;
export const role = (name: string) => iam(`role/${name}`);
const regional = (service: string, resource: string) => `arn:aws:${service}:us-east-1:000000000000:${resource}`;
export const secret = (name: string) => regional("secretsmanager", `secret:${name}-AbCdEf`);

type Tags = Readonly<Record<string, string>>;
const tagged = (tags: Tags, more: Tags = {}): Tags => ({
  ...Object.fromEntries(Object.entries(tags).map(([key, value]) => [`aws:ResourceTag/${key}`, value])),
  ...more,
});

const ec2 = (call: string, resource: string, tags: Tags): IamRequest => ({
  action: `ec2:${call}`,
  resource: regional("ec2", `${resource}/x`),
  context: tagged(tags),
});
/** The ARN of the key that encrypts the fleet's secrets. */
export const secretsKey = regional("kms", "key/secrets");
const kms = (call: string, tags: Tags, more: Tags = {}): IamRequest => ({
  action: `kms:${call}`,
  resource: regional("kms", "key/x"),
  context: tagged(tags, more),
});
const on = (action: string, resource: string, context: Tags = {}): IamRequest => ({ action, resource, context });
const through = (service: string): Tags => ({ "kms:ViaService": `${service}.us-east-1.amazonaws.com` });
const forAws: Tags = { "kms:GrantIsForAWSResource": "true" };

/** What gives pods of a cluster a role. */
const podIdentities = (name: string): IamRequest[] => [
  on("eks:CreatePodIdentityAssociation", regional("eks", `cluster/${name}`)),
  ...["UpdatePodIdentityAssociation", "DeletePodIdentityAssociation"].map((call) =>
    on(`eks:${call}`, regional("eks", `podidentityassociation/${name}/a-x`)),
  ),
];

/** What would take a cluster over. */
const cluster = (name: string): IamRequest[] => [
  on("eks:CreateAccessEntry", regional("eks", `cluster/${name}`)),
  on("eks:AssociateAccessPolicy", regional("eks", `access-entry/${name}/role/a/b/c`)),
  on("eks:DeleteCluster", regional("eks", `cluster/${name}`)),
];

const network = (tags: Tags): IamRequest[] => [
  ec2("DeleteVpc", "vpc", tags),
  ec2("CreateSubnet", "vpc", tags),
  ec2("CreateRoute", "route-table", tags),
  ec2("AttachInternetGateway", "internet-gateway", tags),
  ec2("CreateFlowLogs", "vpc", tags),
  ec2("DeleteFlowLogs", "vpc-flow-log", tags),
  ec2("CreateLaunchTemplateVersion", "launch-template", tags),
  ec2("RunInstances", "launch-template", tags),
  ec2("ReleaseAddress", "elastic-ip", tags),
];

const retagging = (tags: Tags): IamRequest[] =>
  ["instance", "network-interface", "subnet", "vpc"].map((kind) => ec2("CreateTags", kind, tags));

/** New resources in the place of a tagged one: the tags of the request are the caller's. */
const inPlaceOf = (tags: Tags, own: Tags): IamRequest[] =>
  [
    ["CreateSubnet", "vpc"],
    ["CreateNatGateway", "subnet"],
    ["CreateVolume", "snapshot"],
    ["CreateSnapshot", "volume"],
    ["CreateNetworkInterface", "subnet"],
  ].map(([call = "", kind = ""]) => {
    const request = ec2(call, kind, tags);
    const asked = Object.fromEntries(Object.entries(own).map(([key, value]) => [`aws:RequestTag/${key}`, value]));
    return { ...request, context: { ...request.context, ...asked } };
  });

const machines = (tags: Tags): IamRequest[] => [
  ec2("AttachVolume", "instance", tags),
  ec2("DetachVolume", "volume", tags),
  ec2("DeleteVolume", "volume", tags),
  ec2("CreateSnapshot", "volume", tags),
  ec2("CreateVolume", "snapshot", tags),
  ec2("DetachNetworkInterface", "network-interface", tags),
  ec2("AssignPrivateIpAddresses", "network-interface", tags),
  ec2("CreateNetworkInterface", "subnet", tags),
];

/** What the VPC CNI and Kubernetes do with a subnet and a VPC. */
const usesOf = (tags: Tags): IamRequest[] => [
  ec2("CreateNetworkInterface", "subnet", tags),
  ec2("CreateSecurityGroup", "vpc", tags),
];

const keys = (tags: Tags): IamRequest[] => [
  kms("ScheduleKeyDeletion", tags),
  kms("CreateAlias", tags),
  kms("CreateGrant", tags, forAws),
];

/** Membership of a security group that EKS made for a cluster: its members reach one another's ports. */
const membership = (cluster: string): IamRequest[] =>
  ["CreateNetworkInterface", "ModifyNetworkInterfaceAttribute"].map((call) =>
    ec2(call, "security-group", { "aws:eks:cluster-name": cluster }),
  );

const groups = (tags: Tags): IamRequest[] => [
  ec2("AuthorizeSecurityGroupIngress", "security-group", tags),
  on("elasticloadbalancing:DeleteLoadBalancer", regional("elasticloadbalancing", "loadbalancer/x"), tagged(tags)),
];

const tagsOf = (fleet: string, name: string): Tags => ({ [fleetTag]: fleet, [clusterTag]: name });
export const spokeTags = (spoke: string): Tags => ({
  ...tagsOf("fleet", spoke),
  [principalTags.cluster]: `fleet-spoke-${spoke}`,
});
/** What a cluster of Cluster API gives to everything that it makes. */
export const clusterApiTags = (spoke: string): Tags => ({ ...spokeTags(spoke), [madeByTag]: clusterApiMaker });
const hubTags = tagsOf("fleet", "hub");
const otherTags = { ...tagsOf("other", "blue"), [principalTags.cluster]: "other-spoke-blue" };
const hubProvider = iam("oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/HUB");
const hubRoles = ["crossplane", "external-secrets", "kustomize-controller"].map((name) => role(`fleet-hub-${name}`));

const table = (name: string) => regional("dynamodb", `table/${name}`);
const queue = (name: string) => regional("sqs", name);
/** A bucket of an application, `<cluster>_<namespace>`, or an object in it. */
const bucket = (owner: string, path = "") =>
  `arn:aws:s3:::${owner.replace("_", "--")}--files-${account.accountId}${path}`;
const ofAccount = (id: string = account.accountId): Tags => ({ "s3:ResourceAccount": id });

const database = (kind: string, name: string) => regional("rds", `${kind}:${name}`);
/** Beginning of the names of databases of an EKS cluster, whose fleet stands before `-spoke-`. */
export const databasesOf = (cluster: string): string =>
  databasePrefix(cluster.replace(/-spoke-.*/, "-spoke-"), cluster);
/** Tags of the role of a cluster's Crossplane that its databases are known by. */
export const databaseTags = (cluster: string): Tags => ({ [databaseTag]: databaseDigest(cluster) });

/** Data of an application. */
const data = (owner: string): IamRequest[] => [
  on("dynamodb:GetItem", table(`${owner}_orders`)),
  on("dynamodb:DeleteItem", table(`${owner}_orders`)),
  on("dynamodb:Query", table(`${owner}_orders/index/by-day`)),
  on("sqs:ReceiveMessage", queue(`${owner}_events`)),
  on("s3:ListBucket", bucket(owner), ofAccount()),
  on("s3:GetObject", bucket(owner, "/2026/invoice"), ofAccount()),
  on("s3:DeleteObject", bucket(owner, "/2026/invoice"), ofAccount()),
];

/** Tables, queues, buckets, databases and roles themselves, under a spoke's prefix. */
const orders = (name: string): IamRequest[] => [
  on("dynamodb:DeleteTable", table(`${name}_payment_orders`)),
  on("sqs:SetQueueAttributes", queue(`${name}_payment_events`)),
  on("s3:DeleteBucket", bucket(`${name}_payment`), ofAccount()),
  on("s3:PutBucketVersioning", bucket(`${name}_payment`), ofAccount()),
  on("rds:ModifyDBInstance", database("db", databaseName(databasesOf(name), "payment", "orders"))),
  on("rds:DeleteDBInstance", database("db", databaseName(databasesOf(name), "payment", "orders"))),
  on("rds:CreateDBSnapshot", database("snapshot", `${databaseName(databasesOf(name), "payment", "orders")}-final`)),
  on("iam:DeleteRole", role(`${name}_payment`)),
];

/** What there is, by whose it is. Each entry is refused or reached as a whole, or the test names the request. */
export const targets: Readonly<Record<string, readonly IamRequest[]>> = {
  "the hub": [
    ...cluster("fleet-hub"),
    ...network(hubTags),
    ...retagging(hubTags),
    ...machines({ ...hubTags, [principalTags.cluster]: "fleet-hub" }),
    ...inPlaceOf(hubTags, spokeTags("blue")),
    ...groups({ "aws:eks:cluster-name": "fleet-hub", "kubernetes.io/cluster/fleet-hub": "owned" }),
    ...groups({ "kubernetes.io/cluster/fleet-hub": "owned" }),
    ...groups(hubTags),
    ...membership("fleet-hub"),
    {
      ...ec2("RunInstances", "security-group", { "aws:eks:cluster-name": "fleet-hub" }),
      context: {
        "aws:RequestedRegion": "us-east-1",
        "aws:ResourceTag/aws:eks:cluster-name": "fleet-hub",
        "ec2:LaunchTemplate": regional("ec2", "launch-template/x"),
      },
    },
    ...hubRoles.flatMap((arn) =>
      ["PutRolePolicy", "UpdateAssumeRolePolicy", "TagRole", "DeleteRole"].map((call) => on(`iam:${call}`, arn)),
    ),
    on("iam:PassRole", role("fleet-hub-node"), { "iam:PassedToService": "ec2.amazonaws.com" }),
    on("iam:DeleteOpenIDConnectProvider", hubProvider),
    on("iam:TagOpenIDConnectProvider", hubProvider, { [`aws:RequestTag/${fleetTag}`]: "fleet" }),
    on("iam:DeleteOpenIDConnectProvider", hubProvider, tagged({ [fleetTag]: "fleet" })),
    ...["fleet-boundary", "fleet-tenant-boundary"].map((name) => on("iam:CreatePolicyVersion", iam(`policy/${name}`))),
    on("logs:DeleteLogGroup", regional("logs", "log-group:/aws/eks/fleet-hub/cluster")),
  ],
  "the hub's keys": [
    ...keys(hubTags),
    kms("Decrypt", hubTags),
    kms("Decrypt", hubTags, through("ec2")),
    kms("TagResource", hubTags, { [`aws:RequestTag/${fleetTag}`]: "fleet" }),
  ],
  "the key of the fleet's secrets": [{ ...kms("Decrypt", hubTags, through("secretsmanager")), resource: secretsKey }],
  "the hub's secrets": [
    "fleet/git/gitops-system",
    "fleet/git/receivers/hub",
    "fleet/hub-sealing-keys/cluster-hub/1",
  ].map((name) => on("secretsmanager:GetSecretValue", secret(name))),
  ...Object.fromEntries(
    spokes.flatMap((spoke) => [
      [`spoke ${spoke}`, [...cluster(`fleet-spoke-${spoke}`), ...network(spokeTags(spoke)), ...keys(spokeTags(spoke))]],
      [
        `machines of ${spoke}`,
        [...machines(spokeTags(spoke)), ...retagging(spokeTags(spoke)), ...membership(`fleet-spoke-${spoke}`)],
      ],
      [`orders of ${spoke}`, orders(`fleet-spoke-${spoke}`)],
      [
        `flow log of ${spoke}`,
        ["CreateLogStream", "PutLogEvents"].map((call) =>
          on(
            `logs:${call}`,
            regional("logs", `log-group:/aws/eks/fleet-spoke-${spoke}/cluster-flow-logs:log-stream:eni-x`),
          ),
        ),
      ],
      [`Git credential of ${spoke}`, [on("secretsmanager:GetSecretValue", secret(`fleet/git/spokes/${spoke}`))]],
      ...applications.map((app) => [`${app} of ${spoke}`, data(`fleet-spoke-${spoke}_${app}`)]),
    ]),
  ),
  "machines of coral, which Cluster API made": [
    ...machines(clusterApiTags("coral")),
    ...retagging(clusterApiTags("coral")),
    ...membership("fleet-spoke-coral"),
  ],
  // A name that begins with another's.
  "payment of blue-2": data("fleet-spoke-blue-2_payment"),
  "payment-eu of blue": data("fleet-spoke-blue_payment-eu"),
  "sealing keys of dev": [on("secretsmanager:GetSecretValue", secret("fleet/sealing-keys/dev/1"))],
  "sealing keys of prod": [on("secretsmanager:GetSecretValue", secret("fleet/sealing-keys/prod/1"))],
  "another fleet": [
    ...cluster("other-hub"),
    ...cluster("other-spoke-blue"),
    ...network(otherTags),
    ...retagging(otherTags),
    ...machines(otherTags),
    ...inPlaceOf(otherTags, spokeTags("blue")),
    ...keys(otherTags),
    kms("TagResource", otherTags, { [`aws:RequestTag/${fleetTag}`]: "fleet" }),
    kms("Decrypt", otherTags, through("secretsmanager")),
    on("iam:UpdateAssumeRolePolicy", role("other-spoke-blue-node")),
    on(
      "iam:DeleteOpenIDConnectProvider",
      iam("oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/OTHER"),
      tagged({ [fleetTag]: "other" }),
    ),
    on("secretsmanager:GetSecretValue", secret("other/sealing-keys/dev/1")),
    ...data("other-spoke-blue_payment"),
    ...orders("other-spoke-blue"),
  ],
  "other people's": [
    ...cluster("shop"),
    ...network({}),
    ...retagging({}),
    ...machines({}),
    ...machines({ [principalTags.cluster]: "shop" }),
    ...membership("shop"),
    ...inPlaceOf({}, spokeTags("blue")),
    ...keys({}),
    kms("Decrypt", {}, through("ec2")),
    kms("Decrypt", {}, through("secretsmanager")),
    on("iam:UpdateAssumeRolePolicy", role("admin")),
    on("iam:PassRole", role("admin"), { "iam:PassedToService": "eks.amazonaws.com" }),
    on("iam:CreateUser", iam("user/x")),
    on("iam:DeleteOpenIDConnectProvider", iam("oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/SHOP")),
    on("secretsmanager:GetSecretValue", secret("shop")),
    on("dynamodb:GetItem", table("shop")),
    on("dynamodb:DeleteTable", table("shop")),
    on("sqs:ReceiveMessage", queue("shop")),
    on("s3:GetObject", "arn:aws:s3:::shop/x", ofAccount()),
    on("s3:DeleteBucket", "arn:aws:s3:::shop", ofAccount()),
    ...["shop", "fleet-spoke-blue-shop"].flatMap((name) => [
      on("rds:AddTagsToResource", database("db", name)),
      on("rds:DeleteDBInstance", database("db", name)),
      on("rds:ModifyDBInstance", database("db", name)),
      on("rds:DeleteDBSubnetGroup", database("subgrp", name)),
      on("rds:CreateDBSnapshot", database("snapshot", name)),
    ]),
    on("sts:AssumeRole", role("admin")),
    on("logs:DeleteLogGroup", regional("logs", "log-group:shop")),
  ],
  // A VPC of somebody else, whose owner lets the fleet's spokes use it, and one that is shared with another fleet.
  "use of a shared network": usesOf({ [sharedNetworkTag]: "fleet" }),
  "a shared network": [
    ...network({ [sharedNetworkTag]: "fleet" }),
    ...retagging({ [sharedNetworkTag]: "fleet" }),
    ...["DeleteSubnet", "ModifySubnetAttribute"].map((call) => ec2(call, "subnet", { [sharedNetworkTag]: "fleet" })),
    ...usesOf({ [sharedNetworkTag]: "other" }),
  ],
  // Known and documented: AWS gives these no tag to ask for (docs/guides/aws-account.md).
  "load balancers without a hub's tag": groups({}),
  "other ways into clusters": [
    ...["fleet-hub", "fleet-spoke-blue", "fleet-spoke-green", "other-hub", "shop"].flatMap((name) =>
      ["AssociateIdentityProviderConfig", "CreateCapability", "CreateFargateProfile"].map((call) =>
        on(`eks:${call}`, regional("eks", `cluster/${name}`)),
      ),
    ),
    ...["fleet-hub", "other-hub", "shop"].flatMap(podIdentities),
  ],
  "roles of pods on spokes": ["fleet-spoke-blue", "fleet-spoke-green"].flatMap(podIdentities),
  // Names of buckets are shared by all accounts: somebody was quicker, and lets everybody in.
  "buckets of another account under names of a spoke": [
    on("s3:PutObject", bucket("fleet-spoke-blue_payment", "/x"), ofAccount("999999999999")),
    on("s3:GetObject", bucket("fleet-spoke-blue_payment", "/x"), ofAccount("999999999999")),
  ],
  "what shares with other accounts": [
    ...[hubTags, otherTags, {}, ...spokes.map(spokeTags)].map((tags) => kms("PutKeyPolicy", tags)),
    ...spokes.map((spoke) => on("dynamodb:PutResourcePolicy", table(`fleet-spoke-${spoke}_payment_orders`))),
    ...spokes.map((spoke) => on("sqs:AddPermission", queue(`fleet-spoke-${spoke}_payment_events`))),
    ...spokes.flatMap((spoke) =>
      ["PutBucketAcl", "PutBucketOwnershipControls", "PutBucketPolicy", "PutBucketPublicAccessBlock"].map((call) =>
        on(`s3:${call}`, bucket(`fleet-spoke-${spoke}_payment`), ofAccount()),
      ),
    ),
    ...spokes.flatMap((spoke) => {
      const snapshot = database("snapshot", databaseName(databasesOf(`fleet-spoke-${spoke}`), "payment", "orders"));
      return ["CopyDBSnapshot", "ModifyDBSnapshotAttribute", "RestoreDBInstanceFromDBSnapshot"].map((call) =>
        on(`rds:${call}`, snapshot),
      );
    }),
    ec2("CreateNetworkInterfacePermission", "network-interface", spokeTags("blue")),
    ec2("ModifySnapshotAttribute", "snapshot", spokeTags("blue")),
    ec2("TerminateInstances", "instance", spokeTags("blue")),
    ec2("TerminateInstances", "instance", {}),
  ],
};
