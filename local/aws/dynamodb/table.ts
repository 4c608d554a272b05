import {
  type BillingMode,
  CreateTableCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  ListTagsOfResourceCommand,
  type LocalSecondaryIndex,
  type ProjectionType,
  type ScalarAttributeType,
  type StreamViewType,
  type TableClass,
  type TableDescription,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  type UpdateTableCommandInput,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import type { Aws } from "../clients.ts";
import { sameList } from "../compare.ts";
import { orGone } from "../errors.ts";
import { type Change, finishing, type Properties, resource, type Tagged } from "../handler.ts";
import { poll } from "../poll.ts";
import { syncTags, tagPairs, tagsFrom } from "../tags.ts";

interface Index {
  name: string;
  rangeKey?: string;
  projectionType: ProjectionType;
  nonKeyAttributes?: string[];
}

interface GlobalIndex extends Index {
  hashKey: string;
  readCapacity?: number;
  writeCapacity?: number;
}

interface Inputs extends Tagged {
  name: string;
  hashKey: string;
  rangeKey?: string;
  attributes: { name: string; type: ScalarAttributeType }[];
  billingMode?: BillingMode;
  readCapacity?: number;
  writeCapacity?: number;
  globalSecondaryIndexes?: GlobalIndex[];
  localSecondaryIndexes?: Index[];
  streamEnabled?: boolean;
  streamViewType?: StreamViewType;
  serverSideEncryption?: { enabled: boolean; kmsKeyArn?: string };
  pointInTimeRecovery?: { enabled: boolean };
  ttl?: { enabled?: boolean; attributeName?: string };
  deletionProtectionEnabled?: boolean;
  tableClass?: TableClass;
}

const keySchema = (hash: string | undefined, range: string | undefined): KeySchemaElement[] => [
  { AttributeName: hash, KeyType: "HASH" },
  ...(range ? [{ AttributeName: range, KeyType: "RANGE" } as const] : []),
];

const throughput = (of: { readCapacity?: number; writeCapacity?: number }, mode: BillingMode | undefined) =>
  mode === "PAY_PER_REQUEST"
    ? {}
    : { ProvisionedThroughput: { ReadCapacityUnits: of.readCapacity, WriteCapacityUnits: of.writeCapacity } };

const projection = (index: Index) => ({
  Projection: { ProjectionType: index.projectionType, NonKeyAttributes: index.nonKeyAttributes },
});

const globalIndex = (index: GlobalIndex, mode: BillingMode | undefined): GlobalSecondaryIndex => ({
  IndexName: index.name,
  KeySchema: keySchema(index.hashKey, index.rangeKey),
  ...projection(index),
  ...throughput(index, mode),
});

const localIndex = (index: Index, hash: string): LocalSecondaryIndex => ({
  IndexName: index.name,
  KeySchema: keySchema(hash, index.rangeKey),
  ...projection(index),
});

const attributeDefinitions = (inputs: Inputs) =>
  inputs.attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type }));

const stream = (inputs: Inputs) => ({
  StreamEnabled: inputs.streamEnabled ?? false,
  ...(inputs.streamEnabled && { StreamViewType: inputs.streamViewType }),
});

const encryption = (sse: Inputs["serverSideEncryption"]) =>
  sse && { Enabled: sse.enabled, ...(sse.enabled && { SSEType: "KMS" as const, KMSMasterKeyId: sse.kmsKeyArn }) };

async function find(aws: Aws, name: string): Promise<TableDescription | undefined> {
  return (await orGone(aws.dynamodb.send(new DescribeTableCommand({ TableName: name }))))?.Table;
}

async function active(aws: Aws, name: string): Promise<true | undefined> {
  const actual = await find(aws, name);
  const indexes = actual?.GlobalSecondaryIndexes ?? [];
  return actual?.TableStatus === "ACTIVE" && indexes.every((i) => i.IndexStatus === "ACTIVE") ? true : undefined;
}

const settled = (aws: Aws, name: string) =>
  poll({ what: `DynamoDB table ${name} to become ACTIVE`, timeout: aws.timeout }, () => active(aws, name));

async function setTtl(aws: Aws, name: string, ttl: Inputs["ttl"], attributeName: string | undefined): Promise<void> {
  await aws.dynamodb.send(
    new UpdateTimeToLiveCommand({
      TableName: name,
      TimeToLiveSpecification: { Enabled: ttl?.enabled ?? false, AttributeName: attributeName },
    }),
  );
}

async function setRecovery(aws: Aws, name: string, enabled: boolean): Promise<void> {
  await aws.dynamodb.send(
    new UpdateContinuousBackupsCommand({
      TableName: name,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: enabled },
    }),
  );
}

const keyOf = (schema: KeySchemaElement[] | undefined, type: "HASH" | "RANGE") =>
  schema?.find(({ KeyType }) => KeyType === type)?.AttributeName;

function properties(actual: TableDescription): Properties {
  const capacity = (of: TableDescription["ProvisionedThroughput"]) => ({
    readCapacity: of?.ReadCapacityUnits ?? 0,
    writeCapacity: of?.WriteCapacityUnits ?? 0,
  });
  const index = (of: {
    IndexName?: string;
    KeySchema?: KeySchemaElement[];
    Projection?: { ProjectionType?: string; NonKeyAttributes?: string[] };
  }) => ({
    name: of.IndexName,
    rangeKey: keyOf(of.KeySchema, "RANGE"),
    projectionType: of.Projection?.ProjectionType,
    nonKeyAttributes: of.Projection?.NonKeyAttributes,
  });
  const { SSEDescription: sse, StreamSpecification: streams } = actual;
  return {
    arn: actual.TableArn,
    attributes: (actual.AttributeDefinitions ?? []).map((a) => ({ name: a.AttributeName, type: a.AttributeType })),
    billingMode: actual.BillingModeSummary?.BillingMode ?? "PROVISIONED",
    deletionProtectionEnabled: actual.DeletionProtectionEnabled ?? false,
    globalSecondaryIndexes: (actual.GlobalSecondaryIndexes ?? []).map((i) => ({
      ...index(i as Parameters<typeof index>[0]),
      ...capacity(i.ProvisionedThroughput),
      hashKey: keyOf(i.KeySchema, "HASH"),
    })),
    hashKey: keyOf(actual.KeySchema, "HASH"),
    localSecondaryIndexes: (actual.LocalSecondaryIndexes ?? []).map((i) => index(i as Parameters<typeof index>[0])),
    name: actual.TableName,
    rangeKey: keyOf(actual.KeySchema, "RANGE"),
    ...capacity(actual.ProvisionedThroughput),
    ...(sse?.Status === "ENABLED" && { serverSideEncryption: { enabled: true, kmsKeyArn: sse.KMSMasterKeyArn } }),
    streamArn: actual.LatestStreamArn,
    streamEnabled: streams?.StreamEnabled ?? false,
    streamLabel: actual.LatestStreamLabel,
    streamViewType: streams?.StreamViewType,
    tableClass: actual.TableClassSummary?.TableClass ?? "STANDARD",
  };
}

/** DynamoDB takes one kind of change at a time and one index per call. */
function tableChanges(change: Change<Inputs>): Omit<UpdateTableCommandInput, "TableName">[] {
  const { old, new: inputs } = change;
  const calls: Omit<UpdateTableCommandInput, "TableName">[] = [];
  if (change.has("billingMode", "readCapacity", "writeCapacity"))
    calls.push({ BillingMode: inputs.billingMode, ...throughput(inputs, inputs.billingMode) });
  if (change.has("streamEnabled", "streamViewType")) calls.push({ StreamSpecification: stream(inputs) });
  if (change.has("serverSideEncryption"))
    calls.push({ SSESpecification: encryption(inputs.serverSideEncryption) ?? { Enabled: false } });
  if (change.has("tableClass")) calls.push({ TableClass: inputs.tableClass });
  if (change.has("deletionProtectionEnabled"))
    calls.push({ DeletionProtectionEnabled: inputs.deletionProtectionEnabled ?? false });
  return [...calls, ...indexChanges(old, inputs)];
}

function indexChanges(old: Inputs, inputs: Inputs): Omit<UpdateTableCommandInput, "TableName">[] {
  const text = (index: GlobalIndex) => JSON.stringify(globalIndex(index, inputs.billingMode));
  const [before, after] = [old.globalSecondaryIndexes ?? [], inputs.globalSecondaryIndexes ?? []];
  const gone = before.filter((index) => !after.some((other) => text(other) === text(index)));
  const added = after.filter((index) => !before.some((other) => text(other) === text(index)));
  return [
    ...gone.map(({ name }) => ({ GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: name } }] })),
    ...added.map((index) => ({
      AttributeDefinitions: attributeDefinitions(inputs),
      GlobalSecondaryIndexUpdates: [{ Create: globalIndex(index, inputs.billingMode) as never }],
    })),
  ];
}

const enabledTtl = (ttl: unknown) => ((ttl as Inputs["ttl"])?.enabled ? ttl : undefined);

const indexInputs = ["name", "rangeKey", "projectionType", "nonKeyAttributes"];

export const table = resource<Inputs>({
  token: "aws:dynamodb/table:Table",
  tagged: true,
  inputs: [
    ...[
      "name",
      "hashKey",
      "rangeKey",
      "billingMode",
      "readCapacity",
      "writeCapacity",
      "streamEnabled",
      "streamViewType",
    ],
    ...["attributes.name", "attributes.type", "deletionProtectionEnabled", "tableClass"],
    ...[...indexInputs, "hashKey", "readCapacity", "writeCapacity"].map((name) => `globalSecondaryIndexes.${name}`),
    ...indexInputs.map((name) => `localSecondaryIndexes.${name}`),
    ...["serverSideEncryption.enabled", "serverSideEncryption.kmsKeyArn", "pointInTimeRecovery.enabled"],
    ...["ttl.enabled", "ttl.attributeName"],
  ],
  computed: ["readCapacity", "writeCapacity", "serverSideEncryption", "pointInTimeRecovery", "streamViewType"],
  replaceOn: ["name", "hashKey", "rangeKey", "localSecondaryIndexes"],
  defaults: {
    billingMode: "PROVISIONED",
    tableClass: "STANDARD",
    deletionProtectionEnabled: false,
    streamEnabled: false,
  },
  autoName: { property: "name", maxLength: 255 },
  // A switched-off TTL is the same as none.
  compare: { ttl: (a, b) => sameList(enabledTtl(a), enabledTtl(b)) },
  sets: ["attributes", "globalSecondaryIndexes", "localSecondaryIndexes"],

  async create(aws, inputs) {
    const { billingMode, globalSecondaryIndexes, localSecondaryIndexes } = inputs;
    await aws.dynamodb.send(
      new CreateTableCommand({
        TableName: inputs.name,
        KeySchema: keySchema(inputs.hashKey, inputs.rangeKey),
        AttributeDefinitions: attributeDefinitions(inputs),
        BillingMode: billingMode,
        ...throughput(inputs, billingMode),
        GlobalSecondaryIndexes: globalSecondaryIndexes?.map((index) => globalIndex(index, billingMode)),
        LocalSecondaryIndexes: localSecondaryIndexes?.map((index) => localIndex(index, inputs.hashKey)),
        ...(inputs.streamEnabled && { StreamSpecification: stream(inputs) }),
        SSESpecification: encryption(inputs.serverSideEncryption),
        TableClass: inputs.tableClass,
        DeletionProtectionEnabled: inputs.deletionProtectionEnabled,
        Tags: tagPairs(inputs.tagsAll),
      }),
    );
    return finishing(inputs.name, async (id) => {
      await settled(aws, id);
      if (inputs.ttl?.enabled) await setTtl(aws, id, inputs.ttl, inputs.ttl.attributeName);
      if (inputs.pointInTimeRecovery?.enabled) await setRecovery(aws, id, true);
    });
  },

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual || actual.TableStatus === "DELETING") return null;
    const [ttl, backups, tags] = await Promise.all([
      aws.dynamodb.send(new DescribeTimeToLiveCommand({ TableName: id })),
      aws.dynamodb.send(new DescribeContinuousBackupsCommand({ TableName: id })),
      aws.dynamodb.send(new ListTagsOfResourceCommand({ ResourceArn: actual.TableArn })),
    ]);
    const ttlOn = ttl.TimeToLiveDescription?.TimeToLiveStatus?.startsWith("ENABL") ?? false;
    const recovery = backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
    return {
      ...properties(actual),
      pointInTimeRecovery: { enabled: recovery === "ENABLED" },
      ...(ttlOn && { ttl: { enabled: true, attributeName: ttl.TimeToLiveDescription?.AttributeName } }),
      tagsAll: tagsFrom(tags.Tags),
    };
  },

  async update(aws, id, change) {
    for (const call of tableChanges(change)) {
      await aws.dynamodb.send(new UpdateTableCommand({ TableName: id, ...call }));
      await settled(aws, id);
    }
    const { old, new: inputs } = change;
    if (change.has("ttl")) await setTtl(aws, id, inputs.ttl, inputs.ttl?.attributeName ?? old.ttl?.attributeName);
    if (change.has("pointInTimeRecovery")) await setRecovery(aws, id, inputs.pointInTimeRecovery?.enabled ?? false);
    const arn = (await find(aws, id))?.TableArn;
    await syncTags(
      change,
      (tags) => aws.dynamodb.send(new TagResourceCommand({ ResourceArn: arn, Tags: tagPairs(tags) })),
      (keys) => aws.dynamodb.send(new UntagResourceCommand({ ResourceArn: arn, TagKeys: keys })),
    );
  },

  async delete(aws, id) {
    await orGone(aws.dynamodb.send(new DeleteTableCommand({ TableName: id })));
    await poll({ what: `DynamoDB table ${id} to be deleted`, timeout: aws.timeout }, async () =>
      (await find(aws, id)) ? undefined : true,
    );
  },
});
