import { DescribeSecretCommand } from "@aws-sdk/client-secrets-manager";
import { orGone } from "../../../aws/errors.ts";
import { secret } from "../../../aws/secretsmanager/secret.ts";
import { secretVersion } from "../../../aws/secretsmanager/secret-version.ts";
import { id, reference } from "../fields.ts";
import { assigned, type Kind } from "../kind.ts";

const group = "secretsmanager";

export const kinds: readonly Kind[] = [
  {
    ...{ group, kind: "Secret", plural: "secrets", handler: secret, externalName: assigned },
    generatedName: "name",
    recover: async (aws, { name }) =>
      (await orGone(aws.secretsmanager.send(new DescribeSecretCommand({ SecretId: String(name) }))))?.ARN,
    spec: {
      description: "string",
      kmsKeyId: reference("kms/Key"),
      name: "string",
      recoveryWindowInDays: "number",
    },
    status: { arn: "string", policy: "string" },
  },
  {
    ...{ group, kind: "SecretVersion", plural: "secretversions", handler: secretVersion, externalName: assigned },
    // A version more does no harm: the newest is the current one.
    recover: () => Promise.resolve(undefined),
    spec: {
      secretBinary: { type: "string", secret: true },
      secretId: reference("secretsmanager/Secret", id),
      secretString: { type: "string", secret: true },
      versionStages: "set",
    },
    status: { arn: "string", secretArn: "string", versionId: "string" },
  },
];
