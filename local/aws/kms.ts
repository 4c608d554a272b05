/** Keys and their names. */
import * as sdk from "@aws-sdk/client-kms";
import { samePolicy } from "./compare.ts";
import type { Aws } from "./connection.ts";
import { computed, fixed, out } from "./define/fields.ts";
import { define, type TagCalls } from "./define/resource.ts";
import type { Handler } from "./handler.ts";
import type { Tags } from "./properties.ts";
import { ownTags } from "./tags.ts";

const api = (aws: Aws) => aws.client(sdk.KMSClient);

/** KMS has its own names for the members of a tag. */
const kmsTags = (tags: Tags) => Object.entries(tags).map(([TagKey, TagValue]) => ({ TagKey, TagValue }));

const tags: TagCalls = {
  request: (all) => ({ Tags: kmsTags(all) }),
  async of(aws, KeyId) {
    const found = (await api(aws).send(new sdk.ListResourceTagsCommand({ KeyId }))).Tags ?? [];
    return ownTags(Object.fromEntries(found.map(({ TagKey, TagValue }) => [TagKey ?? "", TagValue ?? ""])));
  },
  set: (aws, KeyId, all) => api(aws).send(new sdk.TagResourceCommand({ KeyId, Tags: kmsTags(all) })),
  remove: (aws, KeyId, TagKeys) => api(aws).send(new sdk.UntagResourceCommand({ KeyId, TagKeys })),
};

const key = define({
  token: "aws:kms/key:Key",
  crossplane: { kind: "kms/Key" },
  tags,
  fields: {
    description: { computed },
    policy: { computed, same: samePolicy },
    keyUsage: { fixed, default: "ENCRYPT_DECRYPT" },
    customerMasterKeySpec: { fixed, api: "KeySpec", default: "SYMMETRIC_DEFAULT" },
    multiRegion: { fixed, computed, type: "boolean", get: ({ MultiRegion }) => MultiRegion ?? false },
    isEnabled: out("Enabled", { type: "boolean" }),
    enableKeyRotation: { type: "boolean", api: null, default: false, get: ({ Rotated }) => Rotated },
    deletionWindowInDays: { type: "number", api: null, unread: true },
    arn: out(),
    keyId: out(),
  },
  create: async (aws, request) => (await api(aws).send(new sdk.CreateKeyCommand(request))).KeyMetadata?.KeyId,
  async find(aws, KeyId) {
    const { KeyMetadata: found } = await api(aws).send(new sdk.DescribeKeyCommand({ KeyId }));
    // A key is never deleted at once: from the moment it is scheduled it cannot be used any more.
    return found?.KeyState === "PendingDeletion" ? undefined : found;
  },
  async also(aws, KeyId) {
    const [policy, rotation] = await Promise.all([
      api(aws).send(new sdk.GetKeyPolicyCommand({ KeyId, PolicyName: "default" })),
      api(aws).send(new sdk.GetKeyRotationStatusCommand({ KeyId })),
    ]);
    return { Policy: policy.Policy, Rotated: rotation.KeyRotationEnabled ?? false };
  },
  settings: [
    {
      fields: ["enableKeyRotation"],
      initially: ({ enableKeyRotation }) => enableKeyRotation === true,
      call: (aws, KeyId, { enableKeyRotation }) =>
        enableKeyRotation
          ? api(aws).send(new sdk.EnableKeyRotationCommand({ KeyId }))
          : api(aws).send(new sdk.DisableKeyRotationCommand({ KeyId })),
    },
    {
      fields: ["description"],
      call: (aws, KeyId, { description: Description = "" }) =>
        api(aws).send(new sdk.UpdateKeyDescriptionCommand({ KeyId, Description })),
    },
    {
      fields: ["policy"],
      call: async (aws, KeyId, { policy: Policy }) =>
        Policy && api(aws).send(new sdk.PutKeyPolicyCommand({ KeyId, PolicyName: "default", Policy })),
    },
  ],
  delete: (aws, KeyId, { deletionWindowInDays: PendingWindowInDays = 30 }) =>
    api(aws).send(new sdk.ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays })),
});

const keyId = (idOrArn: unknown): string => String(idOrArn).replace(/^arn:.*:key\//, "");

const alias = define({
  token: "aws:kms/alias:Alias",
  crossplane: { kind: "kms/Alias", named: "name", nameOf: (name) => `alias/${name.replace(/^alias\//, "")}` },
  idOf: ({ name }) => name as string | undefined,
  autoName: { property: "name", maxLength: 256 },
  fields: {
    name: { fixed, api: "AliasName", crd: null },
    // The key may be given by id or ARN.
    targetKeyId: { same: (a, b) => keyId(a) === keyId(b) },
    arn: out("AliasArn"),
    targetKeyArn: out(({ AliasArn, TargetKeyId }) =>
      String(AliasArn).replace(/:alias\/.*$/, `:key/${String(TargetKeyId)}`),
    ),
  },
  validate({ name }) {
    if (name === undefined || /^alias\/(?!aws\/)[\w/-]+$/.test(name)) return [];
    return [
      { property: "name", reason: `"${name}" is not an alias name: it is of the form alias/<name>, not alias/aws/…` },
    ];
  },
  create: (aws, request) => api(aws).send(new sdk.CreateAliasCommand(request as never)),
  async find(aws, name) {
    for await (const page of sdk.paginateListAliases({ client: api(aws) }, {}))
      for (const found of page.Aliases ?? []) if (found.AliasName === name) return found;
    return undefined;
  },
  settings: [
    {
      fields: ["targetKeyId"],
      call: (aws, AliasName, { targetKeyId: TargetKeyId }) =>
        api(aws).send(new sdk.UpdateAliasCommand({ AliasName, TargetKeyId })),
    },
  ],
  delete: (aws, AliasName) => api(aws).send(new sdk.DeleteAliasCommand({ AliasName })),
});

/** KMS's own policy of a key: the account decides by IAM (AWS KMS Developer Guide, "Default key policy"). */
const defaultPolicy = (keyArn: string) => {
  const [, partition, , , account] = keyArn.split(":");
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Sid: "Enable IAM User Permissions",
        Effect: "Allow",
        Principal: { AWS: `arn:${partition}:iam::${account}:root` },
        Action: "kms:*",
        Resource: "*",
      },
    ],
  });
};

const putPolicy = (aws: Aws, KeyId: string, Policy: string) =>
  api(aws).send(new sdk.PutKeyPolicyCommand({ KeyId, PolicyName: "default", Policy }));

/** The policy of a key by itself; without it the key has the default one again. */
const keyPolicy = define({
  token: "aws:kms/keyPolicy:KeyPolicy",
  fields: {
    keyId: { fixed, get: (_item, { id, last }) => last["keyId"] ?? id },
    policy: { same: samePolicy },
  },
  create: async (aws, _request, { keyId: id, policy: text }) => {
    await putPolicy(aws, id as string, text as string);
    return id as string;
  },
  find: (aws, KeyId) => api(aws).send(new sdk.GetKeyPolicyCommand({ KeyId, PolicyName: "default" })),
  settings: [{ fields: ["policy"], call: (aws, KeyId, { policy: text }) => putPolicy(aws, KeyId, text as string) }],
  async delete(aws, KeyId) {
    const { KeyMetadata: found } = await api(aws).send(new sdk.DescribeKeyCommand({ KeyId }));
    if (found?.Arn && found.KeyState !== "PendingDeletion") await putPolicy(aws, KeyId, defaultPolicy(found.Arn));
  },
});

export const kmsResources: readonly Handler[] = [alias, key, keyPolicy];
