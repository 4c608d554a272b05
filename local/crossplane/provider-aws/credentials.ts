/** From a ProviderConfig to AWS clients. */
import { fromTemporaryCredentials, fromTokenFile } from "@aws-sdk/credential-providers";
import { type Aws, type AwsCredentials, connectAws, type ServiceClasses } from "../../aws/connection.ts";
import type { AssumeRole, Objects, ProviderConfig } from "./kube.ts";
import type { Managed } from "./managed.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Keys of the profile `default` in a credentials file. @throws when they are missing. */
export function parseCredentialsFile(text: string): {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
} {
  let section = "";
  const values: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const header = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line);
    const pair = /^\s*([\w]+)\s*=\s*(\S+)\s*$/.exec(line);
    if (header) section = header[1] as string;
    else if (pair && section === "default") values[pair[1] as string] = pair[2] as string;
  }
  const {
    aws_access_key_id: accessKeyId,
    aws_secret_access_key: secretAccessKey,
    aws_session_token: sessionToken,
  } = values;
  if (!accessKeyId || !secretAccessKey)
    throw new Error("the credentials file has no [default] profile with aws_access_key_id and aws_secret_access_key");
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

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

const assume = (master: AwsCredentials, role: AssumeRole, region: string): AwsCredentials => {
  if (!role.roleARN) throw new Error("an element of the ProviderConfig's assumeRoleChain has no roleARN");
  return fromTemporaryCredentials({
    masterCredentials: master,
    params: {
      RoleArn: role.roleARN,
      RoleSessionName: SESSION,
      ...(role.externalID && { ExternalId: role.externalID }),
      ...(role.tags && { Tags: role.tags.map(({ key, value }) => ({ Key: key, Value: value })) }),
      ...(role.transitiveTagKeys && { TransitiveTagKeys: [...role.transitiveTagKeys] }),
    },
    clientConfig: { region },
  }) as AwsCredentials;
};

/** Reads the secret of a ProviderConfig with static keys. */
async function keys({ spec }: ProviderConfig, objects: Objects): Promise<AwsCredentials> {
  const from = spec.credentials.secretRef;
  if (!from) throw new Error("the ProviderConfig says Secret, but has no spec.credentials.secretRef");
  const text = (await objects.secret(from.namespace, from.name))?.[from.key];
  if (text === undefined)
    throw new Error(
      `the ProviderConfig's Secret ${from.namespace}/${from.name} with the key ${from.key} does not exist`,
    );
  return parseCredentialsFile(text);
}

export interface Connections {
  /** Clients for a managed resource by its ProviderConfig, for the region of its specification. */
  connect(managed: Managed): Promise<Aws>;
}

/** Region of calls for global resources (IAM). */
const GLOBAL_REGION = "us-east-1";

/** Sessions are kept as long as the specification of their ProviderConfig stays the same. */
export function connections(classes: ServiceClasses, objects: Objects, environment: Environment): Connections {
  const sessions = new Map<string, Aws>();
  return {
    async connect(managed) {
      const { kind, name } = managed.spec.providerConfigRef;
      const config = await objects.providerConfig(kind, managed.metadata.namespace, name);
      if (!config) throw new Error(`cannot get the ${kind} ${name}: it does not exist`);
      const own = managed.spec.forProvider["region"] as string | undefined;
      const region = own ?? environment["AWS_REGION"] ?? GLOBAL_REGION;
      const { source } = config.spec.credentials;
      const session = (base: AwsCredentials): Aws => {
        const credentials = (config.spec.assumeRoleChain ?? []).reduce(
          (master, role) => assume(master, role, region),
          base,
        );
        return connectAws(classes, { region, credentials });
      };
      // Keys may be replaced in their Secret at any time.
      if (source === "Secret") return session(await keys(config, objects));
      if (source !== "IRSA") throw new Error(`the credentials source ${source} is not known here: use IRSA or Secret`);
      const key = JSON.stringify([region, config.spec]);
      const known = sessions.get(key) ?? session(irsa(environment, region));
      sessions.set(key, known);
      return known;
    },
  };
}
