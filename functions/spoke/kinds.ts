/** Kinds that a Spoke is composed of, with their API versions: provider-upjet-aws 2.6, the newest whose CRDs were read
 * (namespaced), Crossplane 2, Flux 2.9. */
export const managedKinds = {
  AccessEntry: "eks.aws.m.upbound.io/v1beta1",
  AccessPolicyAssociation: "eks.aws.m.upbound.io/v1beta1",
  Addon: "eks.aws.m.upbound.io/v1beta1",
  Alias: "kms.aws.m.upbound.io/v1beta1",
  Cluster: "eks.aws.m.upbound.io/v1beta1",
  ClusterAuth: "eks.aws.m.upbound.io/v1beta1",
  DefaultSecurityGroup: "ec2.aws.m.upbound.io/v1beta1",
  EIP: "ec2.aws.m.upbound.io/v1beta1",
  FlowLog: "ec2.aws.m.upbound.io/v1beta1",
  /** CloudWatch Logs' log group. */
  Group: "cloudwatchlogs.aws.m.upbound.io/v1beta1",
  InternetGateway: "ec2.aws.m.upbound.io/v1beta1",
  Key: "kms.aws.m.upbound.io/v1beta1",
  LaunchTemplate: "ec2.aws.m.upbound.io/v1beta1",
  NATGateway: "ec2.aws.m.upbound.io/v1beta1",
  NodeGroup: "eks.aws.m.upbound.io/v1beta1",
  OpenIDConnectProvider: "iam.aws.m.upbound.io/v1beta1",
  PodIdentityAssociation: "eks.aws.m.upbound.io/v1beta1",
  Role: "iam.aws.m.upbound.io/v1beta1",
  RolePolicy: "iam.aws.m.upbound.io/v1beta1",
  RolePolicyAttachment: "iam.aws.m.upbound.io/v1beta1",
  Route: "ec2.aws.m.upbound.io/v1beta1",
  RouteTable: "ec2.aws.m.upbound.io/v1beta1",
  RouteTableAssociation: "ec2.aws.m.upbound.io/v1beta1",
  SecurityGroupIngressRule: "ec2.aws.m.upbound.io/v1beta1",
  Subnet: "ec2.aws.m.upbound.io/v1beta1",
  TransitGatewayVPCAttachment: "ec2.aws.m.upbound.io/v1beta1",
  VPC: "ec2.aws.m.upbound.io/v1beta1",
  VPCEndpoint: "ec2.aws.m.upbound.io/v1beta1",
  VPCEndpointRouteTableAssociation: "ec2.aws.m.upbound.io/v1beta1",
  VPCEndpointSecurityGroupAssociation: "ec2.aws.m.upbound.io/v1beta1",
  VPCEndpointSubnetAssociation: "ec2.aws.m.upbound.io/v1beta1",
  VPCIPv4CidrBlockAssociation: "ec2.aws.m.upbound.io/v1beta1",
} as const;

export type ManagedKind = keyof typeof managedKinds;

export const otherKinds = {
  ConfigMap: "v1",
  Secret: "v1",
  Kustomization: "kustomize.toolkit.fluxcd.io/v1",
  Usage: "protection.crossplane.io/v1beta1",
} as const;

/** What the bootstrap chain consists of on the hub. */
export const chainKinds = {
  Kustomization: "kustomize.toolkit.fluxcd.io/v1",
  HelmRelease: "helm.toolkit.fluxcd.io/v2",
} as const;

export const usageApi = { apiVersion: otherKinds.Usage, kind: "Usage" } as const;

/** Annotation with which Crossplane records that somebody tried to delete an object that a Usage protects. */
export const deletionAttempt = "usage.crossplane.io/deletion-attempt-with-policy";

/** The name of a kind in URLs, as Kubernetes forms it. */
export function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  if (/(s|x|ch|sh)$/.test(name)) return `${name}es`;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}
