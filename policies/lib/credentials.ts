/** What credentials look like, in plain text or in base64. */

const forms: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, "a private key"],
  [/\b(AKIA|ASIA)[0-9A-Z]{16}\b/, "an AWS access key ID"],
  [/\b(gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})/, "a GitHub token"],
  [/\bglpat-[A-Za-z0-9_-]{20}/, "a GitLab token"],
  [/\bxox[abeoprs]-[A-Za-z0-9-]{10}/, "a Slack token"],
  [/\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\./, "a JSON web token"],
  [
    /\b(client-key-data|bearerToken|keyData|token|password)["']?\s*:\s*["']?[^\s"',{}[\]]/,
    "a kubeconfig or cluster configuration with a credential",
  ],
];

/** Whether a text describes how to reach a cluster: the last pattern only counts there. */
const describesCluster = /\b(clusters|users|tlsClientConfig|kind["']?\s*:\s*["']?Config)\b/;

/** The kind of credential that a text contains; undefined for none. */
export function credentialIn(value: string): string | undefined {
  return find(value) ?? (isBase64(value) ? find(Buffer.from(value, "base64").toString("utf8")) : undefined);
}

function find(value: string): string | undefined {
  const candidates = describesCluster.test(value) ? forms : forms.slice(0, -1);
  return candidates.find(([form]) => form.test(value))?.[1];
}

const isBase64 = (value: string): boolean => value.length >= 24 && /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(value);

/** Whether a key names a credential: `token`, `tls.key`, `client-key-data`, `awsSecretAccessKey`; not `secrets_kms_key_arn`. */
export function namesCredential(key: string): boolean {
  const snake = key
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[.-]/g, "_")
    .toLowerCase();
  return /(^|_)(token|password|passphrase|secret|credentials?|kubeconfig|key|key_data|key_id)$/.test(snake);
}
