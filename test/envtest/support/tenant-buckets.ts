import { allows, type Cases, kept, type Requested, refuses, tenantNamespace } from "./admission-request.ts";
import { cluster, from, hostileRegions, order, otherRegion, provider } from "./tenant-orders.ts";

/** Buckets that a tenant's namespace orders, and what tools/base/policies/tenant-resources.yaml says of them. */

const namespace = "archive";
const account = "000000000000";
const prefix = `${cluster}--${namespace}--`;
const named = (name: string) => `${prefix}${name}-${account}`;
const own = named("files");
const others = `${cluster}--billing--files-${account}`;
const retained = ["Observe", "Create", "Update", "LateInitialize"];
const deletes = (name: string) => ({ "fleet.internal/deletes": name });

type Order = Parameters<ReturnType<typeof order>>[0];
/** A bucket that outlives its object. */
const bucket = (more: Order, place = namespace): Requested =>
  from(place, order("s3", "Bucket", true)({ externalName: own, managementPolicies: retained, ...more }));
/** A bucket with the managementPolicies of its kind, which let Crossplane do everything. */
const careless = (more: Order): Requested =>
  from(namespace, order("s3", "Bucket", true)({ externalName: own, ...more }));
const versioning = (forProvider: Record<string, unknown>, more: Order = {}, place = namespace): Requested =>
  from(
    place,
    order(
      "s3",
      "BucketVersioning",
      true,
    )({ ...more, forProvider: { versioningConfiguration: { status: "Enabled" }, ...forProvider } }),
  );

/** Of 63 characters, as many as AWS takes. */
const longest = named("x".repeat(63 - named("").length));

const names: Cases = [
  allows("a bucket")(bucket({})),
  allows("a bucket with hyphens and digits in its name")(bucket({ externalName: named("files-2026-q1") })),
  allows("a bucket with the longest name")(bucket({ externalName: longest })),
  allows("versions in its bucket")(versioning({ bucket: own }, { externalName: own })),
  ...hostileRegions.map((region) =>
    refuses(
      `versions in a bucket with the region ${region}`,
      otherRegion(region),
    )(versioning({ bucket: own, region }, { externalName: own })),
  ),
  allows("versions in a bucket that it refers to")(versioning({ bucketRef: { name: "files" } })),
  ...Object.entries({
    "another's bucket": others,
    "a bucket whose name only begins alike": `${cluster}--${namespace}2--files-${account}`,
    "a bucket of another cluster": `${cluster}-2--${namespace}--files-${account}`,
    "a bucket with something before the cluster's name": `my-${own}`,
    "a bucket of another account": `${prefix}files-999999999999`,
    "a bucket without the account": `${prefix}files`,
    "a bucket with two hyphens in its name": named("files--2026"),
    "a bucket whose name ends with a hyphen": named("files-"),
    "a bucket without a name of its own": named(""),
    "a bucket with capital letters": named("Files"),
    "a bucket with a dot in its name": named("files.2026"),
    "a bucket behind another's name": `${others}/${own}`,
    "a bucket with a longer name than AWS takes": longest.replace("--x", "--xx"),
    "a bucket with a name as tables have": `${cluster}_${namespace}_files`,
  }).map(([title, externalName]) =>
    refuses(
      title,
      `names of buckets must be ${prefix}<name>-${account}, at most 63 lower-case letters, digits and hyphens, without two hyphens in a row in <name>; got ${externalName}`,
    )(bucket({ externalName })),
  ),
  refuses(
    "a bucket with no name at all",
    `Bucket trial has no name in AWS of its own: set the annotation crossplane.io/external-name to a name that begins with ${prefix}`,
  )(bucket({ externalName: "" })),
  ...Object.entries({
    "another's bucket": versioning({ bucket: others }),
    "another's bucket by the values that they are made with": versioning({}, { initProvider: { bucket: others } }),
    "another's bucket by the name in AWS": versioning({ bucket: own }, { externalName: others }),
  }).map(([title, object]) => refuses(`versions in ${title}`, `names of buckets must be ${prefix}`)(object)),
  refuses(
    "a bucket of a namespace that another namespace's name could go on with",
    `the namespace eu--archive of the cluster ${cluster} can have no buckets: two hyphens end each of the two in names of buckets`,
  )(bucket({ externalName: `${cluster}--eu--archive--files-${account}` }, "eu--archive")),
];

const offered: Cases = [
  allows("a table from a namespace that can have no buckets")(
    from("eu--archive", order("dynamodb", "Table", true)({ externalName: `${cluster}_eu--archive_t` })),
  ),
  ...[
    bucket({ externalName: `${cluster}--${tenantNamespace}--files-${account}` }, tenantNamespace),
    versioning({ bucketRef: { name: "files" } }, {}, tenantNamespace),
  ].map((object) =>
    refuses(
      `a ${object.kind} from a namespace that nothing was said of`,
      `in AWS the namespace ${tenantNamespace} may order dynamodb.Table, sqs.Queue: its annotation fleet.internal/aws-kinds decides, which the governance team sets in gitops-workloads; got s3.Bucket`,
    )(object),
  ),
  refuses(
    "a table from a namespace that may order buckets",
    "may order s3.Bucket: its annotation fleet.internal/aws-kinds decides",
  )(from(namespace, order("dynamodb", "Table", true)({ externalName: `${cluster}_${namespace}_t` }))),
];

const data: Cases = [
  ...Object.entries({
    "goes with its object, as kinds of Crossplane do": careless({}),
    "goes with its object": bucket({ managementPolicies: ["*"] }),
    "Crossplane may delete": bucket({ managementPolicies: ["Observe", "Create", "Delete"] }),
    "goes with its object, by the name of another": careless({ annotations: deletes(others) }),
  }).map(([title, object]) =>
    refuses(
      `a bucket that ${title}`,
      "a bucket stays in AWS when its object goes: set spec.managementPolicies to [Observe, Create, Update, LateInitialize]",
    )(object),
  ),
  refuses(
    "a bucket that goes with its object, for which the annotation says something else",
    "set the annotation fleet.internal/deletes to the name of the bucket as well; got yes",
  )(bucket({ managementPolicies: ["*"], annotations: deletes("yes") })),
  allows("a bucket that goes with its object, asked for twice")(careless({ annotations: deletes(own) })),
  allows("a bucket that Crossplane may delete, asked for twice")(
    bucket({ managementPolicies: [...retained, "Delete"], annotations: deletes(own) }),
  ),
  allows("versions that end with their object")(versioning({ bucket: own }, { managementPolicies: ["*"] })),
  ...Object.entries({
    "emptied when it goes": { forProvider: { forceDestroy: true } },
    "emptied when it goes, by the values that it is made with": { initProvider: { forceDestroy: true } },
  }).map(([title, more]) =>
    refuses(
      `a bucket that is ${title}`,
      "nobody deletes the objects in a bucket with it: leave spec.forProvider.forceDestroy out",
    )(bucket(more)),
  ),
  allows("a bucket that is not emptied when it goes")(bucket({ forProvider: { forceDestroy: false } })),
];

const before = kept(bucket({}));
const versionsBefore = kept(versioning({ bucketRef: { name: "files" } }));

const changed: Cases = [
  allows("tags of its bucket", { from: before })(kept(bucket({ forProvider: { tags: { team: "archive" } } }))),
  refuses("a bucket that comes to go with its object", "a bucket stays in AWS when its object goes", { from: before })(
    kept(bucket({ managementPolicies: ["*"] })),
  ),
  allows("a bucket that comes to go with its object, asked for twice", { from: before })(
    kept(bucket({ managementPolicies: ["*"], annotations: deletes(own) })),
  ),
  refuses(
    "a bucket that becomes another one of its own",
    `it is ${own}, got ${named("more")}; order another Bucket for another name`,
    { from: before },
  )(kept(bucket({ externalName: named("more") }))),
  allows("the bucket and the name that Crossplane learns of versions", { from: versionsBefore, by: provider("s3") })(
    kept(versioning({ bucketRef: { name: "files" }, bucket: own }, { externalName: own })),
  ),
  refuses("another's bucket that versions refer to in another namespace", `names of buckets must be ${prefix}`, {
    from: versionsBefore,
    by: provider("s3"),
  })(kept(versioning({ bucketRef: { name: "files" }, bucket: others }))),
];

const otherName = "omit expectedBucketOwner, bucketPrefix and any bucketNamespace except global";

const namespaces: Cases = [
  refuses(
    "a bucket in a namespace of the account",
    otherName,
  )(bucket({ forProvider: { bucketNamespace: "account-regional" } })),
  allows("the namespace of a bucket, which late initialization writes", { from: bucket({}), by: provider("s3") })(
    bucket({ forProvider: { bucketNamespace: "global" } }),
  ),
];

/** Fields that the local stack's definitions don't have, so that its API server drops them before it judges. */
export const otherwiseNamed: Cases = Object.entries({
  "versions in a bucket of a named owner": versioning({ bucket: own, expectedBucketOwner: account }),
  "versions in a bucket of a named owner, by the values that they are made with": versioning(
    { bucket: own },
    { initProvider: { expectedBucketOwner: account } },
  ),
}).map(([title, object]) => refuses(title, otherName)(object));

export const tenantBuckets: Cases = [...names, ...namespaces, ...offered, ...data, ...changed];
