import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { PolicyDocument } from "../lib/iam/policy.ts";

export interface ServiceRoleArgs {
  /** Physical name of the role, at most 64 characters. */
  readonly roleName: string;
  readonly description: string;
  readonly trust: PolicyDocument;
  /** Names of AWS managed policies to attach. */
  readonly managedPolicies: readonly string[];
  readonly partition: pulumi.Input<string>;
  /** Permissions boundary. Default: none. */
  readonly permissionsBoundary: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
}

/** An IAM role for an AWS service, with AWS managed policies. */
export class ServiceRole extends pulumi.ComponentResource {
  readonly role: aws.iam.Role;
  /** ARN of the role; known when all policies are attached. */
  readonly arn: pulumi.Output<string>;

  constructor(name: string, args: ServiceRoleArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:ServiceRole", name, {}, opts);
    const { roleName, description, trust, permissionsBoundary, tags } = args;
    this.role = new aws.iam.Role(
      `${name}-role`,
      {
        name: roleName,
        description,
        assumeRolePolicy: JSON.stringify(trust),
        ...(permissionsBoundary ? { permissionsBoundary } : {}),
        tags,
      },
      { parent: this },
    );
    const attachments = args.managedPolicies.map(
      (policy) =>
        new aws.iam.RolePolicyAttachment(
          `${name}-${policy}`,
          { role: this.role.name, policyArn: pulumi.interpolate`arn:${args.partition}:iam::aws:policy/${policy}` },
          { parent: this },
        ),
    );
    this.arn = pulumi.all([this.role.arn, pulumi.all(attachments.map(({ id }) => id))]).apply(([arn]) => arn);
    this.registerOutputs({ arn: this.arn });
  }
}
