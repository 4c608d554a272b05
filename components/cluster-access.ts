import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { adminAccessPolicy, apiIngress, viewerAccessPolicy } from "../lib/eks-baseline.ts";
import type { Tags } from "../lib/labels.ts";
import { lengthSafe } from "../lib/names.ts";
import { userError } from "./user-error.ts";

/** The cluster. Access entries are its children, and are never protected with it. */
interface AccessibleCluster {
  readonly component: pulumi.ComponentResource;
  /** Logical name of the component. */
  readonly id: string;
  readonly name: pulumi.Output<string>;
  readonly tags: Tags | undefined;
}

/** @throws a user error when the endpoints would admit nobody, or the whole internet. */
export function requireReachable(isPublic: boolean, publicCidrs: readonly string[], isPrivate: boolean): void {
  if (isPublic && publicCidrs.length === 0)
    throw userError(
      "endpointPublicAccessCidrs: got none, so that EKS would admit the whole internet; with endpointPublicAccess name the networks to admit, such as a.b.c.d/32",
    );
  if (!isPublic && !isPrivate)
    throw userError(
      "endpointPrivateAccess: got false without endpointPublicAccess, so that nobody could reach the Kubernetes API; set one of them to true",
    );
}

/** Lets a connected network reach the private endpoint. */
export function admitNetwork(
  { component, id, tags }: AccessibleCluster,
  securityGroupId: pulumi.Output<string>,
  cidr: string,
): aws.vpc.SecurityGroupIngressRule {
  return new aws.vpc.SecurityGroupIngressRule(
    `${id}-api-from-${cidr.replaceAll(/[./]/g, "-")}`,
    {
      securityGroupId,
      ...apiIngress(cidr),
      tags,
    },
    { parent: component, protect: false },
  );
}

/** ARNs, or ARNs by a name of their own. */
type Principals = readonly string[] | Readonly<Record<string, pulumi.Input<string>>>;

/** A principal's part of logical names, its ARN, and its access to the whole cluster. */
interface Access {
  readonly key: string;
  readonly principalArn: pulumi.Input<string>;
  readonly role: keyof typeof accessPolicies;
}

/** Access policies, by the end of the logical names of their associations. */
const accessPolicies = { admin: adminAccessPolicy, view: viewerAccessPolicy } as const;

/** The parts of logical names that ARNs give, as existing stacks have them. */
const partOf = (arn: string): string => arn.replace(/^arn:[^:]*:iam::/, "").replaceAll(/[^A-Za-z0-9]+/g, "-");

/**
 * The access of principals. A name is given for each, or comes from its ARN.
 * @throws a user error for a name that can't be part of a logical name
 */
export function accessOf(argument: string, principals: Principals, role: Access["role"]): Access[] {
  if (Array.isArray(principals))
    return (principals as readonly string[]).map((arn) => ({
      key: lengthSafe(partOf(arn), 60),
      principalArn: arn,
      role,
    }));
  return Object.entries(principals).map(([key, principalArn]) => {
    if (!/^[A-Za-z0-9]([-A-Za-z0-9]{0,58}[A-Za-z0-9])?$/.test(key))
      throw userError(
        `${argument}: got the name ${JSON.stringify(key)}; a name has 1 to 60 letters, digits and hyphens and begins and ends with a letter or a digit, such as platform-team`,
      );
    return { key, principalArn, role };
  });
}

/**
 * Gives a principal access to the cluster. It does not use the cluster's `accessEntries`, because children of the cluster inherit its
 * protection, and it must be possible to remove an entry.
 */
export function grantAccess(
  { component, id, name: clusterName, tags }: AccessibleCluster,
  { key, principalArn, role }: Access,
  partition: pulumi.Output<string>,
): pulumi.Resource[] {
  const opts = { parent: component, protect: false };
  const entry = new aws.eks.AccessEntry(`${id}-${key}`, { clusterName, principalArn, tags }, opts);
  const association = new aws.eks.AccessPolicyAssociation(
    `${id}-${key}-${role}`,
    {
      clusterName,
      principalArn: entry.principalArn,
      policyArn: pulumi.interpolate`arn:${partition}:eks::aws:cluster-access-policy/${accessPolicies[role]}`,
      accessScope: { type: "cluster" },
    },
    { ...opts, dependsOn: [entry] },
  );
  return [entry, association];
}
