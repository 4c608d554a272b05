import { partitionOf } from "../../lib/iam/policy.ts";

/** VPC endpoints of a spoke's own network: which services have one, and of which type. */

/** Services with gateway endpoints: routes, which cost nothing (Amazon VPC User Guide, "Gateway endpoints"). S3 has one in every spoke's own VPC. */
export const gatewayServices = ["s3", "dynamodb"] as const;
export type GatewayService = (typeof gatewayServices)[number];

/**
 * Services with interface endpoints that have private DNS names: what clusters without internet access use (EKS User Guide, "Deploy private
 * clusters with limited internet access"), and what applications and add-ons of the fleet call. The end of the service's name for EC2.
 */
export const interfaceServices = [
  ...(["aps-workspaces", "autoscaling", "ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticfilesystem"] as const),
  ...(["elasticloadbalancing", "kms", "logs", "monitoring", "rds", "secretsmanager", "sns", "sqs", "ssm"] as const),
  ...(["ssmmessages", "sts", "xray"] as const),
] as const;
export type InterfaceService = (typeof interfaceServices)[number];

/** What `spec.network.endpoints` may name. */
export type EndpointService = Exclude<GatewayService, "s3"> | InterfaceService;

const isGatewayService = (service: string): service is GatewayService =>
  (gatewayServices as readonly string[]).includes(service);

/** Services whose names in China's regions begin with `cn.` (aws-cdk, packages/aws-cdk-lib/aws-ec2/lib/vpc-endpoint.ts). */
const namedChinese: ReadonlySet<string> = new Set<InterfaceService>([
  ...(["autoscaling", "ec2", "ecr.api", "ecr.dkr", "eks", "elasticfilesystem", "monitoring", "rds", "sqs"] as const),
  ...(["sts", "xray"] as const),
]);

/** The name of a service for EC2. */
export const serviceName = (service: GatewayService | InterfaceService, region: string): string =>
  `${partitionOf(region) === "aws-cn" && namedChinese.has(service) ? "cn." : ""}com.amazonaws.${region}.${service}`;

/** The services that have an interface endpoint, of those that a Spoke names. */
export const interfaceEndpointsOf = (services: readonly EndpointService[] = []): readonly InterfaceService[] =>
  services.filter((service) => !isGatewayService(service));

/** The services that have a gateway endpoint in a spoke's own VPC. */
export const gatewayEndpointsOf = (services: readonly EndpointService[] = []): readonly GatewayService[] => [
  "s3",
  ...services.filter((service) => isGatewayService(service)),
];
