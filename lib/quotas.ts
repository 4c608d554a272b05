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
  vcpus: {
    service: "ec2",
    code: "L-1216C47A",
    name: "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
  },
  spotVcpus: {
    service: "ec2",
    code: "L-34B43A08",
    name: "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
  },
  clusters: { service: "eks", code: "L-1194D53C", name: "Clusters" },
  oidcProviders: { service: "iam", code: "L-858F3967", name: "OpenId connect providers per account" },
  roles: { service: "iam", code: "L-FE177D64", name: "Roles per account" },
} as const satisfies Record<string, Quota>;

export type QuotaName = keyof typeof quotas;

/** Quotas of EC2 that count vCPUs, by the capacity type of the instances. */
export const vcpuQuotas = { ON_DEMAND: "vcpus", SPOT: "spotVcpus" } as const satisfies Record<string, QuotaName>;

export type CapacityType = keyof typeof vcpuQuotas;
export type VcpuQuota = (typeof vcpuQuotas)[CapacityType];

/**
 * Whether an instance type counts against the quotas for Standard instances. P, G, Inf, Trn, X, HPC, Mac and others have their own (EC2 User
 * Guide, "Amazon EC2 instance type quotas"); Im4gn and Is4gen are I instances.
 */
export const isStandard = (instanceType: string): boolean => /^([acdhimrtz]|i[ms])\d/.test(instanceType);

/**
 * Quotas that the fleet's metrics cover. `kind`: the kind of Crossplane's resources that count, and AWS's default for a region of an account (AWS
 * General Reference, "Amazon VPC", "Amazon EC2" and "Amazon EKS endpoints and quotas"). Without it, the vCPUs of nodes count; AWS raises this
 * quota for each account, so it has no default here.
 */
export const countedQuotas = {
  vpcs: { kind: "VPC", initial: 5 },
  addresses: { kind: "EIP", initial: 5 },
  clusters: { kind: "Cluster", initial: 100 },
  vcpus: { capacityType: "ON_DEMAND" },
  spotVcpus: { capacityType: "SPOT" },
} as const satisfies Partial<
  Record<QuotaName, { readonly kind: string; readonly initial: number } | { readonly capacityType: CapacityType }>
>;

export type CountedQuota = keyof typeof countedQuotas;
