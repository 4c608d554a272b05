import { apiGroup } from "./kind.ts";

/** Plurals of the kinds that others refer to, which may be served by another program of the family. */
export const plurals: Readonly<Record<string, string>> = {
  "ec2/EIP": "eips",
  "ec2/InternetGateway": "internetgateways",
  "ec2/NATGateway": "natgateways",
  "ec2/RouteTable": "routetables",
  "ec2/SecurityGroup": "securitygroups",
  "ec2/Subnet": "subnets",
  "ec2/VPC": "vpcs",
  "ec2/VPCEndpoint": "vpcendpoints",
  "eks/AccessEntry": "accessentries",
  "eks/Cluster": "clusters",
  "iam/InstanceProfile": "instanceprofiles",
  "iam/Policy": "policies",
  "iam/Role": "roles",
  "kms/Key": "keys",
  "secretsmanager/Secret": "secrets",
};

/** The CRD of `group/Kind`. @throws for a kind that nothing refers to */
export function crdOf(to: string): string {
  const plural = plurals[to];
  if (!plural) throw new Error(`no plural is known for ${to}`);
  return `${plural}.${apiGroup(to.split("/")[0] as string)}`;
}
