/** DynamoDB tables: between the blocks of the schema and the API. */
import type {
  BillingMode,
  GlobalSecondaryIndex,
  KeySchemaElement,
  LocalSecondaryIndex,
  ProjectionType,
  ScalarAttributeType,
  StreamViewType,
  TableClass,
  TableDescription,
  UpdateTableCommandInput,
} from "@aws-sdk/client-dynamodb";
import type { Change, Properties, Tagged } from "../handler.ts";

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

export interface TableInputs extends Tagged {
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

export const keySchema = (hash: string | undefined, range: string | undefined): KeySchemaElement[] => [
  { AttributeName: hash, KeyType: "HASH" },
  ...(range ? [{ AttributeName: range, KeyType: "RANGE" } as const] : []),
];

export const throughput = (of: { readCapacity?: number; writeCapacity?: number }, mode: BillingMode | undefined) =>
  mode === "PAY_PER_REQUEST"
    ? {}
    : { ProvisionedThroughput: { ReadCapacityUnits: of.readCapacity, WriteCapacityUnits: of.writeCapacity } };

const projection = (index: Index) => ({
  Projection: { ProjectionType: index.projectionType, NonKeyAttributes: index.nonKeyAttributes },
});

export const globalIndex = (index: GlobalIndex, mode: BillingMode | undefined): GlobalSecondaryIndex => ({
  IndexName: index.name,
  KeySchema: keySchema(index.hashKey, index.rangeKey),
  ...projection(index),
  ...throughput(index, mode),
});

export const localIndex = (index: Index, hash: string): LocalSecondaryIndex => ({
  IndexName: index.name,
  KeySchema: keySchema(hash, index.rangeKey),
  ...projection(index),
});

export const attributeDefinitions = (inputs: TableInputs) =>
  inputs.attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type }));

export const stream = (inputs: TableInputs) => ({
  StreamEnabled: inputs.streamEnabled ?? false,
  ...(inputs.streamEnabled && { StreamViewType: inputs.streamViewType }),
});

export const encryption = (sse: TableInputs["serverSideEncryption"]) =>
  sse && { Enabled: sse.enabled, ...(sse.enabled && { SSEType: "KMS" as const, KMSMasterKeyId: sse.kmsKeyArn }) };
const keyOf = (schema: KeySchemaElement[] | undefined, type: "HASH" | "RANGE") =>
  schema?.find(({ KeyType }) => KeyType === type)?.AttributeName;

export function tableProperties(actual: TableDescription): Properties {
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
export function tableChanges(change: Change<TableInputs>): Omit<UpdateTableCommandInput, "TableName">[] {
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

function indexChanges(old: TableInputs, inputs: TableInputs): Omit<UpdateTableCommandInput, "TableName">[] {
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
