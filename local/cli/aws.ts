import { type AwsClients, createAws } from "../aws/clients.ts";
import { ensureGatewayKey, rootCredentials } from "../gateway/key.ts";
import { REGION } from "../gateway/ministack.ts";
import { type Instance, readText } from "../instance/index.ts";

/** The keys of a profile in the text of an AWS credentials file. */
export function profileOf(text: string, profile: string): { accessKeyId: string; secretAccessKey: string } {
  const section = text.split(/^\[/m).find((part) => part.startsWith(`${profile}]`)) ?? "";
  const value = (name: string) => new RegExp(`^${name}\\s*=\\s*(\\S+)\\s*$`, "m").exec(section)?.[1];
  const accessKeyId = value("aws_access_key_id");
  const secretAccessKey = value("aws_secret_access_key");
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new Error(`the AWS credentials file has no complete profile [${profile}]: remove the file and run npm start`);
  return { accessKeyId, secretAccessKey };
}

/** AWS clients of the instance as an account's root, by default the hub's, for what no identity of the fleet is allowed. */
export async function rootAws(instance: Instance, account?: string): Promise<AwsClients> {
  const credentials = rootCredentials(await ensureGatewayKey(instance), account);
  return createAws({ region: REGION, endpoint: instance.awsEndpoint, credentials });
}

/** The keys of the instance's deployer. Rejects when the instance has no AWS API yet. */
export async function deployerCredentials(instance: Instance): Promise<ReturnType<typeof profileOf>> {
  const text = await readText(instance.paths.awsCredentials);
  if (text === undefined) throw new Error(`${instance.paths.awsCredentials} does not exist: npm start makes it`);
  return profileOf(text, "default");
}
