import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { WorkloadIdentity } from "../lib/bridge.ts";
import type { PolicyDocument } from "../lib/iam/policy.ts";
import { type ServiceAccountRef, serviceAccountTrust } from "../lib/iam/trust.ts";

/** The IAM OIDC provider of a cluster and its issuer, both as the cluster reports them. */
interface OidcIssuerArgs {
  readonly providerArn: pulumi.Input<string>;
  readonly issuer: pulumi.Input<string>;
}

export interface IrsaRoleArgs {
  /** Physical name of the role, at most 64 characters. */
  readonly roleName: string;
  readonly description: string;
  readonly oidc: OidcIssuerArgs;
  /** The only service account that may assume the role. */
  readonly subject: ServiceAccountRef;
  /** What the role may do. */
  readonly policy: pulumi.Input<PolicyDocument>;
  /** Permissions boundary. Default: none. */
  readonly permissionsBoundary: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
}

/** An IAM role for one Kubernetes service account (IRSA). */
export class IrsaRole extends pulumi.ComponentResource {
  /** ARN of the role; known when its policy is attached, so whoever gets it can use it at once. */
  readonly arn: pulumi.Output<string>;
  readonly identity: pulumi.Output<WorkloadIdentity>;

  constructor(name: string, args: IrsaRoleArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:IrsaRole", name, {}, opts);
    const { roleName, description, subject, permissionsBoundary, tags } = args;
    const trust = pulumi.output(args.oidc).apply((issuer) => serviceAccountTrust(issuer, subject));
    const role = new aws.iam.Role(
      `${name}-role`,
      {
        name: roleName,
        description,
        assumeRolePolicy: pulumi.jsonStringify(trust),
        ...(permissionsBoundary ? { permissionsBoundary } : {}),
        tags,
      },
      { parent: this },
    );
    const policy = new aws.iam.RolePolicy(
      `${name}-policy`,
      { name: roleName, role: role.name, policy: pulumi.jsonStringify(args.policy) },
      { parent: this },
    );
    this.arn = pulumi.all([role.arn, policy.id]).apply(([arn]) => arn);
    this.identity = this.arn.apply((roleArn) => ({ roleArn, ...subject }));
    this.registerOutputs({ arn: this.arn });
  }
}
