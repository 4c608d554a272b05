import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REGION } from "../../gateway/ministack.ts";
import { type GatewayCloud, startGatewayCloud } from "../support/gateway.ts";

let cloud: GatewayCloud;
let secrets: SecretsManager;
beforeAll(async () => {
  cloud = await startGatewayCloud();
  const { credentials } = cloud.deployer;
  secrets = new SecretsManager({
    endpoint: cloud.instance.awsEndpoint,
    region: REGION,
    ...(credentials ? { credentials } : {}),
  });
});
afterAll(() => cloud.remove());

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
