import {
  GetSecretValueCommand,
  ListSecretVersionIdsCommand,
  PutSecretValueCommand,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import type { Aws } from "../clients.ts";
import { hasCode, orGone } from "../errors.ts";
import { resource, splitImportId } from "../handler.ts";

interface Inputs {
  secretId: string;
  secretString?: string;
  secretBinary?: string;
  versionStages?: string[];
}

const current = "AWSCURRENT";

const parse = (id: string) =>
  splitImportId(id, "|", "secretId", "versionId") as { secretId: string; versionId: string };

async function find(aws: Aws, secretId: string, versionId: string) {
  try {
    const query = new GetSecretValueCommand({ SecretId: secretId, VersionId: versionId });
    return await orGone(aws.secretsmanager.send(query));
  } catch (error) {
    if (hasCode(error, "InvalidRequestException")) return undefined; // the secret is scheduled for deletion
    throw error;
  }
}

/** The version that holds a stage now. */
async function holder(aws: Aws, secretId: string, stage: string): Promise<string | undefined> {
  const { Versions } = await aws.secretsmanager.send(new ListSecretVersionIdsCommand({ SecretId: secretId }));
  return Versions?.find(({ VersionStages }) => VersionStages?.includes(stage))?.VersionId;
}

async function moveStages(aws: Aws, id: string, olds: string[], news: string[]): Promise<void> {
  const { secretId, versionId } = parse(id);
  for (const stage of news.filter((name) => !olds.includes(name)))
    await aws.secretsmanager.send(
      new UpdateSecretVersionStageCommand({
        SecretId: secretId,
        VersionStage: stage,
        MoveToVersionId: versionId,
        RemoveFromVersionId: await holder(aws, secretId, stage),
      }),
    );
  for (const stage of olds.filter((name) => !news.includes(name) && name !== current))
    await aws.secretsmanager.send(
      new UpdateSecretVersionStageCommand({ SecretId: secretId, VersionStage: stage, RemoveFromVersionId: versionId }),
    );
}

export const secretVersion = resource<Inputs>({
  token: "aws:secretsmanager/secretVersion:SecretVersion",
  inputs: ["secretId", "secretString", "secretBinary", "versionStages"],
  computed: ["versionStages"],
  replaceOn: ["secretId", "secretString", "secretBinary"],
  sets: ["versionStages"],

  validate({ secretString, secretBinary }) {
    if (secretString !== undefined && secretBinary !== undefined)
      return [{ property: "secretBinary", reason: "set secretString or secretBinary, not both" }];
    return [];
  },

  async create(aws, inputs) {
    const { VersionId } = await aws.secretsmanager.send(
      new PutSecretValueCommand({
        SecretId: inputs.secretId,
        SecretString: inputs.secretString,
        SecretBinary: inputs.secretBinary ? Buffer.from(inputs.secretBinary, "base64") : undefined,
        VersionStages: inputs.versionStages,
      }),
    );
    return `${inputs.secretId}|${VersionId}`;
  },

  async read(aws, id, last) {
    const { secretId, versionId } = parse(id);
    const actual = await find(aws, secretId, versionId);
    if (!actual) return null;
    const binary = actual.SecretBinary && Buffer.from(actual.SecretBinary).toString("base64");
    return {
      arn: actual.ARN,
      secretArn: actual.ARN,
      secretBinary: binary,
      secretId: last.secretId ?? secretId,
      secretString: actual.SecretString,
      versionId: actual.VersionId,
      versionStages: actual.VersionStages,
    };
  },

  async update(aws, id, change) {
    await moveStages(aws, id, change.old.versionStages ?? [], change.new.versionStages ?? []);
  },

  /** A version without stages is removed by AWS; the current one goes with its secret. */
  async delete(aws, id) {
    const { secretId, versionId } = parse(id);
    const actual = await find(aws, secretId, versionId);
    await moveStages(aws, id, actual?.VersionStages ?? [], []);
  },
});
