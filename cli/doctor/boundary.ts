import { GetPolicyCommand, IAMClient } from "@aws-sdk/client-iam";
import { type AwsConfig, isMissing, untold } from "./aws.ts";
import { type Finding, ok, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";

const name = "permissionsBoundary";

/** Whether the policy exists that the roles of the hub get as their boundary: without it the first role of pulumi up fails. */
export async function checkBoundary({ settings, region }: Stack, config: AwsConfig): Promise<Finding[]> {
  const { permissionsBoundary: PolicyArn } = settings;
  if (!PolicyArn || region === undefined) return [];
  try {
    await new IAMClient({ ...config, region }).send(new GetPolicyCommand({ PolicyArn }));
    return [ok(name, `${PolicyArn} exists`)];
  } catch (error) {
    if (isMissing(error))
      return [
        wrong(
          name,
          `no policy ${PolicyArn}`,
          `pulumi config set ${name} <ARN of the company's policy>, or have its owners create it in this account`,
        ),
      ];
    return [untold(name, error, "iam:GetPolicy")];
  }
}
