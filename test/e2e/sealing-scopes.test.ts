import {
  CreateRoleCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  PutRolePolicyCommand,
} from "@aws-sdk/client-iam";
import { CreateSecretCommand, DeleteSecretCommand, GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBridgeData } from "../../lib/bridge.ts";
import { serviceAccountTrust } from "../../lib/iam/trust.ts";
import { spoke } from "../functions/spoke/support/fixtures.ts";
import { settled } from "../functions/spoke/support/world.ts";
import { outcome } from "../support/process.ts";
import { account, outputs } from "./support/fleet.ts";
import { actingAs } from "./support/identity.ts";

const { bridgeData: bridge } = await outputs();

describe("External Secrets of a spoke", () => {
  const subject = { namespace: "default", name: "default" };
  const made: string[] = [];
  const neighbour = `${bridge.fleet}/sealing-keys/cluster-amber-2/1`;

  /** AWS clients with the role that the function composes for a Spoke, but for a service account of the hub. */
  async function reader(name: string, sealing: "cluster" | "environment") {
    const world = settled(spoke({ sealing, environment: "prod" }, name), { hub: readBridgeData(bridge) });
    const { permissionsBoundary, tags } = world.forProvider("role-external-secrets") as {
      permissionsBoundary: string;
      tags: Record<string, string>;
    };
    const { annotations } = world.object("role-external-secrets").metadata;
    const RoleName = String(annotations?.["crossplane.io/external-name"]);
    const { oidc_provider: issuer, oidc_provider_arn: providerArn } = bridge;
    const trust = serviceAccountTrust({ issuer, providerArn }, { ...subject, serviceAccount: subject.name });
    const { Role } = await account.iam.send(
      new CreateRoleCommand({
        RoleName,
        AssumeRolePolicyDocument: JSON.stringify(trust),
        PermissionsBoundary: permissionsBoundary,
        Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
      }),
    );
    made.push(RoleName);
    const PolicyDocument = String(world.forProvider("policy-external-secrets")["policy"]);
    await account.iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: "composed", PolicyDocument }));
    return actingAs(Role?.Arn ?? "", subject);
  }

  beforeAll(async () => {
    await account.secretsmanager.send(new CreateSecretCommand({ Name: neighbour, SecretString: "{}" }));
  });
  afterAll(async () => {
    await account.secretsmanager.send(
      new DeleteSecretCommand({ SecretId: neighbour, ForceDeleteWithoutRecovery: true }),
    );
    for (const RoleName of made) {
      await account.iam.send(new DeleteRolePolicyCommand({ RoleName, PolicyName: "composed" }));
      await account.iam.send(new DeleteRoleCommand({ RoleName }));
    }
  });

  test.each([
    ["amber", "cluster", "cluster-amber", ["prod", "dev", "local", "cluster-amber-2"]],
    ["onyx", "environment", "prod", ["cluster-amber", "dev", "local", "cluster-amber-2"]],
  ] as const)("%s with sealing: %s reads the keys of scope %s, and of no other", async (name, sealing, own, others) => {
    const { secretsmanager } = await reader(name, sealing);
    const read = (client: typeof secretsmanager, scope: string) =>
      outcome(client.send(new GetSecretValueCommand({ SecretId: `${bridge.fleet}/sealing-keys/${scope}/1` })));
    expect(await read(secretsmanager, own)).toBe("allowed");
    for (const scope of others) {
      // The twin of the refusal: it is there to be read.
      expect(await read(account.secretsmanager, scope), scope).toBe("allowed");
      expect(await read(secretsmanager, scope), scope).toBe("AccessDeniedException");
    }
  });
});
