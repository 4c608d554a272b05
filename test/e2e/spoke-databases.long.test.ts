import { DescribeClusterCommand } from "@aws-sdk/client-eks";
import {
  type DBInstance,
  DeleteDBInstanceCommand,
  DeleteDBSnapshotCommand,
  DescribeDBInstancesCommand,
  DescribeDBSnapshotsCommand,
  DescribeDBSubnetGroupsCommand,
  ModifyDBInstanceCommand,
} from "@aws-sdk/client-rds";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseSubnets } from "../../lib/iam/databases.ts";
import { labelKeys } from "../../lib/labels.ts";
import { withSpec } from "../support/checkout.ts";
import { outcome } from "../support/process.ts";
import { fetchNow } from "./support/apps.ts";
import { tenantObjects } from "./support/bucket-tenant.ts";
import { databaseObject, databaseOf, groupOf, leavingObject, prefixOf } from "./support/database-tenant.ts";
import { account, eventually } from "./support/fleet.ts";
import { actingAs } from "./support/identity.ts";
import type { Checkout } from "./support/repository.ts";
import {
  addSpoke,
  clusterOf,
  getOnSpoke,
  on,
  removeSpoke,
  system,
  tryOnSpoke,
  untilReady,
  workloads,
} from "./support/spokes.ts";

/** RDS databases that applications order, on a spoke of its own: no database runs behind them here, but all of their life in AWS's API. */

const name = "coral"; // environment dev
const [main, scratch] = [databaseOf(name, "shop", "main"), databaseOf(name, "shop", "scratch")];
const subnets = databaseSubnets(prefixOf(name));

let repository: Checkout;
let governance: Checkout;
let group = "";
/** AWS's ID of the database that stays. */
let id: string | undefined;

const push = async (message: string) => {
  await governance.push(message);
  await fetchNow(name, "gitops-workloads", "flux-system");
};
const deploy = (namespace: string, ...orders: object[]) =>
  governance.write(
    `clusters/${name}/${namespace}.yaml`,
    ...tenantObjects(governance, namespace, "rds.Instance"),
    ...orders,
  );
const inShop = (object: string) => ["instances.rds.aws.m.upbound.io", object, "--namespace", "shop"];
const ready = async (args: readonly string[]): Promise<readonly string[]> => {
  const { status } = await getOnSpoke(name, args);
  const found = (status?.conditions ?? []) as { type: string; status: string }[];
  return found.filter(({ type }) => ["Ready", "Synced"].includes(type)).map((each) => each.status);
};
const inAws = async (DBInstanceIdentifier: string): Promise<DBInstance> =>
  (await account.rds.send(new DescribeDBInstancesCommand({ DBInstanceIdentifier }))).DBInstances?.[0] ?? {};
/** What an administrator of the account does with a database that stays. */
async function removeInAws(DBInstanceIdentifier: string): Promise<void> {
  const unprotected = { DBInstanceIdentifier, DeletionProtection: false, ApplyImmediately: true };
  await account.rds.send(new ModifyDBInstanceCommand(unprotected));
  const FinalDBSnapshotIdentifier = `${DBInstanceIdentifier}-final`;
  await account.rds.send(new DeleteDBInstanceCommand({ DBInstanceIdentifier, FinalDBSnapshotIdentifier }));
}
const isGone = async (...args: readonly string[]) =>
  expect((await tryOnSpoke(name, ["get", ...args])).stderr).toContain("NotFound");
const kustomization = (object: string) => [
  "kustomizations.kustomize.toolkit.fluxcd.io",
  object,
  "--namespace",
  "flux-system",
];

async function enable(addons: readonly string[], message: string): Promise<void> {
  await repository.edit(`spokes/fleet/${name}/spoke.yaml`, withSpec({ addons }));
  await repository.push(message);
}

beforeAll(async () => {
  repository = await system();
  await addSpoke(repository, name, "dev", withSpec({ addons: ["rds_instances"] }));
  await repository.push(`Add spoke ${name} with databases`);
  await untilReady(name, 900);
  group = await groupOf(name);
  governance = await workloads();
  await deploy("shop", databaseObject(name, "shop", "main", group), leavingObject(name, "shop", "scratch", group));
  await deploy("billing");
  await push(`Let shop and billing order databases on ${name}`);
});
afterAll(async () => {
  await governance.remove(`clusters/${name}`);
  await push(`Remove shop and billing from ${name}`);
  await eventually(300, async () => {
    for (const namespace of ["shop", "billing"]) await isGone("namespace", namespace);
  });
  // Where a test before failed, a database keeps the spoke.
  for (const each of [main, scratch]) if ((await outcome(inAws(each))) === "allowed") await removeInAws(each);
  await removeSpoke(repository, name);
  for (const each of [main, scratch])
    await outcome(account.rds.send(new DeleteDBSnapshotCommand({ DBSnapshotIdentifier: `${each}-final` })));
});

describe("databases that an application orders", () => {
  test("have the spoke's private subnets and its cluster's security group", async () => {
    await eventually(300, async () => {
      expect(await ready(kustomization("rds-instances"))).toEqual(["True"]);
      expect(await ready(kustomization("rds-subnets"))).toEqual(["True"]);
    });
    const { DBSubnetGroups = [] } = await account.rds.send(
      new DescribeDBSubnetGroupsCommand({ DBSubnetGroupName: subnets }),
    );
    expect(DBSubnetGroups[0]?.Subnets?.length).toBeGreaterThan(1);
    const { cluster } = await account.eks.send(new DescribeClusterCommand({ name: clusterOf(name) }));
    expect(group).toBe(cluster?.resourcesVpcConfig?.clusterSecurityGroupId);
  });

  test("come up encrypted, protected and with backups, and with a password in the application's namespace alone", async () => {
    await eventually(300, async () => {
      for (const object of ["main", "scratch"]) expect(await ready(inShop(object)), object).toEqual(["True", "True"]);
    });
    const made = await inAws(main);
    expect(made).toMatchObject({
      StorageEncrypted: true,
      PubliclyAccessible: false,
      DeletionProtection: true,
      BackupRetentionPeriod: 7,
      DBSubnetGroup: { DBSubnetGroupName: subnets },
      VpcSecurityGroups: [{ VpcSecurityGroupId: group }],
    });
    expect(made.TagList).toContainEqual({ Key: labelKeys.cluster, Value: name });
    id = made.DbiResourceId;
    const { data } = await getOnSpoke(name, ["secret", "main-connection", "--namespace", "shop"]);
    const text = (key: string) => Buffer.from(data[key] ?? "", "base64").toString();
    expect([text("host"), text("port"), text("username")]).toEqual([made.Endpoint?.Address, "5432", "main"]);
    const password = await getOnSpoke(name, ["secret", "main-password", "--namespace", "shop"]);
    expect(data["password"]).toBe(password.data["password"]);
    expect(text("password").length).toBeGreaterThan(20);
  });

  test("are out of reach of another application, which may call its own neither by their names nor by their IDs", async () => {
    const tried = async (object: object) =>
      (await tryOnSpoke(name, ["create", "--dry-run=server", "--filename", "-"], { input: JSON.stringify(object) }))
        .stderr;
    const own = databaseObject(name, "billing", "main", group);
    expect(await tried(own)).toBe("");
    const { metadata, spec } = own;
    const called = (identifier: string, external: string) => ({
      ...own,
      metadata: { ...metadata, annotations: { "crossplane.io/external-name": external } },
      spec: { ...spec, forProvider: { ...spec.forProvider, identifier } },
    });
    const { identifier } = spec.forProvider;
    expect(await tried(called(main, main))).toContain("spec.forProvider.identifier of a database must be");
    for (const external of [main, String(id)])
      expect(await tried(called(identifier, external))).toContain("external-name of a database must be its name");
  });

  test("are all that the spoke's Crossplane reaches in RDS", async () => {
    const crossplane = await actingAs(
      `arn:aws:iam::000000000000:role/fleet-spoke-${name}-crossplane`,
      { namespace: "crossplane-system", name: "provider-aws-rds" },
      on(name),
    );
    const remove = (DBInstanceIdentifier: string) =>
      outcome(crossplane.rds.send(new DeleteDBInstanceCommand({ DBInstanceIdentifier, SkipFinalSnapshot: true })));
    // RDS protects it; IAM would let it go.
    expect(await remove(main)).toMatch(/^InvalidParameterCombination/);
    for (const other of ["shop", databaseOf("lime", "shop", "main"), `fleet-spoke-${name}-shop`])
      expect(await remove(other), other).toMatch(/^AccessDenied/);
  });

  test("stay in AWS when Git no longer has them, but for one whose removal was asked for twice, which leaves a final snapshot", async () => {
    await deploy("shop");
    await push("Order no more databases");
    await eventually(300, async () => {
      for (const object of ["main", "scratch"]) await isGone(...inShop(object));
    });
    expect(await inAws(main)).toMatchObject({ DbiResourceId: id, DBInstanceStatus: "available" });
    await eventually(60, async () => expect(await outcome(inAws(scratch))).toMatch(/^DBInstanceNotFound/));
    const { DBSnapshots = [] } = await account.rds.send(
      new DescribeDBSnapshotsCommand({ DBSnapshotIdentifier: `${scratch}-final` }),
    );
    expect(DBSnapshots).toHaveLength(1);
  });

  test("are found again when they are ordered again", async () => {
    await deploy("shop", databaseObject(name, "shop", "main", group));
    await push("Order the database again");
    await eventually(300, async () => expect(await ready(inShop("main"))).toEqual(["True", "True"]));
    expect((await inAws(main)).DbiResourceId).toBe(id);
    await deploy("shop");
    await push("Order no more databases");
    await eventually(300, async () => isGone(...inShop("main")));
  });
});

describe("the add-on, when it is turned off", () => {
  test("waits for the databases that are left, and RDS says which", async () => {
    await enable([], `Turn rds_instances off on ${name}`);
    await eventually(300, async () => {
      const { status } = await getOnSpoke(name, [
        "subnetgroups.rds.aws.m.upbound.io",
        "databases",
        "--namespace",
        "crossplane-system",
      ]);
      const said = JSON.stringify(status?.conditions ?? []);
      expect(said).toContain(`at least one database instance: ${main} is still using it`);
    });
    expect((await inAws(main)).DBInstanceStatus).toBe("available");
  });

  test("goes once an administrator has removed them, with the group of the subnets and the kinds", async () => {
    await removeInAws(main);
    await eventually(600, async () => {
      const look = new DescribeDBSubnetGroupsCommand({ DBSubnetGroupName: subnets });
      expect(await outcome(account.rds.send(look))).toMatch(/^DBSubnetGroupNotFound/);
      for (const object of ["rds-instances", "rds-subnets"]) await isGone(...kustomization(object));
      await isGone("provider.pkg.crossplane.io", "provider-aws-rds");
    });
    await untilReady(name);
  });
});
