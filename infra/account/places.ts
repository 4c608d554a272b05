import type { Scope } from "../../lib/iam/policy.ts";

/** The hub's account and region, which the ARN of the key of its secrets says. */
export function hubOf(secretsKeyArn: string) {
  const [, , , region = "", accountId = ""] = secretsKeyArn.split(":");
  return { accountId, region, keyArn: secretsKeyArn };
}

/** What is wrong with the account that the stack is deployed to. */
export function accountProblem({ accountId, partition }: Pick<Scope, "accountId" | "partition">, keyArn: string) {
  const [, ofKey] = keyArn.split(":");
  if (accountId === hubOf(keyArn).accountId)
    return `the credentials are of account ${accountId}, which is the hub's (secretsKeyArn): it has all of this from the hub's stack. Take those of the other account`;
  if (partition === ofKey) return undefined;
  return `the account ${accountId} is in partition ${partition} and the hub (secretsKeyArn) in ${ofKey}: IAM trusts nobody across partitions. Give it a fleet of its own`;
}
