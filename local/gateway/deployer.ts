import { IAM } from "@aws-sdk/client-iam";
import { STS } from "@aws-sdk/client-sts";
import { type Instance, readText, writeAtomic } from "../instance/index.ts";
import { ensureGatewayKey, rootCredentials } from "./key.ts";
import { ACCOUNT, ministackEndpoint, REGION } from "./ministack.ts";

/** The IAM user that runs `pulumi up`. */
const DEPLOYER = "deployer";

const ADMINISTRATOR = { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: "*", Resource: "*" }] };

type Cloud = Pick<Instance, "dir" | "loopbackAddress" | "awsEndpoint" | "paths">;

/**
 * Makes the IAM user `deployer` with exactly these policies (inline, by name), and its access key in the instance's AWS
 * files (0600). Idempotent: a key that still works is kept. Needs ministack, not the gateway.
 */
export async function ensureDeployer(
  instance: Cloud,
  policies: Readonly<Record<string, object>> = { administrator: ADMINISTRATOR },
): Promise<void> {
  await writeAtomic(
    instance.paths.awsConfig,
    `[default]\nregion = ${REGION}\noutput = json\nendpoint_url = ${instance.awsEndpoint}\n`,
  );
  await ensureUser(instance, ACCOUNT, instance.paths.awsCredentials, policies);
}

/**
 * Makes an account besides the hub's: an IAM user `deployer` in it, with these policies, and its access key in a credentials file of its own.
 * Idempotent, as `ensureDeployer`. Gives the file.
 * @throws RangeError for an account ID that AWS would not have, or that is the hub's.
 */
export async function ensureAccount(
  instance: Cloud,
  account: string,
  policies: Readonly<Record<string, object>> = { administrator: ADMINISTRATOR },
): Promise<string> {
  if (!/^\d{12}$/.test(account) || account === ACCOUNT)
    throw new RangeError(`account: got ${account}, allowed are 12 digits, but for ${ACCOUNT}, which is the hub's`);
  const file = `${instance.paths.awsCredentials}.${account}`;
  await ensureUser(instance, account, file, policies);
  return file;
}

async function ensureUser(
  instance: Cloud,
  account: string,
  file: string,
  policies: Readonly<Record<string, object>>,
): Promise<void> {
  const endpoint = ministackEndpoint(instance);
  const credentials = rootCredentials(await ensureGatewayKey(instance), account);
  const iam = new IAM({ endpoint, region: REGION, credentials });
  await unlessExists(() => iam.createUser({ UserName: DEPLOYER }));
  await putPolicies(iam, policies);
  if (await keyWorks(file, account, endpoint)) return;
  const { AccessKeyMetadata = [] } = await iam.listAccessKeys({ UserName: DEPLOYER });
  // Keys whose secret nobody has any more: IAM allows two.
  for (const { AccessKeyId } of AccessKeyMetadata) await iam.deleteAccessKey({ UserName: DEPLOYER, AccessKeyId });
  const { AccessKey } = await iam.createAccessKey({ UserName: DEPLOYER });
  await writeAtomic(
    file,
    `[default]\naws_access_key_id = ${AccessKey?.AccessKeyId ?? ""}\naws_secret_access_key = ${AccessKey?.SecretAccessKey ?? ""}\n`,
  );
}

async function putPolicies(iam: IAM, policies: Readonly<Record<string, object>>): Promise<void> {
  const { PolicyNames = [] } = await iam.listUserPolicies({ UserName: DEPLOYER });
  for (const PolicyName of PolicyNames.filter((name) => !Object.hasOwn(policies, name)))
    await iam.deleteUserPolicy({ UserName: DEPLOYER, PolicyName });
  for (const [PolicyName, document] of Object.entries(policies))
    await iam.putUserPolicy({ UserName: DEPLOYER, PolicyName, PolicyDocument: JSON.stringify(document) });
}

async function keyWorks(file: string, account: string, endpoint: string): Promise<boolean> {
  const text = (await readText(file)) ?? "";
  const value = (name: string): string => new RegExp(`^${name} = (\\S+)$`, "m").exec(text)?.[1] ?? "";
  const credentials = { accessKeyId: value("aws_access_key_id"), secretAccessKey: value("aws_secret_access_key") };
  if (credentials.accessKeyId === "" || credentials.secretAccessKey === "") return false;
  try {
    const { Arn } = await new STS({ endpoint, region: REGION, credentials }).getCallerIdentity({});
    return Arn?.endsWith(`::${account}:user/${DEPLOYER}`) ?? false;
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
