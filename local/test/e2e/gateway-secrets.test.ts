import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import { describe, expect, test } from "vitest";
import { configOf, useGatewayCloud } from "../support/gateway.ts";

let secrets: SecretsManager;
useGatewayCloud(async () => {
  secrets = new SecretsManager(configOf());
});

const Name = "fleet/git/gitops-system";
const create = () => secrets.createSecret({ Name, SecretString: "x" });
const listed = async (IncludePlannedDeletion: boolean) =>
  (await secrets.listSecrets({ IncludePlannedDeletion })).SecretList ?? [];

describe("a secret that is scheduled for deletion", () => {
  test("keeps its name, is listed on request, and can be restored", async () => {
    await create();
    await secrets.deleteSecret({ SecretId: Name, RecoveryWindowInDays: 7 });
    await expect(create()).rejects.toMatchObject({
      name: "InvalidRequestException",
      message: "You can't create this secret because a secret with this name is already scheduled for deletion.",
    });
    expect(await listed(false)).toEqual([]);
    expect(await listed(true)).toMatchObject([{ Name, DeletedDate: expect.any(Date) }]);
    await secrets.restoreSecret({ SecretId: Name });
    await expect(create()).rejects.toMatchObject({ name: "ResourceExistsException" });
    expect(await listed(false)).toMatchObject([{ Name }]);
  });

  test("frees its name when it is deleted without recovery", async () => {
    await secrets.deleteSecret({ SecretId: Name, ForceDeleteWithoutRecovery: true });
    await expect(create()).resolves.toMatchObject({ Name });
  });
});
