import {
  CreateSecretCommand,
  DeleteResourcePolicyCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetResourcePolicyCommand,
  PutResourcePolicyCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateSecretCommand,
} from "@aws-sdk/client-secrets-manager";
import type { Aws } from "../clients.ts";
import { samePolicy } from "../compare.ts";
import { orGone } from "../errors.ts";
import { finishing, resource, type Tagged } from "../handler.ts";
import { syncTags, tagPairs, tagsFrom } from "../tags.ts";

interface Inputs extends Tagged {
  name: string;
  description?: string;
  kmsKeyId?: string;
  policy?: string;
  recoveryWindowInDays?: number;
}

async function find(aws: Aws, id: string) {
  const found = await orGone(aws.secretsmanager.send(new DescribeSecretCommand({ SecretId: id })));
  return found?.DeletedDate ? undefined : found; // scheduled for deletion counts as gone
}

const putPolicy = (aws: Aws, id: string, policy: string) =>
  aws.secretsmanager.send(
    new PutResourcePolicyCommand({ SecretId: id, ResourcePolicy: policy, BlockPublicPolicy: true }),
  );

async function setPolicy(aws: Aws, id: string, policy: string | undefined): Promise<void> {
  if (policy) await putPolicy(aws, id, policy);
  else await aws.secretsmanager.send(new DeleteResourcePolicyCommand({ SecretId: id }));
}

export const secret = resource<Inputs>({
  token: "aws:secretsmanager/secret:Secret",
  tagged: true,
  inputs: ["name", "description", "kmsKeyId", "policy", "recoveryWindowInDays"],
  computed: ["policy"],
  replaceOn: ["name"],
  defaults: { recoveryWindowInDays: 30 },
  autoName: { property: "name", maxLength: 512 },
  compare: { policy: samePolicy },
  unread: ["recoveryWindowInDays"],

  validate({ recoveryWindowInDays: days }) {
    if (days === undefined || days === 0 || (days >= 7 && days <= 30)) return [];
    return [{ property: "recoveryWindowInDays", reason: `${days} is not allowed: 0 (delete at once) or 7 to 30` }];
  },

  async create(aws, inputs) {
    const { ARN } = await aws.secretsmanager.send(
      new CreateSecretCommand({
        Name: inputs.name,
        Description: inputs.description,
        KmsKeyId: inputs.kmsKeyId,
        Tags: tagPairs(inputs.tagsAll),
      }),
    );
    return finishing(ARN, async (id) => {
      if (inputs.policy) await putPolicy(aws, id, inputs.policy);
    });
  },

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual) return null;
    const policy = await aws.secretsmanager.send(new GetResourcePolicyCommand({ SecretId: id }));
    return {
      arn: actual.ARN,
      description: actual.Description || undefined,
      kmsKeyId: actual.KmsKeyId || undefined,
      name: actual.Name,
      policy: policy.ResourcePolicy || undefined,
      tagsAll: tagsFrom(actual.Tags),
    };
  },

  async update(aws, id, change) {
    const { new: inputs } = change;
    if (change.has("description", "kmsKeyId"))
      await aws.secretsmanager.send(
        new UpdateSecretCommand({ SecretId: id, Description: inputs.description ?? "", KmsKeyId: inputs.kmsKeyId }),
      );
    if (change.has("policy")) await setPolicy(aws, id, inputs.policy);
    await syncTags(
      change,
      (tags) => aws.secretsmanager.send(new TagResourceCommand({ SecretId: id, Tags: tagPairs(tags) })),
      (keys) => aws.secretsmanager.send(new UntagResourceCommand({ SecretId: id, TagKeys: keys })),
    );
  },

  async delete(aws, id, last) {
    if (!(await find(aws, id))) return;
    const days = last.recoveryWindowInDays ?? 30;
    const how = days === 0 ? { ForceDeleteWithoutRecovery: true } : { RecoveryWindowInDays: days };
    await orGone(aws.secretsmanager.send(new DeleteSecretCommand({ SecretId: id, ...how })));
  },
});
