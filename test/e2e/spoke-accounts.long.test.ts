import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DescribeClusterCommand } from "@aws-sdk/client-eks";
import { ListRolesCommand, PutUserPolicyCommand } from "@aws-sdk/client-iam";
import { DecryptCommand } from "@aws-sdk/client-kms";
import { DescribeSecretCommand, GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { AssumeRoleCommand } from "@aws-sdk/client-sts";
import { createAws } from "@eks-gitops-fleet/local/aws";
import { profileOf, rootAws } from "@eks-gitops-fleet/local/cli";
import { ACCOUNT, REGION } from "@eks-gitops-fleet/local/gateway";
import type { Project } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fleetNames } from "../../lib/names.ts";
import { spokeIdentities } from "../../lib/spoke.ts";
import { accountStack } from "../envtest/support/account-stack.ts";
import { expectOrders, expectRole, greetingAt, orders, ordersOf } from "../support/app.ts";
import { inventoryOf } from "../support/inventory.ts";
import { spokeScope } from "../support/inventory-scope.ts";
import { outcome, succeeds } from "../support/process.ts";
import { appFolder, fetchNow, info, sharedApp } from "./support/apps.ts";
import { account, eventually, execute, instance, outputs, scratch, upWith } from "./support/fleet.ts";
import { actingAs } from "./support/identity.ts";
import { spokeInventory } from "./support/inventory.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import {
  addSpoke,
  BOOTSTRAP_SECONDS,
  clusterOf,
  clusterOn,
  condition,
  fleet,
  getOnSpoke,
  on,
  system,
  untilGone,
  untilReady,
  workloads,
} from "./support/spokes.ts";

/** An account besides the hub's; docs/guides/aws-account.md#accounts-and-regions, step by step. */
const OTHER = "222222222222";
const SPOKE = "abroad";
const CONFIG = "abroad";
const folder = join("spokes", "fleet", SPOKE);
const place = { fleet: "fleet", spoke: SPOKE, environment: "dev", accountId: OTHER, region: REGION, partition: "aws" };
const roleArn = (name: string, of = OTHER) => `arn:aws:iam::${of}:role/${name}`;
const crossplaneRole = roleArn("fleet-hub-crossplane");

const abroad = await rootAws(instance, OTHER);
let repository: Checkout;
let secretsKeyArn: string;
let stack: Project | undefined;
/** The IAM user with every right in the other account. */
let admin: ReturnType<typeof createAws>;

/** Gives the deployer of the hub what the command prints for it. */
async function deployerPolicies(...more: string[]): Promise<void> {
  const out = join(scratch, "deployer-policies");
  const place = ["--fleet", "fleet", "--account", ACCOUNT, "--region", REGION];
  await succeeds(fleet(["deployer-policy", ...place, ...more, "--out", out]));
  // The one that differs; the instance's user has it inline.
  const PolicyDocument = await readFile(join(out, "fleet-deployer-secrets.json"), "utf8");
  await account.iam.send(
    new PutUserPolicyCommand({ UserName: "deployer", PolicyName: "deployer-secrets", PolicyDocument }),
  );
}

/** ARN of the sealing key of a scope in the hub's account. */
async function sealingKey(scope: string): Promise<string> {
  const SecretId = fleetNames("fleet").sealingKeySecret(scope, "1");
  return (await account.secretsmanager.send(new DescribeSecretCommand({ SecretId }))).ARN ?? "";
}

beforeAll(async () => {
  const stdout = await succeeds(execute(join(instance.paths.bin, "account"), [OTHER]));
  const [, file = ""] = /AWS_SHARED_CREDENTIALS_FILE='(.+)'/.exec(stdout) ?? [];
  const credentials = profileOf(await readFile(file, "utf8"), "default");
  admin = createAws({ region: REGION, endpoint: instance.awsEndpoint, credentials });
  secretsKeyArn = (await outputs()).bridgeData.secrets_kms_key_arn;
  repository = await system();
});
afterAll(async () => {
  if (existsSync(join(repository.folder, folder))) {
    await repository.remove(folder);
    await repository.push(`Remove spoke ${SPOKE}`);
    await untilGone(SPOKE);
  }
  await repository.restore();
  await upWith((config) => config);
  await deployerPolicies();
  await stack?.run("destroy");
  await stack?.remove();
});

describe("a spoke in another account", { timeout: 1_800_000 }, () => {
  test("is refused, and nothing is made, while the stack does not name its account", async () => {
    await repository.write(`platform/crossplane/configs/${CONFIG}.yaml`, {
      apiVersion: "aws.m.upbound.io/v1beta1",
      kind: "ClusterProviderConfig",
      metadata: { name: CONFIG },
      spec: { credentials: { source: "$" + "{aws_identity_source}" }, assumeRoleChain: [{ roleARN: crossplaneRole }] },
    });
    await repository.edit("platform/crossplane/configs/kustomization.yaml", (all: Editable) => ({
      ...all,
      resources: [...all.resources, `${CONFIG}.yaml`],
    }));
    await repository.edit("platform/policies/parameters.yaml", (parameters: Editable) => {
      parameters.data.spoke_accounts += `${OTHER}\n`;
      return parameters;
    });
    await repository.push(`Let spokes be in account ${OTHER}`);
    await addSpoke(repository, SPOKE, "dev", (spoke) => {
      spoke.spec.account = { id: OTHER, providerConfigRef: { kind: "ClusterProviderConfig", name: CONFIG } };
      return spoke;
    });
    await repository.push(`Add spoke ${SPOKE}`);
    await eventually(BOOTSTRAP_SECONDS, async () =>
      expect(await condition(SPOKE, "SpecAccepted")).toMatchObject({ status: "False", reason: "AccountNotAllowed" }),
    );
    expect(await inventoryOf(abroad, spokeScope("fleet", SPOKE))).toEqual([]);
  });

  test("waits for the account's stack once the hub's names the account, and comes up when that is there", async () => {
    await deployerPolicies("--secrets-key", secretsKeyArn);
    await upWith((config) => ({ ...config, accounts: [{ id: OTHER, scopes: ["dev"] }] }));
    await eventually(BOOTSTRAP_SECONDS, async () =>
      expect(await condition(SPOKE, "SpecAccepted")).toMatchObject({ status: "True" }),
    );
    expect(await inventoryOf(abroad, spokeScope("fleet", SPOKE))).toEqual([]);
    const { accessKeyId, secretAccessKey } = await admin.iam.config.credentials();
    const keys = { accessKeyId, secretAccessKey };
    stack = await accountStack(instance.awsEndpoint, keys, { account: OTHER, secretsKeyArn });
    const made = await stack.run("up");
    expect(made.code, made.text).toBe(0);
    expect((await stack.outputs())["crossplaneRoleArn"]).toBe(crossplaneRole);
    await untilReady(SPOKE, 1200);
  });

  test("has everything in its account, and nothing in the hub's", async () => {
    const { cluster } = await abroad.eks.send(new DescribeClusterCommand({ name: clusterOf(SPOKE) }));
    expect(cluster).toMatchObject({
      status: "ACTIVE",
      arn: `arn:aws:eks:${REGION}:${OTHER}:cluster/${clusterOf(SPOKE)}`,
    });
    expect(await outcome(account.eks.send(new DescribeClusterCommand({ name: clusterOf(SPOKE) })))).toBe(
      "ResourceNotFoundException",
    );
    expect((await inventoryOf(abroad, spokeScope("fleet", SPOKE))).length).toBeGreaterThan(10);
    expect(await spokeInventory("fleet", SPOKE)).toEqual([]);
  });

  test("reads its sealing keys in the hub's account, by their whole ARNs", async () => {
    const arn = await sealingKey("dev");
    const { items } = await getOnSpoke(SPOKE, ["externalsecrets", "--all-namespaces"]);
    const keys = items.flatMap(({ spec, status }: Editable) =>
      (spec.dataFrom ?? spec.data ?? []).map((from: Editable) => ({
        key: (from.extract ?? from.remoteRef)?.key,
        ready: status.conditions?.find(({ type }: Editable) => type === "Ready")?.status,
      })),
    );
    expect(keys).toContainEqual({ key: arn, ready: "True" });
  });

  test("runs its application, which has its table, its queue and its role in the spoke's account", async () => {
    await sharedApp(SPOKE, "dev");
    expect((await info(SPOKE)).message).toBe(greetingAt(place));
    await expectOrders(abroad, clusterOn(SPOKE), place);
    await expectRole(abroad, clusterOn(SPOKE), place);
    expect(await ordersOf(account, place)).toEqual(orders.gone);
  });

  test("keeps the accounts apart: neither has more of the other's than its policies say", async () => {
    const [dev, prod] = [await sealingKey("dev"), await sealingKey("prod")];
    const read = ({ secretsmanager }: Pick<typeof admin, "secretsmanager">, SecretId: string) =>
      outcome(secretsmanager.send(new GetSecretValueCommand({ SecretId })));
    const { namespace, serviceAccount: name } = spokeIdentities.external_secrets;
    const reader = await actingAs(roleArn(`${clusterOf(SPOKE)}-external-secrets`), { namespace, name }, on(SPOKE));
    expect(await read(reader, dev)).toBe("allowed");
    // Its scope is dev; its own policy, the secret's and the key's say so, each alone.
    expect(await read(reader, prod)).toBe("AccessDeniedException");
    // Whoever has every right there has none here, root included.
    expect(await read(admin, dev)).toBe("AccessDeniedException");
    expect(await read(abroad, dev)).toBe("AccessDeniedException");
    // The key opens secrets through Secrets Manager only; what it shall decrypt does not matter before that is decided.
    const decrypt = new DecryptCommand({ KeyId: secretsKeyArn, CiphertextBlob: Buffer.from("any") });
    expect(await outcome(reader.kms.send(decrypt))).toBe("AccessDeniedException");
    const assume = (by: Pick<typeof admin, "sts">) =>
      outcome(by.sts.send(new AssumeRoleCommand({ RoleArn: crossplaneRole, RoleSessionName: "test" })));
    // The chain begins with Crossplane's role on the hub, and with no other identity of either account.
    expect(await assume(account)).toBe("AccessDenied");
    expect(await assume(admin)).toBe("AccessDenied");
    const ofHub = new AssumeRoleCommand({
      RoleArn: roleArn("fleet-hub-crossplane-iam", ACCOUNT),
      RoleSessionName: "test",
    });
    expect(await outcome(admin.sts.send(ofHub))).toBe("AccessDenied");
  });

  test("is removed through Git, and leaves nothing in either account", async () => {
    const teams = await workloads();
    await teams.remove(appFolder(SPOKE));
    await teams.push(`Remove the application from ${SPOKE}`);
    await fetchNow(SPOKE, "gitops-workloads", "flux-system");
    await eventually(BOOTSTRAP_SECONDS, async () => expect(await ordersOf(abroad, place)).toEqual(orders.gone));
    await repository.remove(folder);
    await repository.push(`Remove spoke ${SPOKE}`);
    await untilGone(SPOKE);
    expect(await inventoryOf(abroad, spokeScope("fleet", SPOKE))).toEqual([]);
    expect(await spokeInventory("fleet", SPOKE)).toEqual([]);
  });

  test("leaves an account whose stack is destroyed with nothing of the fleet", async () => {
    const { code = 1, text = "" } = (await stack?.run("destroy")) ?? {};
    expect(code, text).toBe(0);
    await upWith((config) => config);
    const { Roles = [] } = await abroad.iam.send(new ListRolesCommand({}));
    expect(Roles.filter(({ RoleName }) => RoleName?.startsWith("fleet-"))).toEqual([]);
  });
});
