/** A fleet as it is asked for; what is left out is the default of the example or of Pulumi.yaml. */
export interface InitRequest {
  /** Folder for the Git repositories, absolute. */
  readonly folder: string;
  readonly stack: string;
  readonly fleet: string;
  /** Environment of the hub. */
  readonly environment: string;
  /** Environments of the spokes to come, which get a sealing key each. */
  readonly spokeEnvironments: readonly string[];
  readonly account: string;
  readonly region: string;
  readonly systemUrl: string;
  readonly workloadsUrl: string;
  /** Repository for the sample application; without it none is written. */
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
  readonly admins: readonly string[];
  readonly vpcCidr?: string | undefined;
  /** VPC that exists, in place of one that the stack makes; with it its subnets and the public addresses of its way out. */
  readonly vpcId?: string | undefined;
  readonly privateSubnetIds: readonly string[];
  readonly egressCidrs: readonly string[];
  readonly functionPackage?: string | undefined;
  readonly boundary?: string | undefined;
  /** Stack of the checkout whose file is followed. */
  readonly example: string;
}
