/** Table (aws-controllers-k8s/dynamodb-controller v1.9.2, pkg/resource/table). */
import { dynamodbResources } from "../../aws/dynamodb.ts";
import type { Properties, Tags } from "../../aws/properties.ts";
import { notBuilt, notTaken } from "../halt.ts";
import { handlerBy, type Kind } from "./kind.ts";

const handler = handlerBy(dynamodbResources, "aws:dynamodb/table:Table");

interface TableSpec {
  readonly tableName?: string;
  readonly attributeDefinitions?: readonly { readonly attributeName: string; readonly attributeType: string }[];
  readonly keySchema?: readonly { readonly attributeName: string; readonly keyType: string }[];
  readonly billingMode?: string;
  readonly provisionedThroughput?: { readonly readCapacityUnits?: number; readonly writeCapacityUnits?: number };
  readonly continuousBackups?: { readonly pointInTimeRecoveryEnabled?: boolean };
  readonly deletionProtectionEnabled?: boolean;
  readonly sseSpecification?: {
    readonly enabled?: boolean;
    readonly kmsMasterKeyID?: string;
    readonly kmsMasterKeyRef?: object;
    readonly sseType?: string;
  };
  readonly tableClass?: string;
  readonly tags?: readonly { readonly key: string; readonly value: string }[];
  readonly timeToLive?: { readonly attributeName?: string; readonly enabled?: boolean };
}

/** Fields that the AWS definition has nothing for. */
const others = [
  "contributorInsights",
  "globalSecondaryIndexes",
  "localSecondaryIndexes",
  "onDemandThroughput",
  "resourcePolicy",
  "streamSpecification",
  "tableReplicas",
];

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0);

function refuseOthers(spec: Properties): void {
  const { sseSpecification: sse, tableClass } = spec as TableSpec;
  const found = others.filter((name) => isSet(spec[name]));
  if (found.length > 0) throw notBuilt(`spec.${found[0]} is given`);
  if (tableClass !== undefined && tableClass !== "STANDARD") throw notBuilt(`spec.tableClass is ${tableClass}`);
  if (sse?.kmsMasterKeyRef) throw notBuilt("spec.sseSpecification.kmsMasterKeyRef refers to another object");
  // SSESpecification of DynamoDB's API: "SSEType: The only supported value is KMS".
  if (sse?.sseType !== undefined && sse.sseType !== "KMS")
    throw notTaken("sseSpecification.sseType", `is KMS or left out, got ${sse.sseType}`);
}

/** DynamoDB takes a throughput with PROVISIONED, the default, and none with PAY_PER_REQUEST. */
function throughput({ billingMode = "PROVISIONED", provisionedThroughput }: TableSpec): Properties {
  if (billingMode !== "PROVISIONED") return { billingMode };
  const { readCapacityUnits: readCapacity, writeCapacityUnits: writeCapacity } = provisionedThroughput ?? {};
  if (!readCapacity || !writeCapacity)
    throw notTaken(
      "provisionedThroughput",
      "has readCapacityUnits and writeCapacityUnits where billingMode is PROVISIONED",
    );
  return { billingMode, readCapacity, writeCapacity };
}

function inputsOf(spec: Properties): Properties {
  refuseOthers(spec);
  const table = spec as TableSpec;
  const { attributeDefinitions = [], keySchema = [], sseSpecification: sse, timeToLive: ttl } = table;
  const key = (type: string) => keySchema.find(({ keyType }) => keyType === type)?.attributeName;
  const rangeKey = key("RANGE");
  return {
    name: table.tableName,
    hashKey: key("HASH"),
    ...(rangeKey && { rangeKey }),
    attributes: attributeDefinitions.map(({ attributeName: name, attributeType: type }) => ({ name, type })),
    ...throughput(table),
    // Left out means off (hooks.go, customPreCompare).
    deletionProtectionEnabled: table.deletionProtectionEnabled ?? false,
    pointInTimeRecovery: { enabled: table.continuousBackups?.pointInTimeRecoveryEnabled ?? false },
    ...(sse && {
      serverSideEncryption: {
        enabled: sse.enabled ?? false,
        ...(sse.kmsMasterKeyID && { kmsKeyArn: sse.kmsMasterKeyID }),
      },
    }),
    ...(ttl && { ttl: { enabled: ttl.enabled ?? false, attributeName: ttl.attributeName } }),
  };
}

/** Upstream's call lacks the attribute's name then, which DynamoDB's client asks for, and the error goes unseen (customUpdateTable, syncTTL). */
function isExpiryStuck(inputs: Properties, actual: Properties): boolean {
  const [wanted, found] = [inputs, actual].map(({ ttl }) => ttl as TableSpec["timeToLive"]);
  return wanted?.attributeName === undefined && (wanted?.enabled ?? false) !== (found?.enabled ?? false);
}

function compared(inputs: Properties, actual: Properties): readonly string[] {
  const names = Object.keys(inputs).filter((name) => name !== "name" && name !== "ttl");
  if (!isExpiryStuck(inputs, actual)) names.push("ttl");
  const wanted = inputs["serverSideEncryption"] as { enabled?: boolean } | undefined;
  const isEncrypted = actual["serverSideEncryption"] !== undefined;
  // Upstream asks AWS for a change without naming one then.
  if (!wanted && isEncrypted)
    throw new Error("cannot update table: AWS encrypts it with a key in KMS, and the manifest has no sseSpecification");
  const isSame = wanted?.enabled === false && !isEncrypted;
  return names.filter((name) => name !== "serverSideEncryption" || !isSame);
}

export const table: Kind = {
  service: "dynamodb",
  handler,
  idOf: ({ spec }) => (spec as TableSpec).tableName,
  inputsOf,
  tagsOf: ({ tags = [] }: Properties): Tags =>
    Object.fromEntries((tags as NonNullable<TableSpec["tags"]>).map(({ key, value }) => [key, value])),
  compared,
  staysBusy: isExpiryStuck,
  statusOf: (_id, tableStatus) => ({ tableStatus }),
  terminalCodes: ["InvalidParameter", "ValidationException"],
  settles: true,
};
