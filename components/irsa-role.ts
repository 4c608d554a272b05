import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { WorkloadIdentity } from "../lib/bridge.ts";
import type { PolicyDocument } from "../lib/iam/policy.ts";
import { type ServiceAccountRef, serviceAccountTrust } from "../lib/iam/trust.ts";
import type { Tags } from "../lib/labels.ts";
import { attachFurtherPolicies, type FurtherPolicies } from "./role-policies.ts";

/** The IAM OIDC provider of a cluster and its issuer, both as the cluster reports them. */
interface OidcIssuerArgs {
  readonly providerArn: pulumi.Input<string>;
  readonly issuer: pulumi.Input<string>;
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
  /** What the role may do. */
  readonly policy: pulumi.Input<PolicyDocument>;
  /**
   * More that the role may do, where its policy has no room for it: managed policies by the last part of their names, which follows the role's
   * name and a hyphen. They are attached before the policy changes, so what moves between them is never missing.
   * @default none
   */
  readonly furtherPolicies?: FurtherPolicies;
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
 * An IAM role for one Kubernetes service account (IRSA).
 * @throws RangeError when the subject is not a Kubernetes name, or the provider belongs to another issuer
 * @example
 * const subject = { namespace: "shop", serviceAccount: "orders" };
 * const role = new IrsaRole("shop-orders", { description: "Orders of the shop", oidc: cluster.oidc, subject, policy });
 */
export class IrsaRole extends pulumi.ComponentResource {
  /** The role itself, to attach further policies to. */
  readonly role: aws.iam.Role;
  /** ARN of the role; known once its policies are attached, so whatever takes it can use the role at once. */
  readonly arn: pulumi.Output<string>;
  /** The role and the service account that it belongs to. */
  readonly identity: pulumi.Output<WorkloadIdentity>;

  constructor(name: string, args: IrsaRoleArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:IrsaRole", name, {}, opts);
    const { roleName = name, description, subject, furtherPolicies = {}, permissionsBoundary, tags } = args;
    const trust = pulumi.output(args.oidc).apply((issuer) => serviceAccountTrust(issuer, subject));
    this.role = new aws.iam.Role(
      `${name}-role`,
      {
        name: roleName,
        description,
        assumeRolePolicy: pulumi.jsonStringify(trust),
        permissionsBoundary,
        tags,
      },
      { parent: this },
    );
    const further = attachFurtherPolicies({ name, roleName, role: this.role, tags, parent: this }, furtherPolicies);
    const policy = new aws.iam.RolePolicy(
      `${name}-policy`,
      { name: roleName, role: this.role.name, policy: pulumi.jsonStringify(args.policy) },
      { parent: this, dependsOn: further },
    );
    this.arn = pulumi.all([this.role.arn, policy.id]).apply(([arn]) => arn);
    this.identity = this.arn.apply((roleArn) => ({ roleArn, ...subject }));
    this.registerOutputs({ arn: this.arn });
  }
}
