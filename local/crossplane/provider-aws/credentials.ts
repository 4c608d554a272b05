/** From a ProviderConfig to AWS clients. */
import { fromHttp, fromTemporaryCredentials, fromTokenFile } from "@aws-sdk/credential-providers";
import { type Aws, type AwsCredentials, connectAws } from "../../aws/connection.ts";
import type { AssumeRole, Objects } from "./kube.ts";
import type { Managed } from "./managed.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Name of the sessions, as it stands in the ARNs of AWS's refusals. */
const SESSION = "provider-aws";

/** The pod's own role, by the token that EKS's pod identity webhook mounts. */
function irsa(environment: Environment, region: string): AwsCredentials {
  const { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: token } = environment;
  if (!role || !token)
    throw new Error(
      "the ProviderConfig says IRSA, but this pod has no AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE: its service account must carry the " +
        "annotation eks.amazonaws.com/role-arn before the pod starts",
    );
  return fromTokenFile({ clientConfig: { region }, roleSessionName: SESSION }) as AwsCredentials;
}

/**
 * The pod's own role, by the agent on its node. Upstream asks its SDK's default chain for this source (internal/clients/provider_config.go),
 * which a service account's annotation for IRSA comes before.
 */
function podIdentity(environment: Environment, region: string): AwsCredentials {
  if (environment["AWS_WEB_IDENTITY_TOKEN_FILE"]) return irsa(environment, region);
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: token } = environment;
  if (!uri || !token)
    throw new Error(
      "the ProviderConfig says PodIdentity, but this pod has no AWS_CONTAINER_CREDENTIALS_FULL_URI and AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: " +
        "its service account must have an EKS Pod Identity association before the pod starts",
    );
  return fromHttp({ awsContainerCredentialsFullUri: uri, awsContainerAuthorizationTokenFile: token }) as AwsCredentials;
}

const sources: Readonly<Record<string, (environment: Environment, region: string) => AwsCredentials>> = {
  IRSA: irsa,
  PodIdentity: podIdentity,
};

function assume(master: AwsCredentials, role: AssumeRole, region: string): AwsCredentials {
  const { roleARN, externalID, tags, transitiveTagKeys } = role;
  if (!roleARN) throw new Error("an element of the ProviderConfig's assumeRoleChain has no roleARN");
  return fromTemporaryCredentials({
    masterCredentials: master,
    params: {
      RoleArn: roleARN,
      RoleSessionName: SESSION,
      ...(externalID && { ExternalId: externalID }),
      ...(tags && { Tags: tags.map(({ key, value }) => ({ Key: key, Value: value })) }),
      ...(transitiveTagKeys && { TransitiveTagKeys: [...transitiveTagKeys] }),
    },
    clientConfig: { region },
  }) as AwsCredentials;
}

export interface Connections {
  /** Clients for a managed resource by its ProviderConfig, for the region of its specification. */
  connect(managed: Managed): Promise<Aws>;
}

/** Region of calls for global resources (IAM). */
const GLOBAL_REGION = "us-east-1";

/**
 * Attempts per call, throttling included: the AWS SDK for Go's default, since upstream gives Terraform's connection no MaxRetries
 * (provider-upjet-aws 2.6.0, internal/clients/aws.go; aws-sdk-go-base 2.0.0-beta.45, aws_config.go).
 */
const MAX_ATTEMPTS = 3;

/** Sessions are kept as long as the specification of their ProviderConfig stays the same. */
export function connections(objects: Objects, environment: Environment): Connections {
  const sessions = new Map<string, Aws>();
  return {
    async connect(managed) {
      const { kind, name } = managed.spec.providerConfigRef;
      const config = await objects.providerConfig(kind, managed.metadata.namespace, name);
      if (!config) throw new Error(`cannot get the ${kind} ${name}: it does not exist`);
      const asked = managed.spec.forProvider["region"] as string | undefined;
      const region = asked ?? environment["AWS_REGION"] ?? GLOBAL_REGION;
      const { credentials, assumeRoleChain = [] } = config.spec;
      const own = sources[credentials.source];
      if (own === undefined)
        throw new Error(
          `the source ${credentials.source} is not implemented here: use ${Object.keys(sources).join(" or ")}`,
        );
      const key = JSON.stringify([region, config.spec]);
      const known = sessions.get(key);
      if (known) return known;
      const identity = assumeRoleChain.reduce((master, role) => assume(master, role, region), own(environment, region));
      const session = connectAws({ region, credentials: identity, maxAttempts: MAX_ATTEMPTS });
      sessions.set(key, session);
      return session;
    },
  };
}
