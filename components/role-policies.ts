import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { type PolicyDocument, policyText } from "../lib/iam/policy.ts";
import type { Tags } from "../lib/labels.ts";

/** Policies of a role's own, in IAM beside it: what a role may do has 10,240 characters in the role, and 6,144 in each of at most ten of these (IAM quotas). */
export type FurtherPolicies = Readonly<Record<string, pulumi.Input<PolicyDocument>>>;

/** The role, as a component knows it. */
interface RoleOfComponent {
  /** Name of the component. */
  readonly name: string;
  readonly roleName: string;
  readonly role: aws.iam.Role;
  readonly tags: Tags | undefined;
  readonly parent: pulumi.Resource;
}

/** Makes and attaches further policies of a role; each is called after the role and its key. */
export const attachFurtherPolicies = (
  { name, roleName, role, tags, parent }: RoleOfComponent,
  policies: FurtherPolicies,
): aws.iam.RolePolicyAttachment[] =>
  Object.entries(policies).map(([key, document]) => {
    const policy = new aws.iam.Policy(
      `${name}-${key}-policy`,
      {
        name: `${roleName}-${key}`,
        description: `Part of what ${roleName} may do`,
        policy: pulumi.output(document).apply(policyText),
        tags,
      },
      { parent },
    );
    return new aws.iam.RolePolicyAttachment(`${name}-${key}`, { role: role.name, policyArn: policy.arn }, { parent });
  });
