import {
  CreateKeyCommand,
  type CustomerMasterKeySpec,
  DescribeKeyCommand,
  DisableKeyCommand,
  DisableKeyRotationCommand,
  EnableKeyCommand,
  EnableKeyRotationCommand,
  GetKeyPolicyCommand,
  GetKeyRotationStatusCommand,
  type KeyUsageType,
  ListResourceTagsCommand,
  PutKeyPolicyCommand,
  ScheduleKeyDeletionCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateKeyDescriptionCommand,
} from "@aws-sdk/client-kms";
import type { Aws } from "../clients.ts";
import { samePolicy } from "../compare.ts";
import { hasCode, orGone } from "../errors.ts";
import { finishing, resource, type Tagged, type Tags } from "../handler.ts";
import { ownTags, syncTags } from "../tags.ts";

interface Inputs extends Tagged {
  description?: string;
  policy?: string;
  keyUsage?: KeyUsageType;
  customerMasterKeySpec?: CustomerMasterKeySpec;
  isEnabled?: boolean;
  enableKeyRotation?: boolean;
  rotationPeriodInDays?: number;
  deletionWindowInDays?: number;
  multiRegion?: boolean;
}

/** KMS has its own names for the members of a tag. */
const kmsTags = (tags: Tags | undefined) =>
  Object.entries(tags ?? {}).map(([TagKey, TagValue]) => ({ TagKey, TagValue }));

async function find(aws: Aws, id: string) {
  const found = await orGone(aws.kms.send(new DescribeKeyCommand({ KeyId: id })));
  // A key is never deleted at once: from the moment it is scheduled it cannot be used any more.
  return found?.KeyMetadata?.KeyState === "PendingDeletion" ? undefined : found?.KeyMetadata;
}

async function setRotation(aws: Aws, id: string, inputs: Inputs): Promise<void> {
  await (inputs.enableKeyRotation
    ? aws.kms.send(new EnableKeyRotationCommand({ KeyId: id, RotationPeriodInDays: inputs.rotationPeriodInDays }))
    : aws.kms.send(new DisableKeyRotationCommand({ KeyId: id })));
}

const setEnabled = (aws: Aws, id: string, enabled: boolean) =>
  enabled ? aws.kms.send(new EnableKeyCommand({ KeyId: id })) : aws.kms.send(new DisableKeyCommand({ KeyId: id }));

async function tagsOf(aws: Aws, id: string): Promise<Tags> {
  const { Tags } = await aws.kms.send(new ListResourceTagsCommand({ KeyId: id }));
  return ownTags(Object.fromEntries((Tags ?? []).map(({ TagKey, TagValue }) => [TagKey ?? "", TagValue ?? ""])));
}

export const key = resource<Inputs>({
  token: "aws:kms/key:Key",
  tagged: true,
  inputs: [
    ...["description", "policy", "keyUsage", "customerMasterKeySpec", "isEnabled", "enableKeyRotation"],
    ...["rotationPeriodInDays", "deletionWindowInDays", "multiRegion"],
  ],
  computed: ["description", "policy", "multiRegion", "rotationPeriodInDays"],
  replaceOn: ["keyUsage", "customerMasterKeySpec", "multiRegion"],
  defaults: {
    keyUsage: "ENCRYPT_DECRYPT",
    customerMasterKeySpec: "SYMMETRIC_DEFAULT",
    isEnabled: true,
    enableKeyRotation: false,
  },
  compare: { policy: samePolicy },
  unread: ["deletionWindowInDays"],

  async create(aws, inputs) {
    const { KeyMetadata } = await aws.kms.send(
      new CreateKeyCommand({
        Description: inputs.description,
        Policy: inputs.policy,
        KeyUsage: inputs.keyUsage,
        KeySpec: inputs.customerMasterKeySpec,
        MultiRegion: inputs.multiRegion,
        Tags: kmsTags(inputs.tagsAll),
      }),
    );
    return finishing(KeyMetadata?.KeyId, async (id) => {
      if (inputs.enableKeyRotation) await setRotation(aws, id, inputs);
      if (inputs.isEnabled === false) await setEnabled(aws, id, false);
    });
  },

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual) return null;
    const [policy, rotation, tagsAll] = await Promise.all([
      aws.kms.send(new GetKeyPolicyCommand({ KeyId: id, PolicyName: "default" })),
      aws.kms.send(new GetKeyRotationStatusCommand({ KeyId: id })),
      tagsOf(aws, id),
    ]);
    return {
      arn: actual.Arn,
      customerMasterKeySpec: actual.KeySpec,
      description: actual.Description,
      enableKeyRotation: rotation.KeyRotationEnabled ?? false,
      isEnabled: actual.Enabled,
      keyId: actual.KeyId,
      keyUsage: actual.KeyUsage,
      multiRegion: actual.MultiRegion ?? false,
      policy: policy.Policy,
      rotationPeriodInDays: rotation.KeyRotationEnabled ? rotation.RotationPeriodInDays : undefined,
      tagsAll,
    };
  },

  async update(aws, id, change) {
    const { new: inputs } = change;
    if (change.has("isEnabled") && inputs.isEnabled) await setEnabled(aws, id, true);
    if (change.has("enableKeyRotation", "rotationPeriodInDays")) await setRotation(aws, id, inputs);
    if (change.has("description"))
      await aws.kms.send(new UpdateKeyDescriptionCommand({ KeyId: id, Description: inputs.description ?? "" }));
    if (change.has("policy") && inputs.policy)
      await aws.kms.send(new PutKeyPolicyCommand({ KeyId: id, PolicyName: "default", Policy: inputs.policy }));
    // Last: a disabled key takes no other change.
    if (change.has("isEnabled") && !inputs.isEnabled) await setEnabled(aws, id, false);
    await syncTags(
      change,
      (tags) => aws.kms.send(new TagResourceCommand({ KeyId: id, Tags: kmsTags(tags) })),
      (keys) => aws.kms.send(new UntagResourceCommand({ KeyId: id, TagKeys: keys })),
    );
  },

  async delete(aws, id, last) {
    try {
      await orGone(
        aws.kms.send(
          new ScheduleKeyDeletionCommand({ KeyId: id, PendingWindowInDays: last.deletionWindowInDays ?? 30 }),
        ),
      );
    } catch (error) {
      // Already scheduled.
      if (!hasCode(error, "KMSInvalidStateException") || (await find(aws, id))) throw error;
    }
  },
});
