import type { Stack } from "../../cli/doctor/stack.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import type { Environment } from "./environment.ts";

type Asked = Pick<Environment, "account" | "region" | "fleet" | "environment">;

/** What keeps a stack from being made and removed again without a trace, and from being the one that was meant. */
export function stackProblems({ file, settings, region, accounts }: Stack, asked: Asked): Problem[] {
  const scopes = (settings.sealingKeys ?? []).filter(({ active }) => active).map(({ scope }) => scope);
  const rules: readonly (readonly [key: string, got: unknown, holds: boolean, allowed: string, why: string])[] = [
    ["fleet", settings.fleet, settings.fleet === asked.fleet, asked.fleet, "is not FLEET_AWS_FLEET"],
    ["aws:region", region, region === asked.region, asked.region, "is not AWS_REGION"],
    [
      "aws:allowedAccountIds",
      accounts,
      accounts.includes(asked.account),
      `["${asked.account}"]`,
      "does not keep Pulumi to FLEET_AWS_CONFIRM_ACCOUNT",
    ],
    ["protect", settings.protect, settings.protect === false, "false", "keeps pulumi destroy from removing the hub"],
    [
      "deletionProtection",
      settings.deletionProtection,
      settings.deletionProtection === false,
      "false",
      "keeps EKS from deleting the hub",
    ],
    [
      "secretRecoveryWindowDays",
      settings.secretRecoveryWindowDays,
      settings.secretRecoveryWindowDays === 0,
      "0",
      "keeps the names of the secrets for days, so something is left",
    ],
    [
      "gitAuthentication",
      settings.gitAuthentication,
      settings.gitAuthentication === "deploy-key",
      "deploy-key",
      "is not what this registers",
    ],
    [
      "sealingKeys",
      scopes,
      scopes.includes(asked.environment),
      `an active key of scope ${asked.environment}`,
      "has no key for the environment of the spoke, FLEET_AWS_ENVIRONMENT",
    ],
  ];
  return rules
    .filter(([, , holds]) => !holds)
    .map(([key, got, , allowed, what]) => ({
      key,
      what,
      got: shown(got),
      allowed,
      remedy: `correct ${file}, or the variable`,
    }));
}
