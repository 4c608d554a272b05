/**
 * The definitions of ACK's kinds that applications order, with the fields that upstream's have (aws-controllers-k8s/dynamodb-controller v1.9.2,
 * helm/crds/dynamodb.services.k8s.aws_tables.yaml; sqs-controller v1.6.1, helm/crds/sqs.services.k8s.aws_queues.yaml; fieldexports of both). Their
 * charts can't be downloaded here.
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

function definition(group: string, kind: string, spec: Schema) {
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
          schema: {
            openAPIV3Schema: object({
              ...texts("apiVersion kind"),
              metadata: { type: "object" },
              spec,
              status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            }),
          },
        },
      ],
    },
  };
}

/** Definitions as an API server takes them. */
export const ackDefinitions = [
  definition("dynamodb.services.k8s.aws", "Table", table),
  definition("sqs.services.k8s.aws", "Queue", queue),
  definition("services.k8s.aws", "FieldExport", fieldExport),
];

/** Paths of a manifest's spec that the kind does not have. */
export function unknownFields({
  apiVersion,
  kind,
  spec,
}: {
  apiVersion: string;
  kind: string;
  spec?: unknown;
}): string[] {
  const known = ackDefinitions.find(
    (each) => each.spec.names.kind === kind && apiVersion === `${each.spec.group}/v1alpha1`,
  );
  const schema = known?.spec.versions[0]?.schema.openAPIV3Schema.properties as { spec?: Schema } | undefined;
  if (schema?.spec === undefined) throw new Error(`${apiVersion} ${kind} is not defined here`);
  return unknownIn(spec, schema.spec, "spec");
}

function unknownIn(value: unknown, schema: Schema, path: string): string[] {
  if (Array.isArray(value))
    return value.flatMap((each, index) => unknownIn(each, schema["items"] as Schema, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return typeof value === schema["type"] ? [] : [path];
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Schema>>;
  const rest = schema["additionalProperties"] as Schema | undefined;
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = properties[name] ?? rest;
    return field === undefined ? [`${path}.${name}`] : unknownIn(inner, field, `${path}.${name}`);
  });
}
