/**
 * AWS quotas that hubs and spokes count against, by service and quota code; Service Quotas tells the values in force.
 * Sources: AWS General Reference, "Amazon VPC endpoints and quotas" and "Amazon EC2 endpoints and quotas"; EKS Best Practices Guide,
 * "Known Limits and Service Quotas".
 */
export interface Quota {
  readonly service: "vpc" | "ec2" | "eks" | "iam";
  readonly code: string;
  /** AWS's own name of it. */
  readonly name: string;
}

export const quotas = {
  vpcs: { service: "vpc", code: "L-F678F1CE", name: "VPCs per Region" },
  addresses: { service: "ec2", code: "L-0263D0A3", name: "EC2-VPC Elastic IPs" },
  gatewayEndpoints: { service: "vpc", code: "L-1B52E74A", name: "Gateway VPC endpoints per Region" },
  natGateways: { service: "vpc", code: "L-FE5A380F", name: "NAT gateways per Availability Zone" },
  clusters: { service: "eks", code: "L-1194D53C", name: "Clusters" },
  oidcProviders: { service: "iam", code: "L-858F3967", name: "OpenId connect providers per account" },
  roles: { service: "iam", code: "L-FE177D64", name: "Roles per account" },
} as const satisfies Record<string, Quota>;

export type QuotaName = keyof typeof quotas;

/**
 * The quotas that can be told of from the hub's own metrics: the kind of Crossplane's resources that count, and AWS's default for a region of an
 * account (AWS General Reference, "Amazon VPC", "Amazon EC2" and "Amazon EKS endpoints and quotas").
 */
export const countedQuotas = {
  vpcs: { kind: "VPC", initial: 5 },
  addresses: { kind: "EIP", initial: 5 },
  clusters: { kind: "Cluster", initial: 100 },
} as const satisfies Partial<Record<QuotaName, { readonly kind: string; readonly initial: number }>>;

export type CountedQuota = keyof typeof countedQuotas;
