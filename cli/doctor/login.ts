import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { type AwsConfig, isNoLogin, logIn } from "./aws.ts";
import { type Finding, note, ok, unchecked, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";

function account({ accounts, file }: Stack, found: string): Finding {
  if (accounts.length === 0)
    return note("account", `is ${found}; the stack does not say in which accounts it may run`, allow(found, file));
  if (accounts.includes(found)) return ok("account", found);
  return wrong(
    "account",
    `is ${found}, and the stack may run in ${accounts.join(", ")} only (aws:allowedAccountIds)`,
    `log in to that account, or, where ${found} is meant: ${allow(found, file)}`,
  );
}

const allow = (id: string, file: string) => `set aws:allowedAccountIds: ["${id}"] in ${file}`;

function region(wanted: string | undefined, found: string | undefined): Finding[] {
  // A missing region is a problem of the configuration.
  if (wanted === undefined) return [];
  if (found === wanted) return [ok("region", found)];
  return [
    wrong(
      "region",
      found === undefined
        ? `the shell has none, the stack's is ${wanted}: aws commands would have no region`
        : `the shell's is ${found}, the stack's is ${wanted}: aws commands would use another region`,
      // AWS CLI 1 reads the second one only (aws/aws-cli#6658).
      `export AWS_REGION=${wanted} AWS_DEFAULT_REGION=${wanted}`,
    ),
  ];
}

/** Whose credentials these are, and whether they fit the stack; `known` if AWS accepts them, so that further checks make sense; `caller` is the ARN of that identity. */
export async function checkLogin(
  stack: Stack,
  config: AwsConfig,
): Promise<{ known: boolean; caller: string; findings: Finding[] }> {
  const shell = new STSClient(config);
  const found = await shell.config.region().catch(() => undefined);
  const regions = region(stack.region, found);
  const sts = new STSClient({ ...config, region: stack.region ?? found ?? "us-east-1" });
  try {
    const { Account = "", Arn = "" } = await sts.send(new GetCallerIdentityCommand({}));
    const identity = Arn.endsWith(":root")
      ? wrong(
          "identity",
          `${Arn}: the root user may do everything, and the logs don't show which person it was`,
          "use an IAM role",
        )
      : ok("identity", Arn);
    return { known: true, caller: Arn, findings: [identity, account(stack, Account), ...regions] };
  } catch (error) {
    const { name, message } = error as Error;
    const unknown = isNoLogin(error)
      ? wrong("identity", `AWS does not accept these credentials: ${name}: ${message}`, logIn)
      : unchecked(
          "identity",
          `AWS did not answer: ${name}: ${message}`,
          "check that AWS can be reached from here (proxy, AWS_ENDPOINT_URL)",
        );
    return { known: false, caller: "", findings: [unknown, ...regions] };
  }
}
