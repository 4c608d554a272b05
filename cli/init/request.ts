/** The request for a new fleet; missing members have the default of the example or of Pulumi.yaml. */
export interface InitRequest {
  /** Folder for the Git repositories, absolute. */
  readonly folder: string;
  readonly stack: string;
  readonly fleet: string;
  /** Environment of the hub. */
  readonly environment: string;
  /** Environments of the future spokes, each of which gets a sealing key. */
  readonly spokeEnvironments: readonly string[];
  readonly account: string;
  readonly region: string;
  /** Whether the region is one that this version of the project need not know. */
  readonly newRegion?: boolean;
  readonly systemUrl: string;
  readonly workloadsUrl: string;
  /** URL of the sample application's repository, which is written only if this is given. */
  readonly sampleAppUrl?: string | undefined;
  readonly gitAuthentication?: string | undefined;
  readonly githubAppId?: string | undefined;
  readonly githubAppInstallationId?: string | undefined;
  readonly githubAppBaseUrl?: string | undefined;
  /** Certificates in PEM. */
  readonly caCertificate?: string | undefined;
  /** Lines of known_hosts. */
  readonly knownHosts?: string | undefined;
  readonly publicAccessCidrs: readonly string[];
  readonly privateAccessCidrs: readonly string[];
  /** ARNs of IAM roles and users with access to the hub. */
  readonly admins: readonly string[];
  readonly viewers: readonly string[];
  readonly vpcCidr?: string | undefined;
  /** An existing VPC to use instead of a new one, with its subnets and its public source addresses. */
  readonly vpcId?: string | undefined;
  readonly privateSubnetIds: readonly string[];
  readonly egressCidrs: readonly string[];
  readonly functionPackage?: string | undefined;
  /** Where this project's copy is, of which the pipelines of the repositories run this checkout's commit; default: its remote origin. */
  readonly projectUrl?: string | undefined;
  /** REPOSITORY=TEAM for CODEOWNERS. */
  readonly owners?: readonly string[] | undefined;
  readonly boundary?: string | undefined;
  readonly rolePath?: string | undefined;
  /** Stack of the checkout whose file is the example. */
  readonly example: string;
}
