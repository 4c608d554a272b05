import { allows, type Cases, kept, type Requested, refuses, tenantNamespace } from "./admission-request.ts";

/** Orders in AWS from a tenant's namespace, and what tools/base/policies/tenant-resources.yaml says of them. */

export const cluster = "fleet-spoke-blue";
const own = `${cluster}_${tenantNamespace}`;
const others = `${cluster}_billing`;
const region = "us-east-1";

/** Crossplane's AWS provider for a service, on the spoke. */
export const provider = (service: "dynamodb" | "iam" | "rds" | "s3" | "sqs") =>
  `system:serviceaccount:crossplane-system:provider-aws-${service}`;

interface Order {
  readonly externalName?: string;
  readonly annotations?: Record<string, string>;
  readonly forProvider?: Record<string, unknown>;
  readonly initProvider?: Record<string, unknown>;
  readonly config?: string;
  readonly managementPolicies?: readonly string[];
}

/** Makes orders of a kind. */
export const order =
  (group: string, kind: string, inRegion: boolean) =>
  ({ externalName, forProvider = {}, config = "ProviderConfig", annotations = {}, ...spec }: Order): Requested => ({
    apiVersion: `${group}.aws.m.upbound.io/v1beta1`,
    kind,
    metadata: {
      name: "trial",
      namespace: tenantNamespace,
      annotations: { ...annotations, ...(externalName && { "crossplane.io/external-name": externalName }) },
    },
    spec: {
      ...spec,
      forProvider: { ...(inRegion && { region }), ...forProvider },
      providerConfigRef: { kind: config, name: "aws" },
    },
  });

const table = order("dynamodb", "Table", true);
const queue = order("sqs", "Queue", true);
const role = order("iam", "Role", false);
const rolePolicy = order("iam", "RolePolicy", false);

const url = (name: string, host = `sqs.${region}.amazonaws.com`, account = "000000000000") =>
  `https://${host}/${account}/${name}`;
const arn = (name: string, account = "000000000000") => `arn:aws:sqs:${region}:${account}:${name}`;
const redrive = (deadLetterTargetArn: string) => JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 5 });
const redriven = (redrivePolicy: string) => queue({ forProvider: { name: `${own}_q`, redrivePolicy } });
const policy = "{}";
const roleTags = { "eks-cluster-name": cluster, "kubernetes-namespace": tenantNamespace };

const dead = "arn:aws:sqs:us-east-1:999999999999:evil";
/** What would send the spoke's token to another host, or name another account's queue as the namespace's. */
export const hostileRegions = ["eu-north-1", "attacker.example/x#", `.*"|"${dead}`];

/** Kinds with a region and without other required fields. */
const regional = {
  Table: order("dynamodb", "Table", true),
  Queue: order("sqs", "Queue", true),
  Bucket: order("s3", "Bucket", true),
};

/** What the policy answers to a region in forProvider. */
export const otherRegion = (name: string): string =>
  `applications order in the region of their cluster only: set spec.forProvider.region and spec.initProvider.region to us-east-1, got ${name}`;

const inOtherRegions = (place: "forProvider" | "initProvider"): Cases =>
  Object.entries(regional).flatMap(([kind, make]) =>
    hostileRegions.map((name) =>
      refuses(
        `a ${kind} with the region ${name} in ${place}`,
        otherRegion(place === "initProvider" ? `us-east-1, ${name}` : name),
      )(
        make({
          ...(kind === "Table" && { externalName: `${own}_orders` }),
          [place]: { region: name, ...(kind === "Queue" && { redrivePolicy: redrive(dead) }) },
        }),
      ),
    ),
  );

/** The definitions of today have no such field, so that an API server drops it before it judges. */
export const initialRegions: Cases = inOtherRegions("initProvider");

const created: Cases = [
  allows("a table")(table({ externalName: `${own}_orders` })),
  allows("a queue that exists")(queue({ forProvider: { name: `${own}_q` }, externalName: url(`${own}_q`) })),
  allows("a FIFO queue")(queue({ forProvider: { name: `${own}_q.fifo`, fifoQueue: true } })),
  allows("its role")(role({ externalName: own, forProvider: { assumeRolePolicy: policy, tags: roleTags } })),
  ...Object.entries({
    "no tags": undefined,
    "no tag of its namespace": { "eks-cluster-name": cluster },
    "another cluster's tag": { ...roleTags, "eks-cluster-name": `${cluster}-2` },
    "another's tag": { ...roleTags, "kubernetes-namespace": "billing" },
  }).map(([title, tags]) =>
    refuses(
      `a role with ${title}`,
      `spec.forProvider.tags of a Role must have eks-cluster-name ${cluster} and kubernetes-namespace ${tenantNamespace}`,
    )(role({ externalName: own, forProvider: { assumeRolePolicy: policy, ...(tags && { tags }) } })),
  ),
  allows("a policy of its role")(rolePolicy({ externalName: "p", forProvider: { role: own, policy } })),
  allows("a policy of the role that it refers to")(
    rolePolicy({ externalName: "p", forProvider: { roleRef: { name: "payment-app" }, policy } }),
  ),
  allows("a table in a namespace of the platform")({
    ...table({ externalName: "audit" }),
    metadata: { name: "trial", namespace: "flux-system" },
  }),
  refuses(
    "another's table",
    `names in AWS must be ${own} or begin with ${own}_; got ${others}_t`,
  )(table({ externalName: `${others}_t` })),
  refuses("a name that only begins alike", `got ${own}2_t`)(table({ externalName: `${own}2_t` })),
  refuses("a name behind another's", "names in AWS")(table({ externalName: `${others}/${own}_t` })),
  refuses(
    "no name at all",
    "Table trial has no name in AWS of its own: set the annotation crossplane.io/external-name",
  )(table({})),
  refuses("a queue without a name", "set spec.forProvider.name to a name")(queue({})),
  refuses(
    "another's queue by the values that it is made with",
    `got ${others}_q`,
  )(queue({ initProvider: { name: `${others}_q` } })),
  ...[
    ["another's queue by its URL", url(`${others}_q`)],
    ["a queue on another host", url(`${own}_q`, "sqs.evil.example")],
    ["a queue of another region", url(`${own}_q`, "sqs.eu-west-1.amazonaws.com")],
    ["a queue of another account", url(`${own}_q`, undefined, "999999999999")],
    ["a queue by something that is not a URL", `${own}_q`],
    ["another's queue behind its own name", url(`${own}_q/${others}_q`)],
  ].map(([title = "", externalName = ""]) =>
    refuses(
      title,
      `, and URLs of queues with ${url(own)}; got `,
    )(queue({ forProvider: { name: `${own}_q` }, externalName })),
  ),
  refuses(
    "a policy of the spoke's own role",
    `got ${cluster}-crossplane`,
  )(rolePolicy({ externalName: "p", forProvider: { role: `${cluster}-crossplane`, policy } })),
  refuses(
    "an identity that is not the namespace's",
    "spec.providerConfigRef must name a ProviderConfig of the namespace, got ClusterProviderConfig",
  )(table({ externalName: `${own}_t`, config: "ClusterProviderConfig" })),
  refuses(
    "a kind that is not offered",
    "an application can order Bucket, BucketVersioning, Instance, Queue and Table, its governance Role and RolePolicy; got RolePolicyAttachment",
  )(
    order(
      "iam",
      "RolePolicyAttachment",
      false,
    )({ externalName: own, forProvider: { role: own, policyArn: "arn:aws:iam::aws:policy/AdministratorAccess" } }),
  ),
];

const foreignKey = "arn:aws:kms:us-east-1:999999999999:key/1";
/** What a table can be filled from and copied to, as Crossplane's definition of it has it. */
const copies: Readonly<Record<string, unknown>> = {
  globalTableWitness: { regionName: "us-west-2" },
  importTable: { inputFormat: "CSV", s3BucketSource: { bucket: "evil", bucketOwner: "999999999999" } },
  replica: [{ regionName: "attacker.example/x#" }],
  restoreBackupArn: `arn:aws:dynamodb:us-east-1:000000000000:table/${others}_t/backup/1`,
  restoreSourceName: `${others}_t`,
  restoreSourceTableArn: `arn:aws:dynamodb:us-west-2:000000000000:table/${others}_t`,
};
const keyOfTable = (place: string, serverSideEncryption: object) =>
  table({ externalName: `${own}_t`, [place]: { serverSideEncryption: { enabled: true, ...serverSideEncryption } } });
const keyOfQueue = (kmsMasterKeyId: string) => queue({ forProvider: { name: `${own}_q`, kmsMasterKeyId } });
const roleAt = (path: string, more: Order = {}) =>
  role({ externalName: own, forProvider: { assumeRolePolicy: policy, tags: roleTags, path }, ...more });
const ownKeys = "applications use keys of AWS: of serverSideEncryption set enabled only";

const places = ["forProvider", "initProvider"];

const confined: Cases = [
  ...places.flatMap((place) => [
    refuses(`a table with kmsKeyArn in ${place}`, ownKeys)(keyOfTable(place, { kmsKeyArn: foreignKey })),
    allows(`a table with a key of AWS in ${place}`)(keyOfTable(place, {})),
  ]),
  allows("a queue with SQS's key")(keyOfQueue("alias/aws/sqs")),
  ...[foreignKey, "alias/billing"].map((key) => refuses(`a queue with the key ${key}`, ownKeys)(keyOfQueue(key))),
  allows("a role with the fleet's path")(roleAt("/")),
  ...[`/${others}_x/`, "/team/"].flatMap((path) => [
    refuses(`a role with the path ${path}`, `must be /, got ${path}`)(roleAt(path)),
    refuses(
      `a role with the path ${path} in initProvider`,
      `must be /, got /, ${path}`,
    )(roleAt("/", { initProvider: { path } })),
  ]),
];

const shared: Cases = [
  allows("a dead letter queue of its own")(redriven(redrive(arn(`${own}_dead`)))),
  allows("a dead letter queue in JSON of several lines")(
    redriven(`{\n  "maxReceiveCount": "5",\n  "deadLetterTargetArn": "${arn(`${own}_dead`)}"\n}\n`),
  ),
  allows("a queue that takes dead letters of its own queues only")(
    queue({
      forProvider: {
        name: `${own}_dead`,
        redriveAllowPolicy: JSON.stringify({ redrivePermission: "byQueue", sourceQueueArns: [arn(`${own}_q`)] }),
      },
    }),
  ),
  ...[
    ["another's dead letter queue", redrive(arn(`${others}_dead`))],
    ["a dead letter queue whose name begins alike", redrive(arn(`${own}2_dead`))],
    ["a dead letter queue of another account", redrive(arn(`${own}_dead`, "999999999999"))],
    ["another's dead letter queue in escapes", redrive(arn(`${others}_dead`)).replace("billing", "b\\u0069lling")],
    [
      "another's dead letter queue beside its own",
      `{"deadLetterTargetArn":"${arn(`${own}_d`)}","deadLetterTargetArn":"${arn(`${others}_d`)}"}`,
    ],
    ["dead letters of another's queues", `{"redrivePermission":"byQueue","sourceQueueArns":["${arn(`${others}_q`)}"]}`],
  ].map(([title = "", text = ""]) =>
    refuses(
      title,
      "redrivePolicy and redriveAllowPolicy may name queues of the namespace only",
    )(
      text.includes("redrivePermission")
        ? queue({ forProvider: { name: `${own}_q`, redriveAllowPolicy: text } })
        : redriven(text),
    ),
  ),
  refuses(
    "another's dead letter queue by the values that it is made with",
    "redrivePolicy and redriveAllowPolicy may name",
  )(queue({ forProvider: { name: `${own}_q` }, initProvider: { redrivePolicy: redrive(arn(`${others}_d`)) } })),
  refuses(
    "a queue with a policy among the values that it is made with",
    "an application's queue has no policy of its own",
  )(queue({ forProvider: { name: `${own}_q` }, initProvider: { policy: "{}" } })),
  allows("a queue whose policies are empty")(
    queue({ forProvider: { name: `${own}_q`, policy: "", redrivePolicy: "" } }),
  ),
  refuses(
    "a queue with a policy that lets others in",
    "an application's queue has no policy of its own",
  )(
    queue({
      forProvider: { name: `${own}_q`, policy: '{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:*"}]}' },
    }),
  ),
];

/** An order from another namespace of the tenant. */
export const from = (namespace: string, object: Requested): Requested => ({
  ...object,
  metadata: { ...object.metadata, namespace },
});
const tableOf = (namespace: string) => from(namespace, table({ externalName: `${cluster}_${namespace}_t` }));
const queueOf = (namespace: string, more: Record<string, unknown> = {}) =>
  from(namespace, queue({ forProvider: { name: `${cluster}_${namespace}_q`, ...more } }));

const narrowed: Cases = [
  allows("a table from a namespace that may order tables")(tableOf("ledger")),
  allows("the role of a namespace that may order tables")(
    from(
      "ledger",
      role({
        externalName: `${cluster}_ledger`,
        forProvider: { assumeRolePolicy: policy, tags: { ...roleTags, "kubernetes-namespace": "ledger" } },
      }),
    ),
  ),
  refuses(
    "a queue from a namespace that may order tables",
    "in AWS the namespace ledger may order dynamodb.Table: its annotation fleet.internal/aws-kinds decides, which the governance team sets in gitops-workloads; got sqs.Queue",
  )(queueOf("ledger")),
  refuses(
    "a table from a namespace that may order nothing",
    "in AWS the namespace website may order nothing: its annotation",
  )(tableOf("website")),
];

const tableBefore = kept(table({ externalName: `${own}_t`, managementPolicies: ["Observe"] }));
const queueBefore = kept(queue({ forProvider: { name: `${own}_q` } }));
const tagged = (object: Requested, change: Record<string, unknown>) => ({
  ...object,
  spec: { ...(object["spec"] as object), ...change },
});
const going = "is being removed: its spec and annotations stay as they are";

const changed: Cases = [
  allows("its table that is changed", { from: tableBefore })(
    kept(table({ externalName: `${own}_t`, forProvider: { billingMode: "PAY_PER_REQUEST" } })),
  ),
  allows("the URL that a queue gets when it is made", { from: queueBefore, by: provider("sqs") })(
    kept(queue({ forProvider: { name: `${own}_q` }, externalName: url(`${own}_q`) })),
  ),
  refuses(
    "a table that becomes another's",
    "the annotation crossplane.io/external-name says what is removed in AWS with the object",
    { from: tableBefore },
  )(kept(table({ externalName: `${others}_t`, managementPolicies: ["Observe", "Delete"] }))),
  refuses(
    "a table that becomes another one of its own",
    `it is ${own}_t, got ${own}_t2; order another Table for another name`,
    { from: tableBefore },
  )(kept(table({ externalName: `${own}_t2` }))),
  refuses("a table that loses its name", `it is ${own}_t, got (nothing)`, { from: tableBefore })(kept(table({}))),
  refuses(
    "a queue of which the name is changed",
    `spec.forProvider.name is the name in AWS and can not be changed: it is ${own}_q`,
    { from: queueBefore },
  )(kept(queue({ forProvider: { name: `${own}_q2` } }))),
  refuses(
    "a queue of which the name is taken away",
    "spec.forProvider.name is the name in AWS and can not be changed",
    { from: queueBefore },
  )(kept(queue({ initProvider: { name: `${own}_q` } }))),
  refuses("a queue that becomes another's by the URL", `got ${others}_q`, { from: queueBefore })(
    kept(queue({ forProvider: { name: `${own}_q` }, externalName: url(`${others}_q`) })),
  ),
];

const left: Cases = [
  allows("the last finalizer of a table that is being removed", { from: tableBefore, leaving: true })({
    ...tableBefore,
    metadata: { ...tableBefore.metadata, finalizers: [] },
  }),
  allows("labels of a table that is being removed", { from: tableBefore, leaving: true })({
    ...tableBefore,
    metadata: { ...tableBefore.metadata, labels: { team: "payments" } },
  }),
  allows("tags that Crossplane writes on a table that is being removed", {
    from: tableBefore,
    leaving: true,
    by: provider("dynamodb"),
  })(tagged(tableBefore, { forProvider: { region, tags: { "crossplane-name": "trial" } } })),
  allows("the URL that Crossplane learns of a queue that is being removed", {
    from: queueBefore,
    leaving: true,
    by: provider("sqs"),
  })(kept(queue({ forProvider: { name: `${own}_q` }, externalName: url(`${own}_q`) }))),
  refuses("a table that becomes another's while it is being removed", going, { from: tableBefore, leaving: true })(
    kept(table({ externalName: `${others}_t`, managementPolicies: ["Observe", "Delete"] })),
  ),
  refuses("other annotations of a table that is being removed", going, { from: tableBefore, leaving: true })(
    kept(
      table({
        externalName: `${own}_t`,
        managementPolicies: ["Observe"],
        annotations: { "crossplane.io/paused": "true" },
      }),
    ),
  ),
  refuses("what Crossplane may do to a table that is being removed", going, { from: tableBefore, leaving: true })(
    kept(table({ externalName: `${own}_t`, managementPolicies: ["Observe", "Delete"] })),
  ),
  refuses("another's table, also by Crossplane", "the annotation crossplane.io/external-name says what is removed", {
    from: tableBefore,
    leaving: true,
    by: provider("dynamodb"),
  })(kept(table({ externalName: `${others}_t`, managementPolicies: ["Observe"] }))),
];

/** Changes of what a namespace ordered before it was narrowed, which no API server lets in at first. */
export const orderedBefore: Cases = [
  allows("a change of a queue that was ordered before its namespace was narrowed to tables", {
    from: queueOf("ledger"),
  })(queueOf("ledger", { delaySeconds: 5 })),
];

const replicated = kept(
  table({
    externalName: `${own}_t`,
    managementPolicies: ["Observe"],
    forProvider: { replica: [{ regionName: "us-west-2" }] },
  }),
);

/** Fields of upstream's definitions that those of the local stack lack, so that its API server rejects them as unknown. */
export const furtherFields: Cases = [
  ...places.flatMap((place) => [
    ...Object.entries(copies).map(([field, value]) =>
      refuses(
        `a table with ${field} in ${place}`,
        `writeCapacity; got ${field}`,
      )(table({ externalName: `${own}_t`, [place]: { [field]: value } })),
    ),
    refuses(`a table with kmsKeyArnRef in ${place}`, ownKeys)(keyOfTable(place, { kmsKeyArnRef: { name: "key" } })),
  ]),
  refuses(
    "a role with managed policies",
    "permissionsBoundary, tags; got managedPolicyArns",
  )(
    role({
      externalName: own,
      forProvider: { assumeRolePolicy: policy, tags: roleTags, managedPolicyArns: ["arn:aws:iam::aws:policy/x"] },
    }),
  ),
  refuses("a table that gets a replica", "writeCapacity; got replica", { from: tableBefore })(replicated),
  allows("a field that Crossplane's provider writes", { from: tableBefore, by: provider("dynamodb") })(replicated),
  {
    title: "a field that the provider for another service writes",
    from: tableBefore,
    object: replicated,
    by: provider("sqs"),
    refused: "writeCapacity; got replica",
  },
  allows("a change of a table that has a field which the provider wrote", { from: replicated })(
    tagged(replicated, { forProvider: { region, replica: [{ regionName: "us-west-2" }], hashKey: "id" } }),
  ),
];

export const tenantOrders: Cases = [
  ...created,
  ...inOtherRegions("forProvider"),
  ...confined,
  ...shared,
  ...narrowed,
  ...changed,
  ...left,
];
