import {
  CreateAccessKeyCommand,
  CreateUserCommand,
  DeleteAccessKeyCommand,
  DeleteUserPolicyCommand,
  IAMClient,
  ListAccessKeysCommand,
  ListUserPoliciesCommand,
  PutUserPolicyCommand,
} from "@aws-sdk/client-iam";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { type Instance, readText, writeAtomic } from "../instance/index.ts";
import { ensureGatewayKey } from "./key.ts";
import { ministackEndpoint, REGION } from "./ministack.ts";

/** The IAM user that runs `pulumi up`. */
const DEPLOYER = "deployer";

const ADMINISTRATOR = { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: "*", Resource: "*" }] };

/**
 * Makes the IAM user `deployer` with exactly these policies (inline, by name), and its access key in the instance's AWS
 * files (0600). Idempotent: a key that still works is kept. Needs ministack, not the gateway.
 */
export async function ensureDeployer(
  instance: Pick<Instance, "dir" | "loopbackAddress" | "awsEndpoint" | "paths">,
  policies: Readonly<Record<string, object>> = { administrator: ADMINISTRATOR },
): Promise<void> {
  const { rootAccessKeyId } = await ensureGatewayKey(instance);
  const endpoint = ministackEndpoint(instance);
  // ministack checks no signature of its root: only the key id counts.
  const root = { accessKeyId: rootAccessKeyId, secretAccessKey: "unused" };
  const iam = new IAMClient({ endpoint, region: REGION, credentials: root });
  await unlessExists(() => iam.send(new CreateUserCommand({ UserName: DEPLOYER })));
  await putPolicies(iam, policies);
  await writeAtomic(
    instance.paths.awsConfig,
    `[default]\nregion = ${REGION}\noutput = json\nendpoint_url = ${instance.awsEndpoint}\n`,
  );
  if (await keyWorks(instance, endpoint)) return;
  const { AccessKeyMetadata = [] } = await iam.send(new ListAccessKeysCommand({ UserName: DEPLOYER }));
  // Keys whose secret nobody has any more: IAM allows two.
  for (const { AccessKeyId } of AccessKeyMetadata)
    await iam.send(new DeleteAccessKeyCommand({ UserName: DEPLOYER, AccessKeyId }));
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName: DEPLOYER }));
  await writeAtomic(
    instance.paths.awsCredentials,
    `[default]\naws_access_key_id = ${AccessKey?.AccessKeyId ?? ""}\naws_secret_access_key = ${AccessKey?.SecretAccessKey ?? ""}\n`,
  );
}

async function putPolicies(iam: IAMClient, policies: Readonly<Record<string, object>>): Promise<void> {
  const { PolicyNames = [] } = await iam.send(new ListUserPoliciesCommand({ UserName: DEPLOYER }));
  for (const PolicyName of PolicyNames.filter((name) => !Object.hasOwn(policies, name)))
    await iam.send(new DeleteUserPolicyCommand({ UserName: DEPLOYER, PolicyName }));
  for (const [PolicyName, document] of Object.entries(policies))
    await iam.send(
      new PutUserPolicyCommand({ UserName: DEPLOYER, PolicyName, PolicyDocument: JSON.stringify(document) }),
    );
}

async function keyWorks(instance: Pick<Instance, "paths">, endpoint: string): Promise<boolean> {
  const text = (await readText(instance.paths.awsCredentials)) ?? "";
  const value = (name: string): string => new RegExp(`^${name} = (\\S+)$`, "m").exec(text)?.[1] ?? "";
  const credentials = { accessKeyId: value("aws_access_key_id"), secretAccessKey: value("aws_secret_access_key") };
  if (credentials.accessKeyId === "" || credentials.secretAccessKey === "") return false;
  try {
    const { Arn } = await new STSClient({ endpoint, region: REGION, credentials }).send(
      new GetCallerIdentityCommand({}),
    );
    return Arn?.endsWith(`:user/${DEPLOYER}`) ?? false;
  } catch (error) {
    if (["InvalidClientTokenId", "SignatureDoesNotMatch"].includes((error as Error).name)) return false;
    throw error;
  }
}

async function unlessExists(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error as Error).name.startsWith("EntityAlreadyExists")) throw error;
  }
}
