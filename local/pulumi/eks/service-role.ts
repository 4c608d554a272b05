import { createHash } from "node:crypto";
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";

export interface ServiceRoleArgs {
  readonly service: string;
  readonly description?: string;
  /** Names of AWS managed policies. */
  readonly policies: readonly string[];
  readonly assumeRoleActions?: string[];
  readonly tags?: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
}

/** Child names carry a hash of the policy's ARN in the partition `aws`, whatever the partition is: names stay the same everywhere. */
const suffix = (policy: string): string =>
  createHash("sha1").update(`arn:aws:iam::aws:policy/${policy}`).digest("hex").slice(0, 8);

/** An IAM role for an AWS service with managed policies. */
export class ServiceRole extends pulumi.ComponentResource {
  readonly role: aws.iam.Role;
  /** The role, once its policies are attached. */
  readonly resolvedRole: pulumi.Output<aws.iam.Role>;

  constructor(name: string, args: ServiceRoleArgs, opts: pulumi.ComponentResourceOptions) {
    super("eks:index:ServiceRole", name, {}, opts);
    const { partition } = aws.getPartitionOutput({}, { parent: this });
    this.role = new aws.iam.Role(
      `${name}-role`,
      {
        ...(args.description && { description: args.description }),
        assumeRolePolicy: JSON.stringify({
          Version: "2012-10-17",
          Statement: [
            {
              Action: args.assumeRoleActions ?? ["sts:AssumeRole"],
              Effect: "Allow",
              Principal: { Service: [args.service] },
            },
          ],
        }),
        ...(args.tags && { tags: args.tags }),
      },
      { parent: this },
    );
    const attachments = args.policies.map(
      (policy) =>
        new aws.iam.RolePolicyAttachment(
          `${name}-${suffix(policy)}`,
          { policyArn: pulumi.interpolate`arn:${partition}:iam::aws:policy/${policy}`, role: this.role.name },
          { parent: this },
        ),
    );
    this.resolvedRole = pulumi.all([this.role.arn, ...attachments.map(({ id }) => id)]).apply(() => this.role);
    this.registerOutputs({ resolvedRole: this.resolvedRole, directRole: this.role });
  }
}
