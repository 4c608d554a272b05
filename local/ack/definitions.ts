/**
 * The definitions of ACK's kinds that applications order, with the fields that upstream's have (aws-controllers-k8s/dynamodb-controller v1.9.2,
 * helm/crds/dynamodb.services.k8s.aws_tables.yaml; sqs-controller v1.6.1, helm/crds/sqs.services.k8s.aws_queues.yaml; fieldexports of both). Of the
 * status they have what every kind of ACK has, and what the stand-in writes besides.
 */

type Schema = Readonly<Record<string, unknown>>;

const text = { type: "string" };
const flag = { type: "boolean" };
const count = { type: "integer", format: "int64" };
const object = (properties: Schema, more: Schema = {}) => ({ type: "object", properties, ...more });
const list = (items: Schema) => ({ type: "array", items });
const texts = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, text]));
const immutable = { "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "Value is immutable once set" }] };

const reference = object({ from: object(texts("name namespace")) });
const keySchema = list(object(texts("attributeName keyType")));
const onDemand = object({ maxReadRequestUnits: count, maxWriteRequestUnits: count });
const throughput = object({ readCapacityUnits: count, writeCapacityUnits: count });
const projection = object({ nonKeyAttributes: list(text), projectionType: text });
const override = object({ readCapacityUnits: count });

const table = object(
  {
    ...texts("billingMode contributorInsights resourcePolicy tableClass tableName"),
    attributeDefinitions: list(object(texts("attributeName attributeType"))),
    continuousBackups: object({ pointInTimeRecoveryEnabled: flag }),
    deletionProtectionEnabled: flag,
    globalSecondaryIndexes: list(
      object({
        ...{ indexName: text, keySchema, projection },
        ...{ onDemandThroughput: onDemand, provisionedThroughput: throughput },
      }),
    ),
    keySchema: { ...keySchema, ...immutable },
    localSecondaryIndexes: { ...list(object({ indexName: text, keySchema, projection })), ...immutable },
    onDemandThroughput: onDemand,
    provisionedThroughput: throughput,
    sseSpecification: object({ enabled: flag, ...texts("kmsMasterKeyID sseType"), kmsMasterKeyRef: reference }),
    streamSpecification: object({ streamEnabled: flag, streamViewType: text }),
    tableReplicas: list(
      object({
        ...texts("kmsMasterKeyID regionName tableClassOverride"),
        globalSecondaryIndexes: list(object({ indexName: text, provisionedThroughputOverride: override })),
        provisionedThroughputOverride: override,
      }),
    ),
    tags: list(object(texts("key value"))),
    timeToLive: object({ attributeName: text, enabled: flag }),
  },
  { required: ["attributeDefinitions", "keySchema", "tableName"] },
);

const queue = object(
  {
    ...texts("contentBasedDeduplication deduplicationScope delaySeconds fifoQueue fifoThroughputLimit"),
    ...texts("kmsDataKeyReusePeriodSeconds kmsMasterKeyID maximumMessageSize messageRetentionPeriod policy"),
    ...texts("receiveMessageWaitTimeSeconds redriveAllowPolicy redrivePolicy sqsManagedSSEEnabled visibilityTimeout"),
    kmsMasterKeyRef: reference,
    policyRef: reference,
    queueName: { ...text, ...immutable },
    tags: { type: "object", additionalProperties: text },
  },
  { required: ["queueName"] },
);

const fieldExport = object({
  from: object({ path: text, resource: object(texts("group kind name")) }),
  to: object(texts("key kind name namespace")),
});

/** aws-controllers-k8s/runtime v0.62.0, apis/core/v1alpha1: resource_metadata.go, conditions.go. */
const status = {
  ackResourceMetadata: object(texts("arn ownerAccountID partition region"), { required: ["ownerAccountID", "region"] }),
  conditions: list(
    object(
      { ...texts("message reason status type"), lastTransitionTime: { type: "string", format: "date-time" } },
      { required: ["status", "type"] },
    ),
  ),
};

const synced = {
  ...{ name: "Synced", type: "string" },
  jsonPath: '.status.conditions[?(@.type=="ACK.ResourceSynced")].status',
};
const age = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

function definition(group: string, kind: string, spec: Schema, own: Schema = {}) {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      scope: "Namespaced",
      versions: [
        {
          ...{ name: "v1alpha1", served: true, storage: true, subresources: { status: {} } },
          additionalPrinterColumns: [synced, age],
          schema: {
            openAPIV3Schema: object({
              ...texts("apiVersion kind"),
              metadata: { type: "object" },
              spec,
              status: object({ ...status, ...own }),
            }),
          },
        },
      ],
    },
  };
}

export type Definition = ReturnType<typeof definition>;

/** Of the kinds that the stand-in serves, by ACK's name of their service. */
export const served = {
  dynamodb: definition("dynamodb.services.k8s.aws", "Table", table, { tableStatus: text }),
  sqs: definition("sqs.services.k8s.aws", "Queue", queue, { queueURL: text }),
} as const;

export type Service = keyof typeof served;
export const services = Object.keys(served) as readonly Service[];

/** Those, and one that upstream's charts bring too and the stand-in has no part in: fields that are exported to Secrets and ConfigMaps. */
export const ackDefinitions: readonly Definition[] = [
  ...Object.values(served),
  definition("services.k8s.aws", "FieldExport", fieldExport),
];
