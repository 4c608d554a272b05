import type { Puller } from "../names.ts";
import { ecrPlace, isEcr } from "../registries.ts";
import { type PolicyDocument, partitionOf, policy, type Statement } from "./policy.ts";

/** Where a cluster's charts and Crossplane packages are: registries with everything below them, and single repositories. */
export interface PullSources {
  readonly chartsRegistry: string;
  /** Registry of the provider packages. */
  readonly packagesRegistry: string;
  /** Repository of the composition function, which only the hub pulls. */
  readonly functionPackage?: string;
}

/** ARN of a repository in Amazon ECR, which may end with a wildcard. @throws RangeError for another registry */
function repositoryArn(repository: string): string {
  const place = ecrPlace(repository);
  if (place === undefined) throw new RangeError(`${JSON.stringify(repository)} is not in Amazon ECR`);
  const { account, region, path } = place;
  return `arn:${partitionOf(region)}:ecr:${region}:${account}:repository/${path}`;
}

const logIn = "ecr:GetAuthorizationToken";
const pull = [
  "ecr:BatchCheckLayerAvailability",
  "ecr:BatchGetImage",
  "ecr:BatchImportUpstreamImage",
  "ecr:GetDownloadUrlForLayer",
];
/** Everything that {@link pullStatements} allow. */
export const pullActions: readonly string[] = [logIn, ...pull];

/**
 * What a puller reads from ECR, and nothing else: the actions of AmazonEC2ContainerRegistryPullOnly (AWS Managed Policy Reference) on the given
 * repositories. `BatchImportUpstreamImage` fills a pull-through cache. GetAuthorizationToken has no resource (Service Authorization Reference).
 * Nothing lists tags: source-controller 1.9.5 resolves exact versions of charts without (internal/helm/repository/oci_chart_repository.go), and packages
 * have exact versions too.
 */
export const pullStatements = (repositories: readonly string[]): Statement[] => [
  { Sid: "LogIn", Effect: "Allow", Action: [logIn], Resource: ["*"] },
  { Sid: "Pull", Effect: "Allow", Action: pull, Resource: repositories.map(repositoryArn) },
];

/** The pullers that need a role on a cluster with these sources, with the policies of their roles. */
export function pullerPolicies({
  chartsRegistry,
  packagesRegistry,
  functionPackage = "",
}: PullSources): readonly (readonly [Puller, PolicyDocument])[] {
  const pulled = {
    source_controller: [`${chartsRegistry}/*`],
    crossplane_packages: [`${packagesRegistry}/*`, functionPackage],
  } satisfies Record<Puller, readonly string[]>;
  return (Object.keys(pulled) as Puller[]).flatMap((puller) => {
    const repositories = pulled[puller].filter(isEcr);
    return repositories.length === 0 ? [] : [[puller, policy(...pullStatements(repositories))] as const];
  });
}
