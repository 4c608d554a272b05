import { type Cases, kept, type Requested, removals, tenantNamespace } from "./admission-request.ts";
import { cluster, from } from "./tenant-orders.ts";

/** Orders by ACK's kinds from a tenant's namespace, and what tools/base/policies/tenant-ack.yaml says of them. */

const own = `${cluster}_${tenantNamespace}`;
const others = `${cluster}_billing`;
const prefix = "services.k8s.aws/";

type Fields = Readonly<Record<string, unknown>>;
type Annotations = Readonly<Record<string, string>>;

const ordered = (service: string, kind: string, spec: Fields, annotations: Annotations = {}): Requested => ({
  apiVersion: `${service}.services.k8s.aws/v1alpha1`,
  kind,
  metadata: { name: "trial", namespace: tenantNamespace, annotations },
  spec,
});
const table = (tableName: string, more: Fields = {}, annotations: Annotations = {}): Requested =>
  ordered(
    "dynamodb",
    "Table",
    {
      ...{ tableName, billingMode: "PAY_PER_REQUEST" },
      attributeDefinitions: [{ attributeName: "id", attributeType: "S" }],
      keySchema: [{ attributeName: "id", keyType: "HASH" }],
      ...more,
    },
    annotations,
  );
const queue = (queueName: string, more: Fields = {}, annotations: Annotations = {}): Requested =>
  ordered("sqs", "Queue", { queueName, ...more }, annotations);
/** A table of its own with an annotation of ACK. */
const annotated = (name: string, value: string): Requested =>
  table(`${own}_orders`, {}, { [`${prefix}${name}`]: value });

const arn = (name: string, account = "000000000000", region = "us-east-1") =>
  `arn:aws:sqs:${region}:${account}:${name}`;
const redrive = (deadLetterTargetArn: string) => JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 5 });
const controller = (service: string) => `system:serviceaccount:ack-${service}:ack-${service}-controller`;

const named: Cases = [
  { title: "a table by ACK", object: table(`${own}_orders`) },
  { title: "a queue by ACK", object: queue(`${own}_q`, { sqsManagedSSEEnabled: "true" }) },
  { title: "a FIFO queue by ACK", object: queue(`${own}_q.fifo`, { fifoQueue: "true" }) },
  {
    title: "a table by ACK in a namespace of the platform",
    object: { ...table("audit"), metadata: { name: "trial", namespace: "flux-system" } },
  },
  ...Object.entries({
    "another's table": `${others}_t`,
    "a table of another cluster": `${cluster}-2_${tenantNamespace}_t`,
    "a table whose name only begins alike": `${own}2_t`,
    "a table by its ARN": `arn:aws:dynamodb:us-east-1:999999999999:table/${own}_t`,
    "a table behind another's name": `${others}/${own}_t`,
  }).map(([title, name]) => ({
    title: `${title} by ACK`,
    object: table(name),
    refused: `spec.tableName must be ${own} or begin with ${own}_; got ${name}`,
  })),
  {
    title: "another's queue by ACK",
    object: queue(`${others}_q`),
    refused: `spec.queueName must be ${own} or begin with ${own}_; got ${others}_q`,
  },
];

const kinds: Cases = [
  ...[
    ordered("dynamodb", "Backup", { backupName: "b", tableName: `${own}_t` }),
    ordered("dynamodb", "GlobalTable", { globalTableName: `${own}_t` }),
  ].map((object) => ({
    title: `a ${object.kind} by ACK`,
    object,
    refused: `an application can order Queue and Table by kinds of ACK; got ${object.kind}`,
  })),
  {
    title: "an export of a field by ACK",
    object: {
      ...ordered("", "FieldExport", {
        from: { path: ".spec.tableName", resource: { group: "dynamodb.services.k8s.aws", kind: "Table", name: "t" } },
        to: { kind: "secret", name: "s", namespace: "flux-system" },
      }),
      apiVersion: "services.k8s.aws/v1alpha1",
    },
    refused: "an application can order Queue and Table by kinds of ACK; got FieldExport",
  },
  {
    title: "a table by ACK from a namespace that may order tables",
    object: from("ledger", table(`${cluster}_ledger_t`)),
  },
  {
    title: "a queue by ACK from a namespace that may order tables",
    object: from("ledger", queue(`${cluster}_ledger_q`)),
    refused:
      "in AWS the namespace ledger may order dynamodb.Table: its annotation fleet.internal/aws-kinds decides, which the governance team sets in gitops-workloads; got sqs.Queue",
  },
  {
    title: "a table by ACK from a namespace that may order nothing",
    object: from("website", table(`${cluster}_website_t`)),
    refused: "in AWS the namespace website may order nothing: its annotation",
  },
];

const onlyThese = "of annotations with services.k8s.aws/ an application may set deletion-policy to delete or retain";

const annotations: Cases = [
  { title: "a table by ACK that stays in AWS", object: annotated("deletion-policy", "retain") },
  { title: "a table by ACK that goes with its object", object: annotated("deletion-policy", "delete") },
  { title: "a table by ACK that may be there already", object: annotated("adoption-policy", "adopt-or-create") },
  {
    title: "a table by ACK with other annotations",
    object: table(`${own}_t`, {}, { "example.com/owner": "payments" }),
  },
  ...Object.entries({
    "of another account": ["owner-account-id", "999999999999"],
    "of another team": ["team-id", "billing"],
    "in another region": ["region", "eu-west-1"],
    "in another region by default": ["default-region", "eu-west-1"],
    "at another endpoint": ["endpoint-url", "https://dynamodb.evil.example"],
    "that is another's by the fields to find it by": ["adoption-fields", `{"tableName":"${others}_t"}`],
    "that is only taken over": ["adoption-policy", "adopt"],
    "that is said to be taken over": ["adopted", "true"],
    "that is only read": ["read-only", "true"],
    "with a policy that ACK does not know": ["deletion-policy", "orphan"],
  }).map(([title, [name = "", value = ""]]) => ({
    title: `a table by ACK ${title}`,
    object: annotated(name, value),
    refused: `leave the others out, got ${prefix}${name}: ${value}`,
  })),
  {
    title: "another's queue by ACK, by the URL to find it by",
    object: queue(
      `${own}_q`,
      {},
      {
        [`${prefix}adoption-policy`]: "adopt-or-create",
        [`${prefix}adoption-fields`]: `{"queueURL":"https://sqs.us-east-1.amazonaws.com/000000000000/${others}_q"}`,
      },
    ),
    refused: onlyThese,
  },
  {
    title: "an annotation of one of ACK's services",
    object: table(`${own}_t`, {}, { "dynamodb.services.k8s.aws/owner-account-id": "999999999999" }),
    refused: onlyThese,
  },
];

const withKey = (kmsMasterKeyID: string) => ({ enabled: true, sseType: "KMS", kmsMasterKeyID });

const shared: Cases = [
  { title: "a queue by ACK whose policies are empty", object: queue(`${own}_q`, { policy: "", redrivePolicy: "" }) },
  {
    title: "a queue by ACK with a policy that lets others in",
    object: queue(`${own}_q`, { policy: '{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:*"}]}' }),
    refused: "a Queue of an application has no policy of its own: leave spec.policy and policyRef out",
  },
  {
    title: "a queue by ACK with a policy that it refers to",
    object: queue(`${own}_q`, { policyRef: { from: { name: "open", namespace: "billing" } } }),
    refused: "a Queue of an application has no policy of its own",
  },
  {
    title: "a table by ACK with a policy that lets others in",
    object: table(`${own}_t`, { resourcePolicy: '{"Statement":[]}' }),
    refused: "a Table of an application has no policy of its own: leave spec.resourcePolicy out",
  },
  {
    title: "a queue by ACK with a key that it refers to",
    object: queue(`${own}_q`, { kmsMasterKeyRef: { from: { name: "key", namespace: "billing" } } }),
    refused: "a Queue of an application refers to no other object: leave kmsMasterKeyRef out",
  },
  {
    title: "a table by ACK with a key that it refers to",
    object: table(`${own}_t`, { sseSpecification: { enabled: true, kmsMasterKeyRef: { from: { name: "key" } } } }),
    refused: "a Table of an application refers to no other object",
  },
  {
    title: "a table by ACK that AWS's own key in KMS encrypts",
    object: table(`${own}_t`, { sseSpecification: { enabled: true, sseType: "KMS" } }),
  },
  {
    title: "a table by ACK with a key by its name",
    object: table(`${own}_t`, { sseSpecification: withKey("alias/tables") }),
    refused: "tables are encrypted by AWS's own key: leave spec.sseSpecification.kmsMasterKeyID out",
  },
  {
    title: "a queue by ACK with a key by its name",
    object: queue(`${own}_q`, { kmsMasterKeyID: "alias/queues" }),
  },
  ...["ENABLE", "DISABLE"].map((contributorInsights) => ({
    title: `a table by ACK that says ${contributorInsights} of its insights`,
    object: table(`${own}_t`, { contributorInsights }),
    refused:
      "the controller may not turn CloudWatch Contributor Insights on or off: leave spec.contributorInsights out",
  })),
  {
    title: "a table by ACK with a copy in another region",
    object: table(`${own}_t`, { tableReplicas: [{ regionName: "eu-west-1" }] }),
    refused: "tables are in the region of their cluster: leave spec.tableReplicas out",
  },
  {
    title: "a dead letter queue of its own, by ACK",
    object: queue(`${own}_q`, { redrivePolicy: redrive(arn(`${own}_dead`)) }),
  },
  ...Object.entries({
    "another's dead letter queue": { redrivePolicy: redrive(arn(`${others}_dead`)) },
    "a dead letter queue of another account": { redrivePolicy: redrive(arn(`${own}_dead`, "999999999999")) },
    "a dead letter queue of another region": { redrivePolicy: redrive(arn(`${own}_dead`, undefined, "eu-west-1")) },
    "dead letters of another's queues": {
      redriveAllowPolicy: `{"redrivePermission":"byQueue","sourceQueueArns":["${arn(`${others}_q`)}"]}`,
    },
  }).map(([title, more]) => ({
    title: `${title}, by ACK`,
    object: queue(`${own}_q`, more),
    refused: "redrivePolicy and redriveAllowPolicy may name queues of the namespace only",
  })),
];

const before = kept(table(`${own}_t`));
const awsKey = { sseSpecification: withKey("alias/aws/dynamodb") };
const ofKey = kept(table(`${own}_t`, awsKey));
const adopted = { [`${prefix}adopted`]: "true" };
const adoptedBefore = kept(table(`${own}_t`, {}, { [`${prefix}adoption-policy`]: "adopt-or-create" }));

const changed: Cases = [
  {
    title: "a table by ACK that gets backups",
    from: before,
    object: kept(table(`${own}_t`, { continuousBackups: { pointInTimeRecoveryEnabled: true } })),
  },
  {
    title: "a table by ACK that becomes another one of its own",
    from: before,
    object: kept(table(`${own}_t2`)),
    refused: `spec.tableName is the name in AWS and can not be changed: it is ${own}_t, got ${own}_t2; order another Table for another name`,
  },
  {
    title: "a table by ACK that comes to be another's by an annotation",
    from: before,
    object: kept(annotated("adoption-fields", `{"tableName":"${others}_t"}`)),
    refused: "spec.tableName is the name in AWS",
  },
  {
    title: "the controller's note that it found a table",
    from: adoptedBefore,
    object: kept(table(`${own}_t`, {}, { ...adoptedBefore.metadata.annotations, ...adopted })),
    by: controller("dynamodb"),
  },
  {
    title: "the note of another controller that it found a table",
    from: adoptedBefore,
    object: kept(table(`${own}_t`, {}, { ...adoptedBefore.metadata.annotations, ...adopted })),
    by: controller("sqs"),
    refused: onlyThese,
  },
  {
    title: "another's table by ACK, also by its controller",
    from: before,
    object: kept(table(`${own}_t`, {}, { [`${prefix}adoption-fields`]: `{"tableName":"${others}_t"}` })),
    by: controller("dynamodb"),
    refused: onlyThese,
  },
  {
    title: "the key that the controller found at a table, when it writes it down",
    from: before,
    object: ofKey,
    by: controller("dynamodb"),
  },
  {
    title: "insights into a table by ACK, later",
    from: before,
    object: kept(table(`${own}_t`, { contributorInsights: "ENABLE" })),
    refused: "leave spec.contributorInsights out",
  },
  ...removals(table(`${own}_t`), table(`${own}_t`, { billingMode: "PROVISIONED" }), "is being removed: its spec and"),
  {
    title: "what its controller writes to a table by ACK that is being removed",
    from: before,
    leaving: true,
    object: kept(table(`${own}_t`, { tableClass: "STANDARD" })),
    by: controller("dynamodb"),
  },
];

/** Kinds that the tests' API server does not have. */
const absent = ["Backup", "GlobalTable"];

/** Requests about an object that is as the policy would not let it in today: with what its controller wrote into it. */
export const foundBefore: Cases = [
  {
    title: "another change of a table whose key its controller wrote down",
    from: ofKey,
    object: kept(table(`${own}_t`, { ...awsKey, continuousBackups: { pointInTimeRecoveryEnabled: true } })),
  },
  {
    title: "another key of a table by ACK",
    from: ofKey,
    object: kept(table(`${own}_t`, { sseSpecification: withKey("alias/tables") })),
    refused: "leave spec.sseSpecification.kmsMasterKeyID out",
  },
  {
    title: "a table by ACK that its controller found",
    from: kept(table(`${own}_t`, {}, adopted)),
    object: kept(table(`${own}_t`, { continuousBackups: { pointInTimeRecoveryEnabled: true } }, adopted)),
  },
  {
    title: "another note than the controller's",
    from: kept(table(`${own}_t`, {}, adopted)),
    object: kept(table(`${own}_t`, {}, { [`${prefix}adopted`]: "false" })),
    refused: onlyThese,
  },
];

/** Requests for kinds that applications are not offered, and that are not installed. */
export const otherKinds: Cases = kinds.filter(({ object }) => absent.includes(object.kind));

export const tenantAck: Cases = [
  ...named,
  ...kinds.filter(({ object }) => !absent.includes(object.kind)),
  ...annotations,
  ...shared,
  ...changed,
];
