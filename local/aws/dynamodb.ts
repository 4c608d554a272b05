import * as sdk from "@aws-sdk/client-dynamodb";
import { sameList } from "./compare.ts";
import type { Aws } from "./connection.ts";
import { computed, fixed, type Item, out } from "./define/fields.ts";
import { define } from "./define/resource.ts";
import type { Handler } from "./handler.ts";
import { tagPairs, tagsFrom } from "./tags.ts";

const api = (aws: Aws) => aws.client(sdk.DynamoDBClient);

type Change = Omit<sdk.UpdateTableCommandInput, "TableName">;

const keyOf =
  (type: "HASH" | "RANGE") =>
  ({ KeySchema }: Item): unknown =>
    (KeySchema as sdk.KeySchemaElement[] | undefined)?.find(({ KeyType }) => KeyType === type)?.AttributeName;

const capacity = (name: "ReadCapacityUnits" | "WriteCapacityUnits") =>
  ({
    computed,
    type: "number",
    api: null,
    get: ({ ProvisionedThroughput }: Item) =>
      (ProvisionedThroughput as Record<string, number> | undefined)?.[name] ?? 0,
  }) as const;

interface Throughput {
  readonly billingMode?: string;
  readonly readCapacity?: number;
  readonly writeCapacity?: number;
}

const throughput = ({ billingMode, readCapacity, writeCapacity }: Throughput) =>
  billingMode === "PAY_PER_REQUEST"
    ? {}
    : { ProvisionedThroughput: { ReadCapacityUnits: readCapacity, WriteCapacityUnits: writeCapacity } };

const encryption = (sse: { enabled?: boolean; kmsKeyArn?: string } | undefined): Change["SSESpecification"] =>
  sse?.enabled ? { Enabled: true, SSEType: "KMS", KMSMasterKeyId: sse.kmsKeyArn } : { Enabled: false };

const enabled = (ttl: unknown) => ((ttl as { enabled?: boolean } | undefined)?.enabled ? ttl : undefined);

/** DynamoDB takes one kind of change at a time. */
const change = (aws: Aws, TableName: string, what: Change) =>
  api(aws).send(new sdk.UpdateTableCommand({ TableName, ...what }));

const table = define({
  token: "aws:dynamodb/table:Table",
  crossplane: { kind: "dynamodb/Table", named: "name", asynchronous: true },
  idOf: ({ name }) => name as string | undefined,
  autoName: { property: "name", maxLength: 255 },
  tags: {
    request: (tags) => ({ Tags: tagPairs(tags) }),
    of: async (aws, _id, { TableArn }) => {
      const query = new sdk.ListTagsOfResourceCommand({ ResourceArn: TableArn as string });
      return tagsFrom((await api(aws).send(query)).Tags);
    },
    set: (aws, ResourceArn, tags) => api(aws).send(new sdk.TagResourceCommand({ ResourceArn, Tags: tagPairs(tags) })),
    remove: (aws, ResourceArn, TagKeys) => api(aws).send(new sdk.UntagResourceCommand({ ResourceArn, TagKeys })),
    target: ({ TableArn }) => TableArn as string,
  },
  states: {
    what: "DynamoDB table",
    of: ({ TableStatus }) => TableStatus as string | undefined,
    usable: ["ACTIVE"],
    pending: ["CREATING", "UPDATING"],
    leaving: ["DELETING"],
  },
  fields: {
    name: { fixed, api: "TableName", crd: null },
    hashKey: { fixed, api: null, get: keyOf("HASH") },
    rangeKey: { fixed, api: null, get: keyOf("RANGE") },
    attributes: {
      api: "AttributeDefinitions",
      crd: "attribute",
      unordered: true,
      type: { blocks: { name: { api: "AttributeName" }, type: { api: "AttributeType" } } },
    },
    billingMode: {
      default: "PROVISIONED",
      get: ({ BillingModeSummary: found }) =>
        (found as { BillingMode?: string } | undefined)?.BillingMode ?? "PROVISIONED",
    },
    readCapacity: capacity("ReadCapacityUnits"),
    writeCapacity: capacity("WriteCapacityUnits"),
    deletionProtectionEnabled: { type: "boolean", default: false },
    pointInTimeRecovery: {
      computed,
      api: null,
      get: ({ Recovery }) => Recovery,
      type: { block: { enabled: { type: "boolean" } } },
    },
    serverSideEncryption: {
      computed,
      api: "SSESpecification",
      put: encryption,
      get: ({ SSEDescription }) => {
        const found = SSEDescription as { Status?: string; KMSMasterKeyArn?: string } | undefined;
        return found?.Status === "ENABLED" ? { enabled: true, kmsKeyArn: found.KMSMasterKeyArn } : undefined;
      },
      type: { block: { enabled: { type: "boolean" }, kmsKeyArn: {} } },
    },
    ttl: {
      // A switched-off TTL is the same as none.
      api: null,
      same: (a, b) => sameList(enabled(a), enabled(b)),
      get: ({ Ttl }) => Ttl,
      type: { block: { attributeName: {}, enabled: { type: "boolean" } } },
    },
    arn: out("TableArn"),
  },
  async create(aws, request, inputs) {
    const { hashKey, rangeKey } = inputs;
    const KeySchema: sdk.KeySchemaElement[] = [
      { AttributeName: hashKey, KeyType: "HASH" },
      ...(rangeKey ? [{ AttributeName: rangeKey, KeyType: "RANGE" } as const] : []),
    ];
    await api(aws).send(new sdk.CreateTableCommand({ ...request, KeySchema, ...throughput(inputs) } as never));
  },
  find: async (aws, TableName) => (await api(aws).send(new sdk.DescribeTableCommand({ TableName }))).Table,
  async also(aws, TableName) {
    const [ttl, backups] = await Promise.all([
      api(aws).send(new sdk.DescribeTimeToLiveCommand({ TableName })),
      api(aws).send(new sdk.DescribeContinuousBackupsCommand({ TableName })),
    ]);
    const { TimeToLiveStatus, AttributeName } = ttl.TimeToLiveDescription ?? {};
    const recovery = backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
    return {
      Recovery: { enabled: recovery === "ENABLED" },
      Ttl: TimeToLiveStatus?.startsWith("ENABL") ? { enabled: true, attributeName: AttributeName } : undefined,
    };
  },
  settings: [
    {
      fields: ["billingMode", "readCapacity", "writeCapacity"],
      settles: true,
      call: (aws, id, inputs) => change(aws, id, { BillingMode: inputs.billingMode as never, ...throughput(inputs) }),
    },
    {
      fields: ["serverSideEncryption"],
      settles: true,
      call: (aws, id, { serverSideEncryption }) =>
        change(aws, id, { SSESpecification: encryption(serverSideEncryption) }),
    },
    {
      fields: ["deletionProtectionEnabled"],
      settles: true,
      call: (aws, id, { deletionProtectionEnabled = false }) =>
        change(aws, id, { DeletionProtectionEnabled: deletionProtectionEnabled }),
    },
    {
      fields: ["ttl"],
      initially: ({ ttl }) => ttl?.enabled === true,
      call: (aws, TableName, { ttl }, { old }) => {
        const AttributeName = ttl?.attributeName ?? old.ttl?.attributeName;
        const TimeToLiveSpecification = { Enabled: ttl?.enabled ?? false, AttributeName };
        return api(aws).send(new sdk.UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
      },
    },
    {
      fields: ["pointInTimeRecovery"],
      initially: ({ pointInTimeRecovery }) => pointInTimeRecovery?.enabled === true,
      call: (aws, TableName, { pointInTimeRecovery }) => {
        const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: pointInTimeRecovery?.enabled ?? false };
        return api(aws).send(new sdk.UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
      },
    },
  ],
  delete: (aws, TableName) => api(aws).send(new sdk.DeleteTableCommand({ TableName })),
});

export const dynamodbResources: readonly Handler[] = [table];
