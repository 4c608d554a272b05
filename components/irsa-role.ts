import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { WorkloadIdentity } from "../lib/bridge.ts";
import { type PolicyDocument, policy as policyOf } from "../lib/iam/policy.ts";
import { podIdentityTrust, type ServiceAccountRef, serviceAccountTrust } from "../lib/iam/trust.ts";
import type { Tags } from "../lib/labels.ts";

/** The IAM OIDC provider of a cluster and its issuer, both as the cluster reports them. */
interface OidcIssuerArgs {
  readonly providerArn: pulumi.Input<string>;
  readonly issuer: pulumi.Input<string>;
}

/** An EKS cluster whose nodes have the EKS Pod Identity Agent. */
export interface PodIdentityArgs {
  /** Name of the cluster; to be known when the agent runs, because pods that start get no credentials without it. */
  readonly clusterName: pulumi.Input<string>;
  readonly clusterArn: pulumi.Input<string>;
}

export interface IrsaRoleArgs {
  /**
   * Name of the role in IAM, at most 64 characters.
   * @default the component's name
   */
  readonly roleName?: string;
  /** What the role is for, as IAM shows it. */
  readonly description: string;
  /** The cluster's OIDC provider and issuer: `oidc` of a `HubCluster`. */
  readonly oidc: OidcIssuerArgs;
  /** The only service account that may assume the role. */
  readonly subject: ServiceAccountRef;
  /**
   * Where pods of the service account get the role by EKS Pod Identity: `podIdentity` of a `HubNodes`. It counts for pods that start
   * afterwards; the role trusts the OIDC provider too, with which those from before go on. A service account without pods needs the provider.
   * @default by the OIDC provider alone
   */
  readonly podIdentity?: PodIdentityArgs | undefined;
  /** What the role may do. */
  readonly policy: pulumi.Input<PolicyDocument>;
  /**
   * Path of the role in IAM.
   * @default "/"
   */
  readonly rolePath?: string | undefined;
  /**
   * ARN of a policy that is the role's permissions boundary.
   * @default none
   */
  readonly permissionsBoundary?: pulumi.Input<string> | undefined;
  /**
   * Tags of the role.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
}

/**
 * An IAM role for one Kubernetes service account: by the cluster's OIDC provider (IRSA), or by EKS Pod Identity.
 * @throws RangeError when the subject is not a Kubernetes name, or the provider belongs to another issuer
 * @example
 * const subject = { namespace: "shop", serviceAccount: "orders" };
 * const role = new IrsaRole("shop-orders", { description: "Orders of the shop", oidc: cluster.oidc, subject, policy });
 */
export class IrsaRole extends pulumi.ComponentResource {
  /** The role itself, to attach further policies to. */
  readonly role: aws.iam.Role;
  /** ARN of the role; known once its policies are attached and pods get it, so whatever takes it can use the role at once. */
  readonly arn: pulumi.Output<string>;
  /** The role and the service account that it belongs to. */
  readonly identity: pulumi.Output<WorkloadIdentity>;

  constructor(name: string, args: IrsaRoleArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:IrsaRole", name, {}, opts);
    const { roleName = name, description, subject, podIdentity, rolePath, permissionsBoundary, tags } = args;
    const trust = pulumi
      .all([args.oidc, podIdentity?.clusterArn])
      .apply(([issuer, clusterArn]) =>
        policyOf(
          ...(clusterArn === undefined ? [] : podIdentityTrust(clusterArn, subject).Statement),
          ...serviceAccountTrust(issuer, subject).Statement,
        ),
      );
    this.role = new aws.iam.Role(
      `${name}-role`,
      {
        name: roleName,
        path: rolePath,
        description,
        assumeRolePolicy: pulumi.jsonStringify(trust),
        permissionsBoundary,
        tags,
      },
      { parent: this },
    );
    const policy = new aws.iam.RolePolicy(
      `${name}-policy`,
      { name: roleName, role: this.role.name, policy: pulumi.jsonStringify(args.policy) },
      { parent: this },
    );
    const associations = podIdentity
      ? [
          new aws.eks.PodIdentityAssociation(
            `${name}-pods`,
            { clusterName: podIdentity.clusterName, ...subject, roleArn: this.role.arn, tags },
            { parent: this, dependsOn: [policy] },
          ),
        ]
      : [];
    const works = [policy, ...associations].map(({ id }) => id);
    this.arn = pulumi.all([this.role.arn, pulumi.all(works)]).apply(([arn]) => arn);
    this.identity = this.arn.apply((roleArn) => ({ roleArn, ...subject }));
    this.registerOutputs({ arn: this.arn });
  }
}
