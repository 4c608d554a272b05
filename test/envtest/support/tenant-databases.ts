import { spokeNames } from "../../../lib/spoke.ts";
import { allows, type Cases, kept, type Requested, refuses, tenantNamespace } from "./admission-request.ts";
import { cluster, from, hostileRegions, order, otherRegion, provider } from "./tenant-orders.ts";

/** Databases that a tenant's namespace orders, and what tools/base/policies/tenant-databases.yaml and tenant-resources.yaml say of them. */

const namespace = "orders";
const names = spokeNames("fleet-spoke-", "blue");
const prefix = `${names.databases}-${namespace}-`;
const own = `${prefix}main`;
const others = `${names.databases}-billing-main`;
/** The security group of the cluster that the tests render (cli/diff/providers.ts). */
const group = "sg-cluster";
const retained = ["Observe", "Create", "Update"];
const deletes = (name: string) => ({ "fleet.internal/deletes": name });
/** AWS's ID of a database. */
const id = "db-ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const safe = {
  identifier: own,
  engine: "postgres",
  instanceClass: "db.t4g.micro",
  allocatedStorage: 20,
  username: "main",
  autoGeneratePassword: true,
  passwordSecretRef: { name: "main", key: "password" },
  storageEncrypted: true,
  backupRetentionPeriod: 7,
  deletionProtection: true,
  applyImmediately: true,
  dbSubnetGroupName: `${names.databases}-subnets`,
  vpcSecurityGroupIds: [group],
};

type Order = Parameters<ReturnType<typeof order>>[0];
type Fields = Readonly<Record<string, unknown>> & { readonly identifier?: string | undefined };
/** A database that outlives its object and has its name in AWS, unless `more` has another; a field that is undefined is left out. */
const database = (forProvider: Fields, more: Order = {}, place = namespace): Requested =>
  from(
    place,
    order(
      "rds",
      "Instance",
      true,
    )({
      managementPolicies: retained,
      externalName: forProvider.identifier ?? own,
      ...more,
      forProvider: Object.fromEntries(
        Object.entries({ ...safe, ...forProvider }).filter(([, value]) => value !== undefined),
      ),
    }),
  );
/** The same by the values that a new one gets first. */
const initially = (initProvider: Fields): Requested => database({}, { initProvider });
/** A database that goes with its object. */
const leaving = (forProvider: Fields = {}, more: Order = {}): Requested =>
  database(
    { deletionProtection: false, finalSnapshotIdentifier: `${own}-final`, ...forProvider },
    { managementPolicies: [...retained, "Delete"], annotations: deletes(own), ...more },
  );

const longest = `${prefix}${"x".repeat(63 - prefix.length)}`;

const named: Cases = [
  allows("a database")(database({})),
  allows("a database of MySQL")(database({ engine: "mysql" })),
  allows("a database at the port of its engine")(database({ port: 5432 })),
  allows("a database of MariaDB at the port of its engine")(database({ engine: "mariadb", port: 3306 })),
  allows("a database with the longest name")(database({ identifier: longest })),
  allows("a database with more backups")(database({ backupRetentionPeriod: 35 })),
  ...Object.entries({
    "another's database": others,
    "a database whose namespace only begins alike": `${names.databases}-${namespace}-eu-main`,
    "a database of another cluster": `${spokeNames("fleet-spoke-", "blue-2").databases}-${namespace}-main`,
    "a database with something before the prefix": `my-${own}`,
    "a database without the prefix": `${namespace}-main`,
    "a database by the cluster's name": `${cluster}-${namespace}-main`,
    "a database with a hyphen in its name": `${own}-2`,
    "a database without a name of its own": prefix,
    "a database with capital letters": `${prefix}Main`,
    "a database with a longer name than AWS takes": `${longest}x`,
  }).map(([title, identifier]) =>
    refuses(
      title,
      `spec.forProvider.identifier of a database must be ${prefix}<name>, at most 63 characters, with lower-case letters and digits alone in <name>; got ${identifier}`,
    )(database({ identifier })),
  ),
  refuses(
    "a database with no name at all",
    `must be ${prefix}<name>, at most 63 characters, with lower-case letters and digits alone in <name>; got (nothing)`,
  )(database({ identifier: undefined })),
  refuses(
    "a database that begins with another's name",
    `spec.forProvider.identifier of a database must be ${prefix}<name>`,
  )(initially({ identifier: others })),
  ...[others, id, `${own}x`].map((externalName) =>
    refuses(
      `a database that is called ${externalName} in AWS`,
      `the annotation crossplane.io/external-name of a database must be its name, by which Crossplane finds it: set it to ${own}, got ${externalName}`,
    )(database({}, { externalName })),
  ),
  refuses(
    "a database that Crossplane would not find after a restart",
    `must be its name, by which Crossplane finds it: set it to ${own}, got (nothing)`,
  )(database({}, { externalName: "" })),
  refuses(
    "a database of a namespace with two hyphens",
    "the namespace eu--orders can have no databases: RDS takes no two hyphens in a row in their names",
  )(database({ identifier: `${names.databases}-eu--orders-main` }, {}, "eu--orders")),
];

const refusedAs = (refused: string, objects: Readonly<Record<string, Requested>>): Cases =>
  Object.entries(objects).map(([title, object]) => refuses(`a database ${title}`, refused)(object));

const network = "a database is in the subnets and the security group of its cluster, and not public";
const password = "Crossplane makes up the password of a database and keeps it in a Secret of the namespace";

const safety: Cases = [
  ...refusedAs("spec.forProvider.engine of a database must be mariadb, mysql or postgres, got aurora-postgresql", {
    "of Aurora": database({ engine: "aurora-postgresql" }),
  }),
  ...refusedAs("spec.forProvider.engine of a database must be mariadb, mysql or postgres", {
    "without an engine": database({ engine: undefined }),
    "of Oracle, by the values that it is made with": initially({ engine: "oracle-ee" }),
  }),
  ...refusedAs(
    "NetworkPolicies of applications let them reach databases at 5432 (postgres) and 3306 (mysql, mariadb)",
    {
      "at another port": database({ port: 443 }),
      "at the port of another engine": database({ engine: "mysql", port: 5432 }),
      "at another port, by the values that it is made with": initially({ port: 22 }),
    },
  ),
  ...refusedAs(network, {
    "for everybody": database({ publiclyAccessible: true }),
    "for everybody, by the values that it is made with": initially({ publiclyAccessible: true }),
    "in other subnets": database({ dbSubnetGroupName: "default" }),
    "in the default subnets": database({ dbSubnetGroupName: undefined }),
    "in other subnets, by the values that it is made with": initially({ dbSubnetGroupName: "default" }),
    "in another security group": database({ vpcSecurityGroupIds: ["sg-0123456789abcdef0"] }),
    "in another security group too": database({ vpcSecurityGroupIds: [group, "sg-0123456789abcdef0"] }),
    "in the default security group": database({ vpcSecurityGroupIds: undefined }),
    "in another security group, by the values that it is made with": initially({ vpcSecurityGroupIds: [] }),
  }),
  ...refusedAs("a database is encrypted: set spec.forProvider.storageEncrypted to true", {
    "that is not encrypted": database({ storageEncrypted: false }),
    "of which nobody says that it is encrypted": database({ storageEncrypted: undefined }),
    "that is not encrypted, by the values that it is made with": initially({ storageEncrypted: false }),
  }),
  ...refusedAs(
    "a database has backups of at least seven days: set spec.forProvider.backupRetentionPeriod to 7 or more",
    {
      "without backups": database({ backupRetentionPeriod: 0 }),
      "with few backups": database({ backupRetentionPeriod: 6 }),
      "of whose backups nobody says anything": database({ backupRetentionPeriod: undefined }),
      "without backups, by the values that it is made with": initially({ backupRetentionPeriod: 0 }),
    },
  ),
  ...refusedAs("a change of a database takes effect at once: set spec.forProvider.applyImmediately to true", {
    "whose changes wait": database({ applyImmediately: false }),
    "of whose changes nobody says anything": database({ applyImmediately: undefined }),
    "whose changes wait, by the values that it is made with": initially({ applyImmediately: false }),
  }),
  ...refusedAs(password, {
    "whose password somebody has to bring": database({ autoGeneratePassword: false }),
    "of whose password nobody says anything": database({ autoGeneratePassword: undefined }),
    "whose password is kept nowhere": database({ passwordSecretRef: undefined }),
  }),
  ...refusedAs(
    "spec.managementPolicies of a database must be [Observe, Create, Update], got Observe, Create, Update, LateInitialize",
    {
      "whose specification AWS's choices are written into": database(
        {},
        { managementPolicies: [...retained, "LateInitialize"] },
      ),
    },
  ),
  ...refusedAs(
    "spec.managementPolicies of a database must be [Observe, Create, Update], with Delete for one that goes with its object, got *",
    { "that goes with its object, with AWS's choices": leaving({}, { managementPolicies: ["*"] }) },
  ),
];

const stays =
  "a database stays in AWS when its object goes: set spec.managementPolicies to [Observe, Create, Update]. For one that goes with its object, add Delete, set deletionProtection to false, and set the annotation fleet.internal/deletes to the name of the database as well; got";

const data: Cases = [
  allows("a database that goes with its object, asked for twice")(leaving()),
  allows("a database whose removal is prepared")(
    database({ deletionProtection: false }, { annotations: deletes(own) }),
  ),
  ...refusedAs(`${stays} (nothing)`, {
    "that goes with its object": leaving({}, { annotations: {} }),
    "that Crossplane may delete, with its protection": leaving({ deletionProtection: true }, { annotations: {} }),
  }),
  ...refusedAs(`${stays} ${others}`, {
    "that goes by the name of another": leaving({}, { annotations: deletes(others) }),
  }),
  ...refusedAs(`${stays} yes`, {
    "of which the annotation says something else": leaving({}, { annotations: deletes("yes") }),
  }),
  ...refusedAs("spec.managementPolicies of a database must be [Observe, Create, Update], got *", {
    "with the managementPolicies of its kind": database({}, { managementPolicies: ["*"] }),
  }),
  ...refusedAs("a database is protected from deletion: set spec.forProvider.deletionProtection to true", {
    "that anybody deletes": database({ deletionProtection: false }),
    "of whose protection nobody says anything": database({ deletionProtection: undefined }),
    "that anybody deletes, by the values that it is made with": initially({ deletionProtection: false }),
  }),
  ...refusedAs(
    `a database that goes leaves a final snapshot: leave spec.forProvider.skipFinalSnapshot out, and set finalSnapshotIdentifier to ${own}-<name>, with lower-case letters and digits alone in <name>; got`,
    {
      "that leaves no snapshot": leaving({ skipFinalSnapshot: true }),
      "whose snapshot has no name": leaving({ finalSnapshotIdentifier: undefined }),
      "whose snapshot has another's name": leaving({ finalSnapshotIdentifier: `${others}-final` }),
      "whose snapshot has two hyphens in a row": leaving({ finalSnapshotIdentifier: `${own}--final` }),
      "whose snapshot has the name of another of the same length": leaving({
        finalSnapshotIdentifier: `${names.databases}-stocks-main-final`,
      }),
      "whose snapshot ends with a hyphen": leaving({ finalSnapshotIdentifier: `${own}-` }),
      "whose snapshot a database of a longer namespace could have": leaving({
        finalSnapshotIdentifier: `${own}-eu-final`,
      }),
      "whose snapshot has capital letters": leaving({ finalSnapshotIdentifier: `${own}-Final` }),
      "whose snapshot has another's name, by the values that it is made with": leaving(
        {},
        { initProvider: { finalSnapshotIdentifier: `${others}-final` } },
      ),
      "that leaves no snapshot, by the values that it is made with": leaving(
        {},
        { initProvider: { skipFinalSnapshot: true } },
      ),
    },
  ),
];

const before = database({});
const nameless = database({}, { externalName: "" });
const made = database({}, { externalName: id });
const changed: Cases = [
  allows("a larger database", { from: before })(database({ allocatedStorage: 40 })),
  allows("the ID that AWS gave a database", { from: before, by: provider("rds") })(made),
  refuses("the ID of a database, by a tenant", "the annotation crossplane.io/external-name", {
    from: before,
    also: "tenant-resources.fleet.internal",
  })(made),
  refuses(
    "another name of a database",
    `spec.forProvider.identifier is the name in AWS and can not be changed: it is ${own}; order another Instance for another name`,
    { from: before },
  )(database({ identifier: `${prefix}second` })),
  refuses("a database that loses its protection", "a database is protected from deletion", { from: before })(
    database({ deletionProtection: false }),
  ),
  refuses("a database that everybody is to reach", network, { from: before })(database({ publiclyAccessible: true })),
];

export const tenantDatabases: Cases = [...named, ...safety, ...data, ...changed];

/** Changes of databases with the ID that AWS gave them, which only the provider makes such, and of ones without a name, which nobody makes. */
export const databasesWithIds: Cases = [
  allows("a database that is to go from now on", { from: made })(leaving({}, { externalName: id })),
  allows("its name in the place of the ID, as Git has it", { from: made })(before),
  refuses(
    "a database that loses its name",
    `must be its name, by which Crossplane finds it: set it to ${own}, got (nothing)`,
    { from: before },
  )(nameless),
  allows("the name of a database without one", { from: nameless })(before),
  allows("a larger database without a name", { from: nameless })(
    database({ allocatedStorage: 40 }, { externalName: "" }),
  ),
];

/** What tenant-resources.yaml says of databases, as of all orders. */
export const ordersOfDatabases: Cases = [
  allows("a database from a namespace that may order some")(database({})),
  ...hostileRegions.map((region) =>
    refuses(`a database with the region ${region}`, otherRegion(region))(database({ region })),
  ),
  refuses(
    "a database from a namespace that nothing was said of",
    `in AWS the namespace ${tenantNamespace} may order dynamodb.Table, sqs.Queue: its annotation fleet.internal/aws-kinds decides, which the governance team sets in gitops-workloads; got rds.Instance`,
  )(database({ identifier: `${names.databases}-${tenantNamespace}-main` }, {}, tenantNamespace)),
  refuses(
    "subnets for databases",
    "an application can order Bucket, BucketVersioning, Instance, Queue and Table, its governance Role and RolePolicy; got SubnetGroup",
  )(
    from(
      namespace,
      order("rds", "SubnetGroup", true)({ externalName: `${names.databases}-subnets`, forProvider: { subnetIds: [] } }),
    ),
  ),
  refuses(
    "a database by the ProviderConfig of the cluster",
    "spec.providerConfigRef must name a ProviderConfig of the namespace, got ClusterProviderConfig",
  )(database({}, { config: "ClusterProviderConfig" })),
  allows("the ID that AWS gave a database, in the place of its name", { from: before, by: provider("rds") })(made),
];

/** The same, with the ID that AWS gave them. */
export const ordersWithIds: Cases = [
  allows("the name of a database in the place of its ID", { from: made })(before),
  allows("the name of a database without one", { from: nameless })(before),
  refuses(
    "a database without the ID that it has in AWS",
    `the annotation crossplane.io/external-name says what is removed in AWS with the object, and can not be changed: it is ${id}, got (nothing)`,
    { from: made },
  )(nameless),
  refuses(
    "a database that is to go while it is being removed",
    "Instance trial is being removed: its spec and annotations stay as they are",
    { from: kept(made), leaving: true },
  )(kept(leaving({}, { externalName: id }))),
];

/** Fields that the local stack's definitions don't have, so that its API server drops them before it judges. */
export const furtherDatabases: Cases = [
  ...["dbSubnetGroupNameRef", "dbSubnetGroupNameSelector", "vpcSecurityGroupIdRefs", "vpcSecurityGroupIdSelector"].map(
    (field) => [field, network] as const,
  ),
  ...[
    ...["replicateSourceDb", "replicateSourceDbRef", "replicateSourceDbSelector", "restoreToPointInTime", "s3Import"],
    ...["snapshotIdentifier", "blueGreenUpdate"],
  ].map((field) => [field, "a database of an application begins empty: leave replicateSourceDb"] as const),
  ...[
    ...["customIamInstanceProfile", "domainIamRoleName", "domain", "domainAuthSecretArn", "domainFqdn"],
    ...["monitoringRoleArn", "monitoringRoleArnRef", "monitoringRoleArnSelector"],
  ].map((field) => [field, "a database has no role and no directory: leave customIamInstanceProfile"] as const),
  ...[
    ...["kmsKeyId", "kmsKeyIdRef", "kmsKeyIdSelector", "performanceInsightsKmsKeyId", "performanceInsightsKmsKeyIdRef"],
    ...["performanceInsightsKmsKeyIdSelector", "parameterGroupName", "parameterGroupNameRef"],
    ...["parameterGroupNameSelector", "optionGroupName"],
  ].map((field) => [field, "a database has RDS's own key, parameters and options: leave kmsKeyId"] as const),
  ...[
    ...["identifierPrefix", "backupTarget", "customerOwnedIpEnabled", "passwordWoSecretRef", "passwordWoVersion"],
    ...["manageMasterUserPassword", "masterUserSecretKmsKeyId", "masterUserSecretKmsKeyIdRef"],
    ...["masterUserSecretKmsKeyIdSelector"],
  ].map((field) => [field, "leave identifierPrefix, backupTarget, customerOwnedIpEnabled"] as const),
].flatMap(([field, refused]) => [
  refuses(`a database with ${field}`, refused)(database({ [field]: "x" })),
  refuses(`a database that is made with ${field}`, refused)(initially({ [field]: "x" })),
]);

/** From a namespace of the platform. */
export const databasesOfOthers: Cases = [
  allows("a database in a namespace of the platform")({
    ...database({ identifier: "anything" }),
    metadata: { name: "trial", namespace: "flux-system" },
  }),
];
