/** Secrets Manager, KMS, and secrets where they do not belong. */
import { credentialIn } from "./lib/credentials.ts";
import { each, integer, resourceRule } from "./lib/rule.ts";
import { environmentOf, exceptEnvironments } from "./lib/tags.ts";
import { isSet, record, text } from "./lib/values.ts";

const secret = ["aws:secretsmanager/secret:Secret"];
const key = ["aws:kms/key:Key"];

/** Days that AWS takes when none are given, for secrets as for keys. */
const awsDefaultDays = 30;

const customerKey = resourceRule({
  id: "secrets-customer-key",
  description:
    "Secrets are encrypted with a customer managed key, so that the fleet controls key policies and rotation.",
  remediation: "Set kmsKeyId to the ARN of a customer managed key.",
  types: secret,
  *check({ props }) {
    if (!isSet(props, "kmsKeyId") || text(props["kmsKeyId"]).includes("alias/aws/"))
      yield "the secret is encrypted with AWS's own key: set kmsKeyId to a customer managed key";
  },
});

const recoveryWindow = resourceRule({
  id: "secrets-recovery-window",
  description: "A deleted secret can be restored for some days.",
  remediation: "Set secretRecoveryWindowDays in the configuration of the stack.",
  parameters: {
    minimumDays: integer("Least number of days.", 7, 0),
    exceptEnvironments: exceptEnvironments("whose secrets may go at once", []),
  },
  types: secret,
  *check(resource, config) {
    const days = resource.props["recoveryWindowInDays"] ?? awsDefaultDays;
    if (Number(days) < config.minimumDays && !config.exceptEnvironments.includes(environmentOf(resource)))
      yield `recoveryWindowInDays is ${Number(days)}: at least ${config.minimumDays} days must remain to restore the secret`;
  },
});

const keyRotation = resourceRule({
  id: "kms-key-rotation",
  description: "Symmetric keys are rotated every year.",
  remediation: "Set enableKeyRotation.",
  types: key,
  *check({ props }) {
    // AWS does not rotate asymmetric and HMAC keys.
    const symmetric = (props["customerMasterKeySpec"] ?? "SYMMETRIC_DEFAULT") === "SYMMETRIC_DEFAULT";
    if (symmetric && props["enableKeyRotation"] !== true)
      yield "the key is never rotated: set enableKeyRotation to true";
  },
});

const keyDeletionWindow = resourceRule({
  id: "kms-deletion-window",
  description:
    "The deletion of a key can be cancelled for some days, because with the key everything that it encrypted is lost.",
  remediation: "Set kmsDeletionWindowDays in the configuration of the stack.",
  parameters: { minimumDays: integer("Least number of days, 7 to 30.", 7, 7) },
  types: key,
  *check({ props }, { minimumDays }) {
    const days = props["deletionWindowInDays"] ?? awsDefaultDays;
    if (Number(days) < minimumDays)
      yield `deletionWindowInDays is ${Number(days)}: at least ${minimumDays} days must remain to keep the key`;
  },
});

/**
 * Paths of what exists to hold secrets; providers and Pulumi encrypt them. Whether this one is encrypted nobody can see here: the
 * policy SDK unwraps secrets (@pulumi/policy, deserialize.js, `deserializeProperty`).
 */
const secretPaths: Readonly<Record<string, readonly string[]>> = {
  "aws:secretsmanager/secretVersion:SecretVersion": ["secretString", "secretBinary", "secretStringWo"],
  "kubernetes:core/v1:Secret": ["data", "stringData"],
  "kubernetes:helm.sh/v3:Release": ["repositoryOpts.password"],
};
/** Packages whose resources are made of secrets, and providers, whose configuration holds some. */
const secretPackages = /^(pulumi|tls|random):/;

const plaintext = resourceRule({
  id: "secrets-no-plaintext",
  description:
    "Private keys, tokens and kubeconfigs are in secrets only, never in tags, descriptions, ConfigMaps or user data.",
  remediation:
    "Put the value into Secrets Manager and give the reader a role. Treat a value that was committed or deployed once as stolen, and replace it.",
  types: (type) => !secretPackages.test(type),
  *check({ type, props }) {
    const exempt = secretPaths[type] ?? (isSecureParameter(type, props) ? ["value"] : []);
    yield* plaintextIn(props, "", exempt);
  },
});

const isSecureParameter = (type: string, props: Readonly<Record<string, unknown>>): boolean =>
  type === "aws:ssm/parameter:Parameter" && props["type"] === "SecureString";

function* plaintextIn(value: unknown, path: string, exempt: readonly string[]): Generator<string> {
  if (typeof value === "string") {
    const found = credentialIn(value);
    if (found) yield `${path} contains ${found} in plain text: move it to Secrets Manager, and replace it`;
  } else if (Array.isArray(value)) {
    yield* each([...value.keys()], (index) => plaintextIn(value[index], `${path}[${index}]`, exempt));
  } else {
    const members = record(value);
    const at = (name: string) => (path === "" ? name : `${path}.${name}`);
    const open = Object.keys(members).filter((name) => !exempt.includes(at(name)));
    yield* each(open, (name) => plaintextIn(members[name], at(name), exempt));
  }
}

export const secretPolicies = [customerKey, recoveryWindow, keyRotation, keyDeletionWindow, plaintext];
