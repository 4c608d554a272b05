import { GetKeyPolicyCommand, KMSClient } from "@aws-sdk/client-kms";
import { keyRegion } from "../../lib/iam/volume-key.ts";
import { type AwsConfig, isMissing, untold } from "./aws.ts";
import { type Finding, ok, wrong } from "./finding.ts";
import { describeKey, keyProblem } from "./kms-key.ts";
import type { Stack } from "./stack.ts";

const guide = "docs/guides/aws-account.md#a-kms-key-of-your-company-for-logs";

interface Statement {
  readonly Effect?: string;
  readonly Principal?: string | { readonly Service?: string | readonly string[] };
}

/** Whether a statement of a key policy names the service. KMS enforces its condition when CloudWatch Logs associates the key. */
function admits(policy: string, service: string): boolean {
  const { Statement = [] } = JSON.parse(policy) as { Statement?: Statement | Statement[] };
  return [Statement].flat().some(({ Effect, Principal }) => {
    const services = typeof Principal === "object" ? [Principal.Service ?? []].flat() : [];
    return Effect === "Allow" && services.includes(service);
  });
}

/** Whether CloudWatch Logs can encrypt the hub's log groups with the stack's key. */
export async function checkLogKey({ settings, region }: Stack, config: AwsConfig): Promise<Finding[]> {
  const { logKey = "" } = settings;
  if (region === undefined) return [];
  if (logKey === "") return [ok("key of log groups", "a key that AWS owns")];
  const name = `key ${logKey}`;
  const service = `logs.${region}.amazonaws.com`;
  try {
    const problem = keyProblem(name, await describeKey(logKey, keyRegion(logKey), config), "CloudWatch Logs", "logKey");
    if (problem) return [problem];
    const kms = new KMSClient({ ...config, region: keyRegion(logKey) });
    const { Policy = "{}" } = await kms.send(new GetKeyPolicyCommand({ KeyId: logKey }));
    if (admits(Policy, service)) return [ok(name, `is enabled and symmetric, and its policy names ${service}`)];
    return [wrong(name, `has no statement for ${service} in its policy`, `add the statement of ${guide}`)];
  } catch (error) {
    if (isMissing(error))
      return [wrong(name, `does not exist in ${keyRegion(logKey)}`, `correct logKey, or create it (${guide})`)];
    return [untold(name, error, "kms:DescribeKey and kms:GetKeyPolicy, also in the policy of the key")];
  }
}
