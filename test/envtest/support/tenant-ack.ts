import { allows, type Cases, kept, type Requested, refuses, removals, tenantNamespace } from "./admission-request.ts";
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
  allows("a table by ACK")(table(`${own}_orders`)),
  allows("a queue by ACK")(queue(`${own}_q`, { sqsManagedSSEEnabled: "true" })),
  allows("a FIFO queue by ACK")(queue(`${own}_q.fifo`, { fifoQueue: "true" })),
  allows("a table by ACK in a namespace of the platform")({
    ...table("audit"),
    metadata: { name: "trial", namespace: "flux-system" },
  }),
  ...Object.entries({
    "another's table": `${others}_t`,
    "a table of another cluster": `${cluster}-2_${tenantNamespace}_t`,
    "a table whose name only begins alike": `${own}2_t`,
    "a table by its ARN": `arn:aws:dynamodb:us-east-1:999999999999:table/${own}_t`,
    "a table behind another's name": `${others}/${own}_t`,
  }).map(([title, name]) =>
    refuses(`${title} by ACK`, `spec.tableName must be ${own} or begin with ${own}_; got ${name}`)(table(name)),
  ),
  refuses(
    "another's queue by ACK",
    `spec.queueName must be ${own} or begin with ${own}_; got ${others}_q`,
  )(queue(`${others}_q`)),
];

const kinds: Cases = [
  ...[
    ordered("dynamodb", "Backup", { backupName: "b", tableName: `${own}_t` }),
    ordered("dynamodb", "GlobalTable", { globalTableName: `${own}_t` }),
  ].map((object) =>
    refuses(
      `a ${object.kind} by ACK`,
      `an application can order Queue and Table by kinds of ACK; got ${object.kind}`,
    )(object),
  ),
  refuses(
    "an export of a field by ACK",
    "an application can order Queue and Table by kinds of ACK; got FieldExport",
  )({
    ...ordered("", "FieldExport", {
      from: { path: ".spec.tableName", resource: { group: "dynamodb.services.k8s.aws", kind: "Table", name: "t" } },
      to: { kind: "secret", name: "s", namespace: "flux-system" },
    }),
    apiVersion: "services.k8s.aws/v1alpha1",
  }),
  allows("a table by ACK from a namespace that may order tables")(from("ledger", table(`${cluster}_ledger_t`))),
  refuses(
    "a queue by ACK from a namespace that may order tables",
    "in AWS the namespace ledger may order dynamodb.Table: its annotation fleet.internal/aws-kinds decides, which the governance team sets in gitops-workloads; got sqs.Queue",
  )(from("ledger", queue(`${cluster}_ledger_q`))),
  refuses(
    "a table by ACK from a namespace that may order nothing",
    "in AWS the namespace website may order nothing: its annotation",
  )(from("website", table(`${cluster}_website_t`))),
];

const onlyThese = "of annotations with services.k8s.aws/ an application may set deletion-policy to delete or retain";

const annotations: Cases = [
  allows("a table by ACK that stays in AWS")(annotated("deletion-policy", "retain")),
  allows("a table by ACK that goes with its object")(annotated("deletion-policy", "delete")),
  allows("a table by ACK that may be there already")(annotated("adoption-policy", "adopt-or-create")),
  allows("a table by ACK with other annotations")(table(`${own}_t`, {}, { "example.com/owner": "payments" })),
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
  }).map(([title, [name = "", value = ""]]) =>
    refuses(`a table by ACK ${title}`, `leave the others out, got ${prefix}${name}: ${value}`)(annotated(name, value)),
  ),
  refuses(
    "another's queue by ACK, by the URL to find it by",
    onlyThese,
  )(
    queue(
      `${own}_q`,
      {},
      {
        [`${prefix}adoption-policy`]: "adopt-or-create",
        [`${prefix}adoption-fields`]: `{"queueURL":"https://sqs.us-east-1.amazonaws.com/000000000000/${others}_q"}`,
      },
    ),
  ),
  refuses(
    "an annotation of one of ACK's services",
    onlyThese,
  )(table(`${own}_t`, {}, { "dynamodb.services.k8s.aws/owner-account-id": "999999999999" })),
];

const withKey = (kmsMasterKeyID: string) => ({ enabled: true, sseType: "KMS", kmsMasterKeyID });

const shared: Cases = [
  allows("a queue by ACK whose policies are empty")(queue(`${own}_q`, { policy: "", redrivePolicy: "" })),
  refuses(
    "a queue by ACK with a policy that lets others in",
    "a Queue of an application has no policy of its own: leave spec.policy and policyRef out",
  )(queue(`${own}_q`, { policy: '{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:*"}]}' })),
  refuses(
    "a queue by ACK with a policy that it refers to",
    "a Queue of an application has no policy of its own",
  )(queue(`${own}_q`, { policyRef: { from: { name: "open", namespace: "billing" } } })),
  refuses(
    "a table by ACK with a policy that lets others in",
    "a Table of an application has no policy of its own: leave spec.resourcePolicy out",
  )(table(`${own}_t`, { resourcePolicy: '{"Statement":[]}' })),
  refuses(
    "a queue by ACK with a key that it refers to",
    "a Queue of an application refers to no other object: leave kmsMasterKeyRef out",
  )(queue(`${own}_q`, { kmsMasterKeyRef: { from: { name: "key", namespace: "billing" } } })),
  refuses(
    "a table by ACK with a key that it refers to",
    "a Table of an application refers to no other object",
  )(table(`${own}_t`, { sseSpecification: { enabled: true, kmsMasterKeyRef: { from: { name: "key" } } } })),
  allows("a table by ACK that AWS's own key in KMS encrypts")(
    table(`${own}_t`, { sseSpecification: { enabled: true, sseType: "KMS" } }),
  ),
  refuses(
    "a table by ACK with a key by its name",
    "tables are encrypted by AWS's own key: leave spec.sseSpecification.kmsMasterKeyID out",
  )(table(`${own}_t`, { sseSpecification: withKey("alias/tables") })),
  allows("a queue by ACK with a key by its name")(queue(`${own}_q`, { kmsMasterKeyID: "alias/queues" })),
  ...["ENABLE", "DISABLE"].map((contributorInsights) =>
    refuses(
      `a table by ACK that says ${contributorInsights} of its insights`,
      "the controller may not turn CloudWatch Contributor Insights on or off: leave spec.contributorInsights out",
    )(table(`${own}_t`, { contributorInsights })),
  ),
  refuses(
    "a table by ACK with a copy in another region",
    "tables are in the region of their cluster: leave spec.tableReplicas out",
  )(table(`${own}_t`, { tableReplicas: [{ regionName: "eu-west-1" }] })),
  allows("a dead letter queue of its own, by ACK")(queue(`${own}_q`, { redrivePolicy: redrive(arn(`${own}_dead`)) })),
  ...Object.entries({
    "another's dead letter queue": { redrivePolicy: redrive(arn(`${others}_dead`)) },
    "a dead letter queue of another account": { redrivePolicy: redrive(arn(`${own}_dead`, "999999999999")) },
    "a dead letter queue of another region": { redrivePolicy: redrive(arn(`${own}_dead`, undefined, "eu-west-1")) },
    "dead letters of another's queues": {
      redriveAllowPolicy: `{"redrivePermission":"byQueue","sourceQueueArns":["${arn(`${others}_q`)}"]}`,
    },
  }).map(([title, more]) =>
    refuses(
      `${title}, by ACK`,
      "redrivePolicy and redriveAllowPolicy may name queues of the namespace only",
    )(queue(`${own}_q`, more)),
  ),
];

const before = kept(table(`${own}_t`));
const awsKey = { sseSpecification: withKey("alias/aws/dynamodb") };
const ofKey = kept(table(`${own}_t`, awsKey));
const adopted = { [`${prefix}adopted`]: "true" };
const adoptedBefore = kept(table(`${own}_t`, {}, { [`${prefix}adoption-policy`]: "adopt-or-create" }));

const changed: Cases = [
  allows("a table by ACK that gets backups", { from: before })(
    kept(table(`${own}_t`, { continuousBackups: { pointInTimeRecoveryEnabled: true } })),
  ),
  refuses(
    "a table by ACK that becomes another one of its own",
    `spec.tableName is the name in AWS and can not be changed: it is ${own}_t, got ${own}_t2; order another Table for another name`,
    { from: before },
  )(kept(table(`${own}_t2`))),
  refuses("a table by ACK that comes to be another's by an annotation", "spec.tableName is the name in AWS", {
    from: before,
  })(kept(annotated("adoption-fields", `{"tableName":"${others}_t"}`))),
  allows("the controller's note that it found a table", { from: adoptedBefore, by: controller("dynamodb") })(
    kept(table(`${own}_t`, {}, { ...adoptedBefore.metadata.annotations, ...adopted })),
  ),
  refuses("the note of another controller that it found a table", onlyThese, {
    from: adoptedBefore,
    by: controller("sqs"),
  })(kept(table(`${own}_t`, {}, { ...adoptedBefore.metadata.annotations, ...adopted }))),
  refuses("another's table by ACK, also by its controller", onlyThese, { from: before, by: controller("dynamodb") })(
    kept(table(`${own}_t`, {}, { [`${prefix}adoption-fields`]: `{"tableName":"${others}_t"}` })),
  ),
  allows("the key that the controller found at a table, when it writes it down", {
    from: before,
    by: controller("dynamodb"),
  })(ofKey),
  refuses("insights into a table by ACK, later", "leave spec.contributorInsights out", { from: before })(
    kept(table(`${own}_t`, { contributorInsights: "ENABLE" })),
  ),
  ...removals(table(`${own}_t`), table(`${own}_t`, { billingMode: "PROVISIONED" }), "is being removed: its spec and"),
  allows("what its controller writes to a table by ACK that is being removed", {
    from: before,
    leaving: true,
    by: controller("dynamodb"),
  })(kept(table(`${own}_t`, { tableClass: "STANDARD" }))),
];

/** Kinds that the tests' API server does not have. */
const absent = ["Backup", "GlobalTable"];

/** Requests about an object that is as the policy would not let it in today: with what its controller wrote into it. */
export const foundBefore: Cases = [
  allows("another change of a table whose key its controller wrote down", { from: ofKey })(
    kept(table(`${own}_t`, { ...awsKey, continuousBackups: { pointInTimeRecoveryEnabled: true } })),
  ),
  refuses("another key of a table by ACK", "leave spec.sseSpecification.kmsMasterKeyID out", { from: ofKey })(
    kept(table(`${own}_t`, { sseSpecification: withKey("alias/tables") })),
  ),
  allows("a table by ACK that its controller found", { from: kept(table(`${own}_t`, {}, adopted)) })(
    kept(table(`${own}_t`, { continuousBackups: { pointInTimeRecoveryEnabled: true } }, adopted)),
  ),
  refuses("another note than the controller's", onlyThese, { from: kept(table(`${own}_t`, {}, adopted)) })(
    kept(table(`${own}_t`, {}, { [`${prefix}adopted`]: "false" })),
  ),
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
