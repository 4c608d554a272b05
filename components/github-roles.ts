import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Purpose } from "../lib/github-environments.ts";
import { type Denial, withDenials } from "../lib/iam/company-denials.ts";
import {
  type GitHubRolesScope,
  githubBoundary,
  githubIssuer,
  githubRights,
  githubTrust,
  jobs,
  type Repositories,
  type State,
} from "../lib/iam/github-roles.ts";
import type { GrafanaAuthentication } from "../lib/iam/grafana.ts";
import { arns, dnsSuffix, partitionOf } from "../lib/iam/policy.ts";
import { stsAudience } from "../lib/iam/trust.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames } from "../lib/names.ts";
import { FleetBoundary } from "./fleet-boundary.ts";
import { ServiceRole } from "./service-role.ts";
import { userError } from "./user-error.ts";

export interface GitHubRolesArgs {
  /** Name of the fleet. The roles are named `<fleet>-ci-<purpose>`. */
  readonly fleet: string;
  /** ID of the account of the hub and of the roles. */
  readonly accountId: string;
  /** Region of the hub. */
  readonly region: string;
  /** Name of the hub's Pulumi stack. Its environments at GitHub are named after it. */
  readonly stack: string;
  /**
   * Jobs that get a role.
   * @default ["apply", "drift", "preview"]
   */
  readonly purposes?: readonly Purpose[];
  /** The repositories at github.com whose workflows assume the roles. */
  readonly repositories: Repositories;
  /**
   * Location of the stack's state and of its secrets.
   * @default none
   */
  readonly state?: State;
  /**
   * Registry in Amazon ECR, host or host/path, from which the roles for `apply`, `drift` and `preview` pull the charts of the stack.
   * @default none
   */
  readonly registry?: string | undefined;
  /**
   * Whether the account already has an OIDC provider for GitHub. An account has at most one.
   * @default false
   */
  readonly existingProvider?: boolean;
  /**
   * ARN of the hub's `permissionsBoundary`: the apply role creates roles of the hub under this boundary only.
   * @default none
   */
  readonly hubBoundary?: string | undefined;
  /**
   * The hub's `rolePath`, which these roles have too.
   * @default "/"
   */
  readonly rolePath?: string;
  /**
   * Statements of a company, which the boundary of the roles has too: see `boundaryStatements` of the hub's stack.
   * @default none
   */
  readonly boundaryStatements?: readonly Denial[];
  /**
   * `grafanaAuthentication` of a hub with `grafana: amg`.
   * @default none
   */
  readonly grafana?: GrafanaAuthentication | undefined;
  /**
   * ARN of the key of the fleet's secrets, for a hub with `accounts`.
   * @default none
   */
  readonly secretsKeyArn?: string | undefined;
  /**
   * Tags of the roles, policies and the provider.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
}

/**
 * IAM roles of GitHub's workflows. Each role trusts the jobs of one environment, on one Git ref of one repository, and has a permissions boundary.
 * @throws a user error when a purpose needs a repository that is missing
 * @example
 * const project = { name: "acme/fleet", id: "456789", subjectPrefix: "repo:acme@123456/fleet@456789" };
 * const roles = new GitHubRoles("ci", {
 *   fleet: "fleet",
 *   accountId: "111122223333",
 *   region: "eu-central-1",
 *   stack: "prod",
 *   repositories: { project },
 * });
 */
export class GitHubRoles extends pulumi.ComponentResource {
  /** ARN of each role by its purpose. */
  readonly roleArns: Readonly<Record<string, pulumi.Output<string>>>;
  /** ARN of the permissions boundary of the roles. */
  readonly boundaryArn: pulumi.Output<string>;

  constructor(name: string, args: GitHubRolesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:GitHubRoles", name, {}, opts);
    const { fleet, accountId, region, stack, purposes = ["apply", "drift", "preview"], repositories, tags } = args;
    const names = fleetNames(fleet);
    const partition = partitionOf(region);
    const scope: GitHubRolesScope = {
      ...{ fleet, accountId, region, partition, dnsSuffix: dnsSuffix(partition), state: args.state ?? {} },
      ...(args.registry && { registry: args.registry }),
      ...(args.rolePath && { rolePath: args.rolePath }),
      ...(args.hubBoundary && { permissionsBoundary: args.hubBoundary }),
      ...(args.grafana && { grafana: args.grafana }),
      ...(args.secretsKeyArn && { secretsKeyArn: args.secretsKeyArn }),
    };
    const provider = args.existingProvider
      ? []
      : [
          new aws.iam.OpenIdConnectProvider(
            `${name}-provider`,
            { url: `https://${githubIssuer}`, clientIdLists: [stsAudience], tags },
            { parent: this },
          ),
        ];
    const boundary = new FleetBoundary(
      `${name}-boundary`,
      {
        policyName: names.ciRole("boundary"),
        description: `Roles of GitHub's workflows of ${fleet}`,
        document: withDenials(githubBoundary(scope), args.boundaryStatements ?? []),
        tags,
      },
      { parent: this },
    );
    this.boundaryArn = boundary.arn;
    const role = (purpose: Purpose) => {
      const { repository: of, session } = jobs[purpose];
      const repository = repositories[of];
      if (repository === undefined)
        throw userError(`repositories.${of}: is missing, and the role ${names.ciRole(purpose)} trusts its workflows`);
      const { own, further } = githubRights(purpose, scope);
      return new ServiceRole(
        `${name}-${purpose}`,
        {
          roleName: names.ciRole(purpose),
          description: `Workflows of ${repository.name}: ${purpose}`,
          trust: githubTrust(purpose, stack, arns(scope).oidcProvider(githubIssuer), repository),
          policy: own,
          furtherPolicies: further,
          rolePath: args.rolePath,
          permissionsBoundary: boundary.arn,
          maxSessionDuration: session,
          tags,
        },
        // IAM accepts a trust policy that names a provider only once the provider exists.
        { parent: this, dependsOn: provider },
      );
    };
    this.roleArns = Object.fromEntries(purposes.map((purpose) => [purpose, role(purpose).arn]));
    this.registerOutputs({ roleArns: this.roleArns, boundaryArn: this.boundaryArn });
  }
}
