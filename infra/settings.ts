import { type FleetSizeName, fleetSizes } from "../components/fleet-size.ts";
import { isServiceBlock, parseCidr, serviceBlocks, servicePrefixes, vpcPrefixes } from "../lib/cidr.ts";
import { controlPlaneLogTypes, logRetentionTimes } from "../lib/eks-baseline.ts";
import { grafanaAuthentications } from "../lib/iam/grafana.ts";
import { accountList, regionList } from "./account-keys.ts";
import { addonPermissionList } from "./addon-keys.ts";
import { denialList } from "./boundary-keys.ts";
import { cidr, flag, integer, type Key, list, oneOf, setCommandOf, text } from "./forms.ts";
import { gitKeys } from "./git-keys.ts";
import { notificationKeys } from "./notification-keys.ts";
import { serviceQuotaKey } from "./quota-keys.ts";
import { registryKeys } from "./registry-keys.ts";
import { formerSealingKeyList, sealingKeyList } from "./sealing-keys.ts";
import { companyTagsKey } from "./tag-keys.ts";
import { logKey, volumeKeyList } from "./volume-keys.ts";

/** CIDR of public addresses. AWS shows a person's own at checkip.amazonaws.com. */
export const ownAddress = '"$(curl -s https://checkip.amazonaws.com)/32"';
const publicCidr: Key<string> = { ...cidr, example: ownAddress };

/** CIDR of a public source address of a VPC; the example is the first NAT gateway's, to be followed by the others'. */
export const egressAddress = (vpcId = "<vpcId>"): string =>
  `"$(aws ec2 describe-nat-gateways --filter Name=vpc-id,Values=${vpcId} Name=state,Values=available --output text ` +
  "--query 'NatGateways[0].NatGatewayAddresses[0].PublicIp')/32\"   # likewise for its other NAT gateways";
const egressCidr: Key<string> = { ...cidr, example: egressAddress() };

const vpcCidr: Key<string> = {
  parse: (value) => {
    const prefix = parseCidr(value)?.prefix;
    return prefix !== undefined && prefix >= vpcPrefixes.min && prefix <= vpcPrefixes.max ? value : undefined;
  },
  allowed: `an IPv4 network from /${vpcPrefixes.min} to /${vpcPrefixes.max} with no bits set after the prefix`,
  example: "10.0.0.0/16",
};

const principal = text(
  /^arn:aws[a-z-]*:iam::\d{12}:(role|user)\/[\w+=,.@/-]+$/,
  "the ARN of an IAM role or user (not of an sts session)",
  "arn:aws:iam::<account>:role/<name>",
);
const serviceBlock: Key<string> = {
  parse: (value) => {
    const block = parseCidr(value);
    return value === "" || (block !== undefined && isServiceBlock(block)) ? value : undefined;
  },
  allowed: `an IPv4 network from /${servicePrefixes.min} to /${servicePrefixes.max} inside ${serviceBlocks.join(", ")} with no bits set after the prefix, or empty`,
  example: "172.20.0.0/16",
};

const label = (example: string) =>
  text(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "1 to 63 lower-case letters, digits and hyphens", example);
const days = (range: string, accepts: (value: number) => boolean) => integer(range, accepts, 7);
const count = (min: number) => integer(`a whole number from ${min} to 450`, (value) => value >= min && value <= 450, 2);

/** Every key of the project's namespace. Descriptions and defaults are in Pulumi.yaml. */
export const keys = {
  fleet: text(/^[a-z][-a-z0-9]*[a-z0-9]$/, "lower-case letters, digits and hyphens, beginning with a letter", "fleet"),
  environment: label("dev"),
  tenant: label("platform"),
  tags: companyTagsKey,
  kubernetesVersion: text(/^\d+\.\d+$/, "a minor version in quotes", '"1.35"'),

  vpcCidr,
  zones: integer("2 or 3", (value) => value === 2 || value === 3, 2),
  availabilityZones: list(text(/^[a-z]{2}(-[a-z]+)+-\d+[a-z]$/, "the name of an availability zone", "us-east-1a")),
  privateSubnetCidrs: list(cidr),
  publicSubnetCidrs: list(cidr),
  natGateways: oneOf("single", "per-zone", "none"),
  vpcId: text(/^(vpc-[0-9a-f]{8,17})?$/, "the ID of a VPC, or empty", "vpc-0123456789abcdef0"),
  privateSubnetIds: list(text(/^subnet-[0-9a-f]{8,17}$/, "the ID of a subnet", "subnet-0123456789abcdef0")),
  publicSubnetIds: list(text(/^subnet-[0-9a-f]{8,17}$/, "the ID of a subnet", "subnet-0123456789abcdef0")),
  egressCidrs: list(egressCidr),
  spokeCidrPool: cidr,
  serviceIpv4Cidr: serviceBlock,

  endpointPublicAccess: flag,
  endpointPublicAccessCidrs: list(publicCidr),
  endpointPrivateAccess: flag,
  endpointPrivateAccessCidrs: list(cidr),
  clusterAdmins: list(principal),
  clusterViewers: list(principal),
  deletionProtection: flag,
  protect: flag,
  permissionsBoundary: text(
    /^(arn:aws[a-z-]*:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+)?$/,
    "the ARN of an IAM policy, or empty",
    "arn:aws:iam::<account>:policy/<name>",
  ),
  boundaryStatements: denialList,
  rolePath: text(
    /^(?=.{1,64}$)\/((?!aws-service-role\/)([\w+=,.@-]+\/)+)?$/,
    "a path of at most 64 characters that begins and ends with a slash, of letters, digits and _+=,.@-; not /aws-service-role/",
    "/company/teams/",
  ),

  addonPermissions: addonPermissionList,
  accounts: accountList,
  spokeRegions: regionList,

  nodeInstanceTypes: list(text(/^[a-z][a-z0-9-]*\.[a-z0-9-]+$/, "an EC2 instance type", "m6i.large")),
  nodeCapacityType: oneOf("ON_DEMAND", "SPOT"),
  nodeAmiType: oneOf("AL2023_x86_64_STANDARD", "AL2023_ARM_64_STANDARD"),
  nodeReleaseVersion: text(
    /^(\d+\.\d+\.\d+-\d{8})?$/,
    "a release of the EKS optimized AMIs, or empty",
    "1.35.2-20261101",
  ),
  volumeKeys: volumeKeyList,
  nodeDiskSize: integer("20 to 16384 (GiB)", (value) => value >= 20 && value <= 16_384, 50),
  nodeMin: count(1),
  nodeDesired: count(1),
  nodeMax: count(1),
  nodeSessionManager: flag,
  hubWorkloadIdentity: oneOf("irsa", "pod-identity"),

  sealingKeys: sealingKeyList,
  formerSealingKeys: formerSealingKeyList,
  secretRecoveryWindowDays: days("0, or 7 to 30", (value) => value === 0 || (value >= 7 && value <= 30)),
  kmsDeletionWindowDays: days("7 to 30", (value) => value >= 7 && value <= 30),
  logTypes: list(oneOf(...controlPlaneLogTypes)),
  logRetentionDays: integer(logRetentionTimes.join(", "), (value) => logRetentionTimes.includes(value), 90),
  logKey,

  ...gitKeys,

  ...registryKeys,

  fleetSize: oneOf(...(Object.keys(fleetSizes) as FleetSizeName[])),
  controllerLogLevel: oneOf("debug", "info", "error"),
  kyverno: flag,
  clusterApi: flag,
  ...notificationKeys,
  metrics: oneOf("none", "amp"),
  metricsAlertTopicArn: text(
    /^(arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256})?$/,
    "the ARN of a standard SNS topic, or empty",
    "arn:aws:sns:<region>:<account>:<topic>",
  ),
  serviceQuotas: serviceQuotaKey,
  grafana: oneOf("none", "amg"),
  grafanaAuthentication: oneOf(...grafanaAuthentications),
  grafanaAdminGroups: list(
    text(
      /^([0-9a-f]{10}-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
      "the ID of a group in IAM Identity Center",
      "<ID of the group, as aws identitystore list-groups shows it>",
    ),
  ),
  argocdClusterSecret: flag,
  argocdSpokes: flag,
  argocdNamespace: label("argocd"),
  argocdRoleArn: text(
    /^(arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+)?$/,
    "the ARN of an IAM role, or empty",
    "arn:aws:iam::<account>:role/<name>",
  ),
  argocdHubAdmin: flag,
} as const;

export type KeyName = keyof typeof keys;

/** The value of every key. */
export type Settings = { readonly [K in KeyName]: (typeof keys)[K] extends Key<infer T> ? T : never };

/** Settings without those that could not be read: a rule says nothing about a missing one. */
export type Readable = Partial<Settings>;

/** The command that sets a key of this program. */
export const setCommand = (name: KeyName): string => setCommandOf(name, keys[name]);
