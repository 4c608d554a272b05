/** Databases, and the groups of subnets that they are in. */
import * as sdk from "@aws-sdk/client-rds";
import type { Aws } from "./connection.ts";
import { computed, fixed, type Item, out } from "./define/fields.ts";
import { define, type TagCalls } from "./define/resource.ts";
import type { Handler } from "./handler.ts";
import { type TagPair, tagPairs, tagsFrom } from "./tags.ts";

const api = (aws: Aws) => aws.client(sdk.RDSClient);

/** RDS takes the ARN of what is tagged. */
const tagsBy = (arn: string): TagCalls => ({
  request: (tags) => ({ Tags: tagPairs(tags) }),
  of: async (aws, _id, item) => {
    const query = new sdk.ListTagsForResourceCommand({ ResourceName: item[arn] as string });
    return tagsFrom((await api(aws).send(query)).TagList as TagPair[] | undefined);
  },
  set: (aws, ResourceName, tags) =>
    api(aws).send(new sdk.AddTagsToResourceCommand({ ResourceName, Tags: tagPairs(tags) })),
  remove: (aws, ResourceName, TagKeys) =>
    api(aws).send(new sdk.RemoveTagsFromResourceCommand({ ResourceName, TagKeys })),
  target: (item) => item[arn] as string,
});

/** AWS's ID of a database, by which the provider calls it; its name has hyphens (terraform-provider-aws, findDBInstanceByID). */
const isResourceId = (id: string): boolean => /^db-[0-9A-Za-z]{2,255}$/.test(id);

async function find(aws: Aws, id: string): Promise<sdk.DBInstance | undefined> {
  const query = isResourceId(id)
    ? { Filters: [{ Name: "dbi-resource-id", Values: [id] }] }
    : { DBInstanceIdentifier: id };
  return (await api(aws).send(new sdk.DescribeDBInstancesCommand(query))).DBInstances?.[0];
}

const instanceOf = (item: Item): sdk.DBInstance => item as sdk.DBInstance;

const yes = { type: "boolean", default: false } as const;
const number = { type: "number" } as const;
/** What the provider alone reads: when to change something, and how to delete it. */
const ownOf = <const T extends "string" | "boolean">(type: T) => ({ type, api: null, unread: true }) as const;

/** What AWS changes of a database that exists. */
const changeable = [
  "allocatedStorage",
  "autoMinorVersionUpgrade",
  "backupRetentionPeriod",
  "copyTagsToSnapshot",
  "deletionProtection",
  "engineVersion",
  "instanceClass",
  "maxAllocatedStorage",
  "multiAz",
  "publiclyAccessible",
  "storageType",
  "vpcSecurityGroupIds",
] as const;

/** Whether one of the versions is the other without its last parts, `16` and `16.4`. */
const sameVersion = (one: unknown, other: unknown): boolean =>
  [[one, other] as const, [other, one] as const].some(([a, b]) => `${String(a)}.`.startsWith(`${String(b)}.`));

const instance = define({
  token: "aws:rds/instance:Instance",
  crossplane: {
    kind: "rds/Instance",
    asynchronous: true,
    connection: ({ address, endpoint, password, port, username }) => ({
      ...{ address: String(address), endpoint: String(endpoint), host: String(address) },
      ...{ port: String(port), username: String(username) },
      ...(typeof password === "string" && { password }),
    }),
  },
  tags: tagsBy("DBInstanceArn"),
  states: {
    what: "RDS instance",
    of: (item) => instanceOf(item).DBInstanceStatus,
    usable: ["available"],
    pending: ["creating", "backing-up", "configuring-enhanced-monitoring", "modifying", "rebooting", "starting"],
    leaving: ["deleting"],
  },
  fields: {
    identifier: { fixed, api: "DBInstanceIdentifier" },
    allocatedStorage: { ...number, computed },
    applyImmediately: ownOf("boolean"),
    autoMinorVersionUpgrade: { type: "boolean", default: true },
    backupRetentionPeriod: { ...number, computed },
    copyTagsToSnapshot: yes,
    dbName: { fixed, computed, api: "DBName" },
    dbSubnetGroupName: {
      computed,
      fixed,
      api: "DBSubnetGroupName",
      get: (item) => instanceOf(item).DBSubnetGroup?.DBSubnetGroupName,
    },
    deletionProtection: yes,
    engine: { fixed, computed },
    // A version without its last part stands for all of them.
    engineVersion: { computed, same: sameVersion },
    finalSnapshotIdentifier: ownOf("string"),
    instanceClass: { required: true, api: "DBInstanceClass" },
    maxAllocatedStorage: { ...number, default: 0, get: (item) => instanceOf(item).MaxAllocatedStorage ?? 0 },
    multiAz: { type: "boolean", computed, api: "MultiAZ" },
    password: { api: "MasterUserPassword", unread: true, secret: { generate: "autoGeneratePassword" } },
    port: { ...number, computed, get: (item) => instanceOf(item).Endpoint?.Port },
    publiclyAccessible: yes,
    skipFinalSnapshot: ownOf("boolean"),
    storageEncrypted: { ...yes, fixed },
    storageType: { computed },
    username: { fixed, computed, api: "MasterUsername" },
    vpcSecurityGroupIds: {
      type: "set",
      computed,
      get: (item) => instanceOf(item).VpcSecurityGroups?.map(({ VpcSecurityGroupId }) => VpcSecurityGroupId),
    },
    address: out((item) => instanceOf(item).Endpoint?.Address),
    arn: out("DBInstanceArn"),
    endpoint: out((item) => {
      const { Address, Port } = instanceOf(item).Endpoint ?? {};
      return Address && `${Address}:${Port}`;
    }),
    engineVersionActual: out("EngineVersion"),
    resourceId: out("DbiResourceId"),
    status: out("DBInstanceStatus"),
  },
  async create(aws, { MaxAllocatedStorage, ...request }) {
    const limit = MaxAllocatedStorage ? { MaxAllocatedStorage } : {};
    const made = await api(aws).send(new sdk.CreateDBInstanceCommand({ ...request, ...limit } as never));
    return made.DBInstance?.DbiResourceId;
  },
  find,
  settings: [
    {
      fields: changeable,
      settles: true,
      call: (aws, _id, inputs, { has }) => {
        const names = { instanceClass: "DBInstanceClass", multiAz: "MultiAZ" } as Readonly<Record<string, string>>;
        const change = changeable.filter((name) => has(name) && inputs[name] !== undefined);
        const request = Object.fromEntries(
          change.map((name) => [names[name] ?? name.charAt(0).toUpperCase() + name.slice(1), inputs[name]]),
        );
        return api(aws).send(
          new sdk.ModifyDBInstanceCommand({
            ...request,
            DBInstanceIdentifier: inputs.identifier,
            ApplyImmediately: inputs.applyImmediately ?? false,
          }),
        );
      },
    },
    {
      // RDS takes it at once, whatever ApplyImmediately says (ModifyDBInstance, "MasterUserPassword").
      fields: ["password"],
      settles: true,
      call: (aws, _id, { identifier, password }) =>
        api(aws).send(
          new sdk.ModifyDBInstanceCommand({ DBInstanceIdentifier: identifier, MasterUserPassword: password }),
        ),
    },
  ],
  delete(aws, _id, { identifier, skipFinalSnapshot = false, finalSnapshotIdentifier }) {
    if (!skipFinalSnapshot && finalSnapshotIdentifier === undefined)
      throw new Error("final_snapshot_identifier is required when skip_final_snapshot is false");
    return api(aws).send(
      new sdk.DeleteDBInstanceCommand({
        DBInstanceIdentifier: identifier,
        SkipFinalSnapshot: skipFinalSnapshot,
        ...(skipFinalSnapshot ? {} : { FinalDBSnapshotIdentifier: finalSnapshotIdentifier }),
      }),
    );
  },
});

const subnetGroup = define({
  token: "aws:rds/subnetGroup:SubnetGroup",
  crossplane: { kind: "rds/SubnetGroup", named: "name" },
  idOf: ({ name }) => name as string | undefined,
  autoName: { property: "name", maxLength: 255 },
  tags: tagsBy("DBSubnetGroupArn"),
  fields: {
    name: { fixed, api: "DBSubnetGroupName", crd: null },
    description: { default: "Managed by Terraform", api: "DBSubnetGroupDescription" },
    subnetIds: {
      type: "set",
      get: ({ Subnets }) => (Subnets as sdk.Subnet[] | undefined)?.map(({ SubnetIdentifier }) => SubnetIdentifier),
    },
    arn: out("DBSubnetGroupArn"),
    vpcId: out(),
  },
  create: (aws, request) => api(aws).send(new sdk.CreateDBSubnetGroupCommand(request as never)),
  find: async (aws, DBSubnetGroupName) =>
    (await api(aws).send(new sdk.DescribeDBSubnetGroupsCommand({ DBSubnetGroupName }))).DBSubnetGroups?.[0],
  settings: [
    {
      fields: ["description", "subnetIds"],
      call: (aws, DBSubnetGroupName, { description, subnetIds }) =>
        api(aws).send(
          new sdk.ModifyDBSubnetGroupCommand({
            ...{ DBSubnetGroupName, DBSubnetGroupDescription: description, SubnetIds: subnetIds },
          }),
        ),
    },
  ],
  delete: (aws, DBSubnetGroupName) => api(aws).send(new sdk.DeleteDBSubnetGroupCommand({ DBSubnetGroupName })),
});

export const rdsResources: readonly Handler[] = [instance, subnetGroup];
