/** Secrets and their values. */
import * as sdk from "@aws-sdk/client-secrets-manager";
import { samePolicy } from "./compare.ts";
import type { Aws } from "./connection.ts";
import { computed, fixed, out } from "./define/fields.ts";
import { define, pairTags } from "./define/resource.ts";
import { hasCode } from "./errors.ts";
import { composite, type Handler } from "./handler.ts";

const api = (aws: Aws) => aws.client(sdk.SecretsManagerClient);

/** Scheduled for deletion counts as gone. */
async function find(aws: Aws, SecretId: string) {
  const found = await api(aws).send(new sdk.DescribeSecretCommand({ SecretId }));
  return found.DeletedDate ? undefined : found;
}

const secret = define({
  token: "aws:secretsmanager/secret:Secret",
  autoName: { property: "name", maxLength: 512 },
  tags: pairTags(
    (aws, SecretId, Tags) => api(aws).send(new sdk.TagResourceCommand({ SecretId, Tags })),
    (aws, SecretId, TagKeys) => api(aws).send(new sdk.UntagResourceCommand({ SecretId, TagKeys })),
  ),
  fields: {
    name: { fixed },
    description: {},
    kmsKeyId: {},
    recoveryWindowInDays: { type: "number", api: null, default: 30, unread: true },
    arn: out("ARN"),
  },
  validate({ recoveryWindowInDays: days }) {
    if (days === undefined || days === 0 || (days >= 7 && days <= 30)) return [];
    return [{ property: "recoveryWindowInDays", reason: `${days} is not allowed: 0 (delete at once) or 7 to 30` }];
  },
  create: async (aws, request) => (await api(aws).send(new sdk.CreateSecretCommand(request as never))).ARN,
  find,
  settings: [
    {
      fields: ["description", "kmsKeyId"],
      call: (aws, SecretId, { description: Description = "", kmsKeyId: KmsKeyId }) =>
        api(aws).send(new sdk.UpdateSecretCommand({ SecretId, Description, KmsKeyId })),
    },
  ],
  async delete(aws, SecretId, { recoveryWindowInDays: days = 30 }) {
    if (!(await find(aws, SecretId))) return;
    const how = days === 0 ? { ForceDeleteWithoutRecovery: true } : { RecoveryWindowInDays: days };
    await api(aws).send(new sdk.DeleteSecretCommand({ SecretId, ...how }));
  },
});

const current = "AWSCURRENT";

const version = composite("|", "secretId", "versionId");

const parse = (id: string) => {
  const { secretId: SecretId, versionId: VersionId } = version.partsOf(id);
  return { SecretId, VersionId };
};

/** The version that holds a stage now. */
async function holder(aws: Aws, SecretId: string, stage: string): Promise<string | undefined> {
  const { Versions } = await api(aws).send(new sdk.ListSecretVersionIdsCommand({ SecretId }));
  return Versions?.find(({ VersionStages }) => VersionStages?.includes(stage))?.VersionId;
}

async function moveStages(aws: Aws, id: string, olds: string[], news: string[]): Promise<void> {
  const { SecretId, VersionId } = parse(id);
  const move = (VersionStage: string, to: string | undefined, from: string | undefined) =>
    api(aws).send(
      new sdk.UpdateSecretVersionStageCommand({
        SecretId,
        VersionStage,
        MoveToVersionId: to,
        RemoveFromVersionId: from,
      }),
    );
  for (const stage of news.filter((name) => !olds.includes(name)))
    await move(stage, VersionId, await holder(aws, SecretId, stage));
  for (const stage of olds.filter((name) => !news.includes(name) && name !== current))
    await move(stage, undefined, VersionId);
}

async function value(aws: Aws, id: string) {
  try {
    return await api(aws).send(new sdk.GetSecretValueCommand(parse(id)));
  } catch (error) {
    if (hasCode(error, "InvalidRequestException")) return undefined; // the secret is scheduled for deletion
    throw error;
  }
}

const secretVersion = define({
  token: "aws:secretsmanager/secretVersion:SecretVersion",
  fields: {
    secretId: { fixed, get: (_item, { id, last }) => last["secretId"] ?? parse(id).SecretId },
    secretString: { fixed },
    versionStages: { computed, type: "set" },
    arn: out("ARN"),
    secretArn: out("ARN"),
    versionId: out(),
  },
  create: async (aws, request, { secretId }) =>
    `${secretId}|${(await api(aws).send(new sdk.PutSecretValueCommand(request as never))).VersionId}`,
  find: value,
  settings: [
    {
      fields: ["versionStages"],
      call: (aws, id, { versionStages: now = [] }, { old }) => moveStages(aws, id, old.versionStages ?? [], now),
    },
  ],
  /** AWS removes a version without stages; the current version is deleted with its secret. */
  delete: async (aws, id) => moveStages(aws, id, (await value(aws, id))?.VersionStages ?? [], []),
});

/** What others may do with a secret: one policy a secret, and the secret's ARN is its id. */
const secretPolicy = define({
  token: "aws:secretsmanager/secretPolicy:SecretPolicy",
  fields: {
    secretArn: { fixed, api: "SecretId", get: ({ ARN }) => ARN },
    policy: { api: "ResourcePolicy", same: samePolicy },
    blockPublicPolicy: { type: "boolean", unread: true },
  },
  create: async (aws, request, { secretArn }) => {
    await api(aws).send(new sdk.PutResourcePolicyCommand(request as never));
    return secretArn as string;
  },
  async find(aws, SecretId) {
    const found = await api(aws).send(new sdk.GetResourcePolicyCommand({ SecretId }));
    return found.ResourcePolicy ? found : undefined;
  },
  settings: [
    {
      fields: ["policy", "blockPublicPolicy"],
      call: (aws, SecretId, { policy: ResourcePolicy, blockPublicPolicy: BlockPublicPolicy }) =>
        api(aws).send(new sdk.PutResourcePolicyCommand({ SecretId, ResourcePolicy, BlockPublicPolicy })),
    },
  ],
  delete: (aws, SecretId) => api(aws).send(new sdk.DeleteResourcePolicyCommand({ SecretId })),
});

export const secretsmanagerResources: readonly Handler[] = [secret, secretPolicy, secretVersion];
