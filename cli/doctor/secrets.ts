import { paginateListSecrets, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { Readable } from "../../infra/settings.ts";
import { fleetNames, repositories, sealingKeyOf } from "../../lib/names.ts";
import { all } from "../aws-calls.ts";
import { type AwsConfig, untold } from "./aws.ts";
import { type Finding, ok, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";

const name = "names of secrets";

/** Names in Secrets Manager that a stack creates. */
export function secretNames(settings: Readable): string[] {
  const { fleet, sealingKeys = [], notifications = [], gitReceiver = "none" } = settings;
  if (fleet === undefined) return [];
  const names = fleetNames(fleet);
  return [
    ...repositories.map(names.gitSecret),
    ...sealingKeys.map(({ scope, generation }) => names.sealingKeySecret(scope, generation)),
    ...notifications.map((notification) => names.notificationSecret(notification.name)),
    ...(gitReceiver === "none" ? [] : [names.hubReceiverSecret]),
  ];
}

function scheduled(secret: string, until: Date | undefined, { name: stack, region, settings }: Stack): Finding {
  const call = (verb: string) => `aws secretsmanager ${verb} --region ${region} --secret-id ${secret}`;
  const isSealingKey = sealingKeyOf(settings.fleet ?? "", secret) !== undefined;
  const keep = isSealingKey
    ? "  then raise its generation in sealingKeys, and name the old one in formerSealingKeys (docs/guides/troubleshooting.md)"
    : `  then import it: fleet adopt-hub --stack ${stack}   # prints what to do (docs/guides/troubleshooting.md)`;
  const lost = isSealingKey ? "nothing that was sealed with it is needed" : "nothing needs its value";
  return wrong(
    secret,
    `is scheduled for deletion${until === undefined ? "" : ` on ${until.toISOString().slice(0, 10)}`}: until then Secrets Manager rejects a new secret of this name`,
    [
      `to keep its value: ${call("restore-secret")}`,
      keep,
      `or, if ${lost}: ${call("delete-secret")} --force-delete-without-recovery`,
    ].join("\n"),
  );
}

/**
 * Whether names that the stack creates are free. A deleted secret keeps its name for 7 to 30 days (Secrets Manager API Reference, DeleteSecret),
 * and CreateSecret then ends as InvalidRequestException (redpanda-data/console#1835).
 */
export async function checkSecrets(stack: Stack, config: AwsConfig): Promise<Finding[]> {
  const { settings, region } = stack;
  const wanted = new Set(secretNames(settings));
  if (region === undefined || settings.fleet === undefined) return [];
  const client = new SecretsManagerClient({ ...config, region });
  const Filters = [{ Key: "name" as const, Values: [`${settings.fleet}/`] }];
  try {
    const found = await all(
      paginateListSecrets({ client }, { IncludePlannedDeletion: true, Filters }),
      ({ SecretList }) => SecretList,
    );
    const taken = found.filter(({ Name = "", DeletedDate }) => DeletedDate !== undefined && wanted.has(Name));
    if (taken.length === 0) return [ok(name, "none is scheduled for deletion")];
    return taken.map(({ Name = "", DeletedDate }) => scheduled(Name, DeletedDate, stack));
  } catch (error) {
    return [untold(name, error, "secretsmanager:ListSecrets")];
  }
}
