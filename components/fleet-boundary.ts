import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { PolicyDocument } from "../lib/iam/policy.ts";

export interface FleetBoundaryArgs {
  /** Physical name of the policy, at most 128 characters. */
  readonly policyName: string;
  /** Whose roles carry it. */
  readonly description: string;
  /** The most that a role with this boundary can do. */
  readonly document: pulumi.Input<PolicyDocument>;
  readonly tags: Readonly<Record<string, string>>;
}

/** A permissions boundary of the fleet: of the roles that Crossplane makes on the hub, or that applications order on a spoke. */
export class FleetBoundary extends pulumi.ComponentResource {
  readonly arn: pulumi.Output<string>;

  constructor(name: string, args: FleetBoundaryArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:FleetBoundary", name, {}, opts);
    const policy = new aws.iam.Policy(
      `${name}-policy`,
      {
        name: args.policyName,
        description: args.description,
        policy: pulumi.jsonStringify(args.document),
        tags: args.tags,
      },
      { parent: this },
    );
    this.arn = policy.arn;
    this.registerOutputs({ arn: this.arn });
  }
}
