import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ListTagsOfResourceCommand,
  type TableDescription,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import type { Aws } from "../clients.ts";
import { sameList } from "../compare.ts";
import { orGone } from "../errors.ts";
import { finishing, resource } from "../handler.ts";
import { poll } from "../poll.ts";
import { syncTags, tagPairs, tagsFrom } from "../tags.ts";
import {
  attributeDefinitions,
  encryption,
  globalIndex,
  keySchema,
  localIndex,
  stream,
  type TableInputs,
  tableChanges,
  tableProperties,
  throughput,
} from "./table-shape.ts";

async function find(aws: Aws, name: string): Promise<TableDescription | undefined> {
  return (await orGone(aws.dynamodb.send(new DescribeTableCommand({ TableName: name }))))?.Table;
}

async function active(aws: Aws, name: string): Promise<true | undefined> {
  const actual = await find(aws, name);
  const indexes = actual?.GlobalSecondaryIndexes ?? [];
  return actual?.TableStatus === "ACTIVE" && indexes.every((i) => i.IndexStatus === "ACTIVE") ? true : undefined;
}

const ready = (aws: Aws, name: string) =>
  poll({ what: `DynamoDB table ${name} to become ACTIVE`, timeout: aws.timeout }, () => active(aws, name));

async function setTtl(
  aws: Aws,
  name: string,
  ttl: TableInputs["ttl"],
  attributeName: string | undefined,
): Promise<void> {
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

const enabledTtl = (ttl: unknown) => ((ttl as TableInputs["ttl"])?.enabled ? ttl : undefined);

const indexInputs = ["name", "rangeKey", "projectionType", "nonKeyAttributes"];

export const table = resource<TableInputs>({
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
      await ready(aws, id);
      if (inputs.ttl?.enabled) await setTtl(aws, id, inputs.ttl, inputs.ttl.attributeName);
      if (inputs.pointInTimeRecovery?.enabled) await setRecovery(aws, id, true);
    });
  },

  ready,

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
      ...tableProperties(actual),
      pointInTimeRecovery: { enabled: recovery === "ENABLED" },
      ...(ttlOn && { ttl: { enabled: true, attributeName: ttl.TimeToLiveDescription?.AttributeName } }),
      tagsAll: tagsFrom(tags.Tags),
    };
  },

  async update(aws, id, change) {
    for (const call of tableChanges(change)) {
      await aws.dynamodb.send(new UpdateTableCommand({ TableName: id, ...call }));
      await ready(aws, id);
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
