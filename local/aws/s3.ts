/** Buckets, and whether they keep versions of objects. */
import * as sdk from "@aws-sdk/client-s3";
import type { Aws } from "./connection.ts";
import { computed, fixed, type Item, out } from "./define/fields.ts";
import { define } from "./define/resource.ts";
import type { Handler } from "./handler.ts";
import type { Tags } from "./properties.ts";
import { type TagPair, tagPairs, tagsFrom } from "./tags.ts";

const api = (aws: Aws) => aws.client(sdk.S3Client);

/** What S3 answers for a setting that nobody made: `NoSuchBucketPolicy`, `NoSuchTagSet`, `ReplicationConfigurationNotFoundError` … */
const isUnset = (error: unknown): boolean =>
  error instanceof Error && /^NoSuch(\w+Policy|\w+Configuration|TagSet)$|NotFoundError$/.test(error.name);

async function orUnset<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isUnset(error)) return undefined;
    throw error;
  }
}

/** Settings with kinds of their own. The provider reads all, and needs the right to (terraform-provider-aws, internal/service/s3/bucket.go). */
const readSettings = (aws: Aws, Bucket: string): Promise<unknown>[] => [
  api(aws).send(new sdk.GetBucketPolicyCommand({ Bucket })),
  api(aws).send(new sdk.GetBucketAclCommand({ Bucket })),
  api(aws).send(new sdk.GetBucketCorsCommand({ Bucket })),
  api(aws).send(new sdk.GetBucketWebsiteCommand({ Bucket })),
  api(aws).send(new sdk.GetBucketVersioningCommand({ Bucket })),
  api(aws).send(new sdk.GetBucketAccelerateConfigurationCommand({ Bucket })),
  api(aws).send(new sdk.GetBucketRequestPaymentCommand({ Bucket })),
  api(aws).send(new sdk.GetBucketLoggingCommand({ Bucket })),
  api(aws).send(new sdk.GetBucketLifecycleConfigurationCommand({ Bucket })),
  api(aws).send(new sdk.GetBucketReplicationCommand({ Bucket })),
  api(aws).send(new sdk.GetBucketEncryptionCommand({ Bucket })),
  api(aws).send(new sdk.GetObjectLockConfigurationCommand({ Bucket })),
];

/** The tags of a bucket. S3 has them as one document, which is replaced as a whole. */
async function tagsOf(aws: Aws, Bucket: string): Promise<Tags> {
  return tagsFrom((await orUnset(api(aws).send(new sdk.GetBucketTaggingCommand({ Bucket }))))?.TagSet);
}

const putTags = (aws: Aws, Bucket: string, tags: Tags): Promise<unknown> =>
  Object.keys(tags).length === 0
    ? api(aws).send(new sdk.DeleteBucketTaggingCommand({ Bucket }))
    : api(aws).send(new sdk.PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: tagPairs(tags) } }));

/** `orders.s3.amazonaws.com`, and with the region in it. */
const hostOf =
  (regional: boolean) =>
  (_item: Item, { aws, id }: { readonly aws: Aws; readonly id: string }) =>
    `${id}.s3${regional ? `.${aws.region}` : ""}.${aws.dnsSuffix}`;

/** The namespace of a bucket that names none (S3 API reference, CreateBucket, `x-amz-bucket-namespace`). */
const GLOBAL = "global";

const bucket = define({
  token: "aws:s3/bucket:Bucket",
  crossplane: {
    kind: "s3/Bucket",
    named: "bucket",
    connection: ({ arn, bucket: id, bucketRegion }) => ({
      ...{ arn: String(arn), id: String(id), region: String(bucketRegion) },
    }),
  },
  idOf: ({ bucket: name }) => name as string | undefined,
  autoName: { property: "bucket", maxLength: 63 },
  tags: {
    request: (tags) => ({ Tags: tagPairs(tags) }),
    of: tagsOf,
    set: async (aws, id, tags) => putTags(aws, id, { ...(await tagsOf(aws, id)), ...tags }),
    remove: async (aws, id, keys) => {
      const kept = Object.entries(await tagsOf(aws, id)).filter(([key]) => !keys.includes(key));
      return putTags(aws, id, Object.fromEntries(kept));
    },
  },
  fields: {
    bucket: { fixed, crd: null, get: (_item, { id }) => id },
    forceDestroy: { type: "boolean", default: false, api: null, unread: true },
    // ministack has no account regional namespaces.
    bucketNamespace: { fixed, computed, api: null, get: () => GLOBAL },
    arn: out((_item, { aws, id }) => `arn:${aws.partition}:s3:::${id}`),
    bucketDomainName: out(hostOf(false)),
    bucketRegion: out(),
    bucketRegionalDomainName: out(hostOf(true)),
  },
  validate: ({ bucketNamespace = GLOBAL, forceDestroy }) => [
    ...(forceDestroy === true
      ? [
          {
            property: "forceDestroy",
            reason: "the embedded cloud deletes no objects: empty the bucket, then remove it",
          },
        ]
      : []),
    ...(bucketNamespace === GLOBAL
      ? []
      : [{ property: "bucketNamespace", reason: `the embedded cloud has ${GLOBAL} only, got ${bucketNamespace}` }]),
  ],
  create(aws, { Tags: given, ...request }) {
    const CreateBucketConfiguration = {
      // S3 API reference, CreateBucket: of us-east-1 the location is never said.
      ...(aws.region !== "us-east-1" && { LocationConstraint: aws.region as sdk.BucketLocationConstraint }),
      ...(given !== undefined && { Tags: given as TagPair[] }),
    };
    const has = Object.keys(CreateBucketConfiguration).length > 0;
    return api(aws).send(
      new sdk.CreateBucketCommand({ ...request, ...(has && { CreateBucketConfiguration }) } as never),
    );
  },
  find: (aws, Bucket) => api(aws).send(new sdk.HeadBucketCommand({ Bucket })),
  async also(aws, id) {
    await Promise.all(readSettings(aws, id).map(orUnset));
    return {};
  },
  delete: (aws, Bucket) => api(aws).send(new sdk.DeleteBucketCommand({ Bucket })),
});

/** Only a bucket whose versioning nobody ever set has this status. */
const DISABLED = "Disabled";

const setVersioning = (aws: Aws, Bucket: string, status: string | undefined): Promise<unknown> =>
  api(aws).send(
    new sdk.PutBucketVersioningCommand({
      Bucket,
      VersioningConfiguration: { Status: status as sdk.BucketVersioningStatus },
    }),
  );

const versioning = define({
  token: "aws:s3/bucketVersioning:BucketVersioning",
  crossplane: { kind: "s3/BucketVersioning" },
  idOf: ({ bucket: name }) => name as string | undefined,
  fields: {
    bucket: { fixed, ref: "s3/Bucket", get: (_item, { id }) => id },
    versioningConfiguration: {
      required: true,
      type: { block: { status: {} } },
      get: ({ Status }) => ({ status: Status ?? DISABLED }),
    },
  },
  async create(aws, _request, { bucket: id = "", versioningConfiguration }) {
    if (versioningConfiguration?.status !== DISABLED) await setVersioning(aws, id, versioningConfiguration?.status);
  },
  async find(aws, Bucket, { versioningConfiguration }) {
    const found = await api(aws).send(new sdk.GetBucketVersioningCommand({ Bucket }));
    return found.Status === undefined && versioningConfiguration?.status !== DISABLED ? undefined : found;
  },
  settings: [
    {
      fields: ["versioningConfiguration"],
      call: (aws, id, { versioningConfiguration }) => setVersioning(aws, id, versioningConfiguration?.status),
    },
  ],
  // It can't be taken back: the provider suspends it (internal/service/s3/bucket_versioning.go).
  async delete(aws, id, { versioningConfiguration }) {
    if (versioningConfiguration?.status !== DISABLED) await setVersioning(aws, id, "Suspended");
  },
});

export const s3Resources: readonly Handler[] = [bucket, versioning];
