import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { PolicyDocument } from "../lib/iam/policy.ts";
import type { Tags } from "../lib/labels.ts";
import { attachFurtherPolicies, type FurtherPolicies } from "./role-policies.ts";

export interface ServiceRoleArgs {
  /**
   * Name of the role in IAM, at most 64 characters.
   * @default the component's name
   */
  readonly roleName?: string;
  /** What the role is for, as IAM shows it. */
  readonly description: string;
  /** Who may assume the role: `serviceTrust` writes it for a service. */
  readonly trust: pulumi.Input<PolicyDocument>;
  /**
   * Names of AWS managed policies to attach.
   * @default none
   * @example ["AmazonEKSWorkerNodePolicy"]
   */
  readonly managedPolicies?: readonly string[];
  /**
   * What the role may do besides.
   * @default nothing
   */
  readonly policy?: pulumi.Input<PolicyDocument> | undefined;
  /**
   * More that the role may do, where its policy has no room for it: managed policies by the last part of their names, which follows the role's
   * name and a hyphen. They are attached before the policy changes, so what moves between them is never missing.
   * @default none
   */
  readonly furtherPolicies?: FurtherPolicies;
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
 * An IAM role for an AWS service, with AWS managed policies, a policy of its own, or both.
 * @example
 * new ServiceRole("nodes", { description: "Nodes", trust: serviceTrust("ec2.amazonaws.com") });
 */
export class ServiceRole extends pulumi.ComponentResource {
  /** The role itself. */
  readonly role: aws.iam.Role;
  /** ARN of the role; known when all policies are attached. */
  readonly arn: pulumi.Output<string>;

  constructor(name: string, args: ServiceRoleArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:ServiceRole", name, {}, opts);
    const { roleName = name, description, trust, managedPolicies = [], policy, furtherPolicies = {} } = args;
    const { rolePath, permissionsBoundary, tags } = args;
    const { partition } = aws.getPartitionOutput({}, { parent: this });
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
    const attachments = managedPolicies.map(
      (managed) =>
        new aws.iam.RolePolicyAttachment(
          `${name}-${managed}`,
          { role: this.role.name, policyArn: pulumi.interpolate`arn:${partition}:iam::aws:policy/${managed}` },
          { parent: this },
        ),
    );
    const further = attachFurtherPolicies({ name, roleName, role: this.role, tags, parent: this }, furtherPolicies);
    const own =
      policy &&
      new aws.iam.RolePolicy(
        `${name}-policy`,
        { name: roleName, role: this.role.name, policy: pulumi.jsonStringify(policy) },
        { parent: this, dependsOn: further },
      );
    const rights = [...attachments, ...further, ...(own ? [own] : [])].map(({ id }) => id);
    this.arn = pulumi.all([this.role.arn, pulumi.all(rights)]).apply(([arn]) => arn);
    this.registerOutputs({ arn: this.arn });
  }
}
