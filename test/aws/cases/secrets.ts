import {
  CreateSecretCommand,
  DeleteSecretCommand,
  paginateListSecrets,
  RestoreSecretCommand,
} from "@aws-sdk/client-secrets-manager";
import { expect } from "vitest";
import type { Tags } from "../../../lib/labels.ts";
import type { Account } from "../../support/inventory.ts";
import { eventually } from "../../support/process.ts";

async function exists({ secretsmanager: client }: Account, name: string): Promise<boolean> {
  const query = { IncludePlannedDeletion: true, Filters: [{ Key: "name" as const, Values: [name] }] };
  for await (const { SecretList = [] } of paginateListSecrets({ client }, query))
    if (SecretList.some(({ Name }) => Name === name)) return true;
  return false;
}

/** Runs `check` while a name is scheduled for deletion, and frees the name. */
export async function whileScheduled(
  account: Account,
  { name, tags, seconds }: { readonly name: string; readonly tags: Tags; readonly seconds: number },
  check: () => Promise<void>,
): Promise<void> {
  const { secretsmanager } = account;
  const request = {
    Name: name,
    SecretString: "of the proof",
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  };
  await secretsmanager.send(new CreateSecretCommand(request));
  try {
    await secretsmanager.send(new DeleteSecretCommand({ SecretId: name, RecoveryWindowInDays: 7 }));
    await expect(secretsmanager.send(new CreateSecretCommand(request))).rejects.toMatchObject({
      name: "InvalidRequestException",
      message: expect.stringContaining("scheduled for deletion"),
    });
    await check();
    await secretsmanager.send(new RestoreSecretCommand({ SecretId: name }));
  } finally {
    await secretsmanager.send(new DeleteSecretCommand({ SecretId: name, ForceDeleteWithoutRecovery: true }));
    // AWS deletes it in the background, and rejects the name until then.
    await eventually(seconds, async () => expect(await exists(account, name)).toBe(false), 5000);
  }
}
