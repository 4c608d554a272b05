import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { type PolicyDocument, policyText } from "../lib/iam/policy.ts";
import type { Tags } from "../lib/labels.ts";

export interface FleetBoundaryArgs {
  /**
   * Name of the policy in IAM, at most 128 characters.
   * @default the component's name
   */
  readonly policyName?: string;
  /** Description in IAM: the roles that carry the boundary. */
  readonly description: string;
  /** The most that a role with this boundary can do. */
  readonly document: pulumi.Input<PolicyDocument>;
  /**
   * Tags of the policy.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
}

/**
 * A permissions boundary of the fleet: of the roles that Crossplane makes on the hub, or that applications order on a spoke.
 * @example
 * const document = policy({ Effect: "Allow", Action: ["s3:*", "sqs:*"], Resource: ["*"] });
 * const boundary = new FleetBoundary("shop-boundary", { description: "Every role of the shop", document });
 * new IrsaRole("shop-orders", { description: "Orders", oidc, subject, policy: orders, permissionsBoundary: boundary.arn });
 */
export class FleetBoundary extends pulumi.ComponentResource {
  /** ARN of the policy. */
  readonly arn: pulumi.Output<string>;

  constructor(name: string, args: FleetBoundaryArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:FleetBoundary", name, {}, opts);
    const { policyName = name, description, document, tags } = args;
    const policy = new aws.iam.Policy(
      `${name}-policy`,
      { name: policyName, description, policy: pulumi.output(document).apply(policyText), tags },
      { parent: this },
    );
    this.arn = policy.arn;
    this.registerOutputs({ arn: this.arn });
  }
}
