import { actionsIssuer } from "../github-api.ts";
import { environmentOf, type Purpose } from "../github-environments.ts";
import { fleetNames } from "../names.ts";
import { awsProofPolicy } from "./aws-proof.ts";
import { type DeployerScope, deployerPolicies } from "./deployer.ts";
import { doctorPolicy } from "./doctor.ts";
import { pullActions, pullStatements } from "./ecr.ts";
import { nodeReleasesPolicy } from "./node-releases.ts";
import { arns, type DenyAllBut, type PolicyDocument, policy, type Scope, type Statement } from "./policy.ts";
import { stsAudience } from "./trust.ts";

/** What the roles of GitHub's workflows trust and may do (docs/guides/checks.md#pull-requests). */

export const githubIssuer = actionsIssuer("github.com");

/** A repository as GitHub names it in its tokens. */
export interface TrustedRepository {
  /** `<owner>/<name>`. */
  readonly name: string;
  /** `sub_claim_prefix` of `GET /repos/{owner}/{repo}/actions/oidc/customization/sub`, which has IDs for some repositories. */
  readonly subjectPrefix: string;
  readonly id: string;
}

export interface Repositories {
  /** The copy of this project. */
  readonly project: TrustedRepository;
  /** gitops-system, for the purpose `rollouts`. */
  readonly system?: TrustedRepository | undefined;
}

interface Job {
  readonly repository: keyof Repositories;
  /** Workflow file of jobs that run in a reusable workflow: only for these GitHub documents the claim `job_workflow_ref`. */
  readonly reusable?: string;
  /** Whether the job runs Pulumi. */
  readonly pulumi?: boolean;
  /** Whether the job logs in to Amazon ECR for the charts of the stack (.github/actions/ecr-login). */
  readonly ecr?: boolean;
  /** Longest session in seconds: the time limit of the job. */
  readonly session: number;
}

const hour = 3600;

export const jobs: Readonly<Record<Purpose, Job>> = {
  apply: { repository: "project", reusable: "up.yml", pulumi: true, ecr: true, session: 2 * hour },
  drift: { repository: "project", pulumi: true, ecr: true, session: hour },
  preview: { repository: "project", pulumi: true, ecr: true, session: hour },
  "node-releases": { repository: "project", session: hour },
  rollouts: { repository: "system", session: hour },
  proof: { repository: "project", pulumi: true, session: 6 * hour },
};

/**
 * Trust policy of the role of a purpose. STS evaluates these claims of GitHub's tokens (IAM User Guide, "Available keys for AWS OIDC federation",
 * since January 2026). The subject of an environment doesn't contain a branch, `ref` does; only an ID survives the reuse of a repository's name.
 */
export function githubTrust(
  purpose: Purpose,
  stack: string,
  providerArn: string,
  repository: TrustedRepository,
): PolicyDocument {
  const key = (claim: string) => `${githubIssuer}:${claim}`;
  const { reusable } = jobs[purpose];
  const { environment, rule } = environmentOf(purpose, stack);
  const workflow = `${repository.name}/.github/workflows/${reusable}@refs/heads/main`;
  const StringEquals = {
    [key("aud")]: stsAudience,
    [key("sub")]: `${repository.subjectPrefix}:environment:${environment}`,
    [key("repository_id")]: repository.id,
    ...(reusable && { [key("job_workflow_ref")]: workflow }),
  };
  const { name } = rule.ref;
  return policy({
    Effect: "Allow",
    Principal: { Federated: providerArn },
    Action: ["sts:AssumeRoleWithWebIdentity"],
    Condition: name.includes("*")
      ? { StringEquals, StringLike: { [key("ref")]: name } }
      : { StringEquals: { ...StringEquals, [key("ref")]: `refs/heads/${name}` } },
  });
}

/** Where the stack's state and its secrets are. */
export interface State {
  /** Bucket of a `s3://` backend. */
  readonly bucket?: string | undefined;
  /** ARN of the KMS key of the secrets provider. */
  readonly keyArn?: string | undefined;
  /** ARN of the secret in Secrets Manager with a token for Pulumi Cloud. */
  readonly tokenArn?: string | undefined;
}

export interface GitHubRolesScope extends DeployerScope {
  readonly state: State;
  /** Registry of the stack's charts, if it is in Amazon ECR. */
  readonly registry?: string | undefined;
}

function stateStatements({ partition }: Scope, { bucket, keyArn, tokenArn }: State, writes: boolean): Statement[] {
  const allow = (Sid: string, Action: readonly string[], Resource: readonly string[]): Statement => ({
    ...{ Sid, Effect: "Allow", Action, Resource },
  });
  const name = `arn:${partition}:s3:::${bucket}`;
  return [
    ...(bucket === undefined
      ? []
      : [
          allow("StateBucket", ["s3:ListBucket"], [name]),
          allow("State", ["s3:GetObject", ...(writes ? ["s3:DeleteObject", "s3:PutObject"] : [])], [`${name}/*`]),
        ]),
    ...(keyArn === undefined
      ? []
      : [
          // GenerateDataKey: S3 encrypts what it writes into a bucket with this key (S3 User Guide, "Using server-side encryption with AWS KMS keys").
          allow(
            "SecretsOfTheState",
            ["kms:Decrypt", ...(writes ? ["kms:Encrypt", "kms:GenerateDataKey"] : [])],
            [keyArn],
          ),
        ]),
    ...(tokenArn === undefined ? [] : [allow("PulumiCloud", ["secretsmanager:GetSecretValue"], [tokenArn])]),
  ];
}

/** Denies every action that isn't a read or among `more`: a role with it and the deployer's policies reads what the deployer manages. */
function onlyReads(policies: readonly PolicyDocument[], more: readonly string[]): DenyAllBut {
  const actions = policies.flatMap(({ Statement }) => Statement.flatMap(({ Action = [] }) => Action));
  const services = [...new Set(actions.map((action) => action.split(":")[0] ?? ""))].sort();
  const reads = services.flatMap((service) => ["Describe", "Get", "List"].map((verb) => `${service}:${verb}*`));
  return { Sid: "OnlyReads", Effect: "Deny", NotAction: [...reads, "kms:Decrypt", ...more], Resource: ["*"] };
}

/** What the role of a purpose may do: the policy in the role, and further ones by the last part of their names. */
export interface GitHubRights {
  readonly own: PolicyDocument;
  readonly further: Readonly<Record<string, PolicyDocument>>;
}

export function githubRights(purpose: Purpose, scope: GitHubRolesScope): GitHubRights {
  const { state, registry, ...deployerScope } = scope;
  const pulls = registry && jobs[purpose].ecr ? pullStatements([`${registry}/*`]) : [];
  switch (purpose) {
    case "apply":
    case "proof": {
      const more = purpose === "proof" ? { doctor: doctorPolicy(), inventory: awsProofPolicy() } : {};
      return {
        own: policy(...stateStatements(scope, state, true), ...pulls),
        further: { ...deployerPolicies(deployerScope), ...more },
      };
    }
    case "drift":
    case "preview": {
      const further = deployerPolicies(deployerScope);
      const own = stateStatements(scope, state, false);
      const denial = onlyReads([...Object.values(further), policy(...own)], pulls.length > 0 ? pullActions : []);
      return { own: policy(...own, ...pulls, denial), further };
    }
    case "node-releases":
      return { own: nodeReleasesPolicy(scope.partition), further: {} };
    case "rollouts": {
      const hub = arns(scope).cluster(fleetNames(scope.fleet).hubCluster);
      return {
        own: policy({ Sid: "Hub", Effect: "Allow", Action: ["eks:DescribeCluster"], Resource: [hub] }),
        further: {},
      };
    }
  }
}

/**
 * Permissions boundary of the roles. A job's policy can grow by a commit or by an administrator; with this boundary no job can change
 * the roles of jobs, their provider or this boundary, create users and access keys, or assume another role.
 */
export function githubBoundary(scope: Scope & { readonly fleet: string }): PolicyDocument {
  const name = arns(scope);
  const names = fleetNames(scope.fleet);
  return policy(
    { Effect: "Allow", Action: ["*"], Resource: ["*"] },
    {
      // Everything but reads: verbs of IAM are many, and AWS adds some.
      Sid: "RolesOfJobsAndUsers",
      Effect: "Deny",
      NotAction: ["iam:Get*", "iam:List*"],
      Resource: [
        ...[name.role(names.ciRole("*")), name.policy(names.ciRole("*")), name.oidcProvider(githubIssuer)],
        ...["user", "group", "mfa", "saml-provider"].map(
          (kind) => `arn:${scope.partition}:iam::${scope.accountId}:${kind}/*`,
        ),
      ],
    },
    { Sid: "OtherRoles", Effect: "Deny", Action: ["sts:AssumeRole", "sts:AssumeRoot"], Resource: ["*"] },
  );
}
