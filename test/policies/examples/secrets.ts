import type { Properties, Resource } from "../support/evaluate.ts";
import { type Example, examplesOf } from "../support/example.ts";

const secret = (props: Properties): Resource => ({ type: "aws:secretsmanager/secret:Secret", props });
const key = (props: Properties): Resource => ({ type: "aws:kms/key:Key", props });
const configMap = (data: Properties): Resource => ({ type: "kubernetes:core/v1:ConfigMap", props: { data } });

const release = (repositoryOpts: Properties): Resource => ({
  type: "kubernetes:helm.sh/v3:Release",
  props: { chart: "flux2", repositoryOpts },
});

const customer = examplesOf("secrets-customer-key");
const recovery = examplesOf("secrets-recovery-window");
const rotation = examplesOf("kms-key-rotation");
const deletion = examplesOf("kms-deletion-window");
const plaintext = examplesOf("secrets-no-plaintext");

const ownKey = "the secret is encrypted with AWS's own key: set kmsKeyId to a customer managed key";
const neverRotated = "the key is never rotated: set enableKeyRotation to true";
const found = (path: string, what: string) =>
  `${path} contains ${what} in plain text: move it to Secrets Manager, and replace it`;

// Credentials of no one: put together here, so that nobody finds one by searching the repository.
const pem = ["-----BEGIN", "OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk=\n-----END OPENSSH PRIVATE KEY-----"].join(" ");
const accessKey = ["AKIA", "IOSFODNN7EXAMPLE"].join("");
const githubToken = ["ghp", "0123456789abcdefghijklmnopqrstuvwxyz"].join("_");
const gitlabToken = ["glpat", "0123456789abcdefghij"].join("-");
const slackToken = ["xoxb", "0123456789-abcdefghij"].join("-");
const webToken = ["eyJhbGciOiJSUzI1NiJ9", "eyJzdWIiOiJzeXN0ZW0ifQ", "c2lnbmF0dXJl"].join(".");
const kubeconfig = (user: object) =>
  JSON.stringify({ kind: "Config", clusters: [{ name: "hub" }], users: [{ name: "me", user }] });

export const secretExamples: readonly Example[] = [
  customer("a customer managed key passes", secret({ kmsKeyId: "arn:aws:kms:eu-central-1:111111111111:key/k" })),
  customer("no key is stopped", secret({}), [ownKey]),
  customer("AWS's own key by its alias is stopped", secret({ kmsKeyId: "alias/aws/secretsmanager" }), [ownKey]),

  recovery("a week passes", secret({ recoveryWindowInDays: 7 })),
  recovery("AWS's default of 30 days passes", secret({})),
  recovery("deletion at once is stopped", secret({ recoveryWindowInDays: 0 }), [
    "recoveryWindowInDays is 0: at least 7 days must remain to restore the secret",
  ]),
  recovery(
    "the days are a parameter",
    secret({ recoveryWindowInDays: 7 }),
    ["recoveryWindowInDays is 7: at least 14 days must remain to restore the secret"],
    { minimumDays: 14 },
  ),
  recovery(
    "an exempt environment may delete at once",
    secret({ recoveryWindowInDays: 0, tags: { environment: "local" } }),
    [],
    { exceptEnvironments: ["local"] },
  ),

  rotation("a rotated key passes", key({ enableKeyRotation: true })),
  rotation("AWS can't rotate an asymmetric key", key({ customerMasterKeySpec: "RSA_4096" })),
  rotation("a key without rotation is stopped", key({}), [neverRotated]),
  rotation(
    "rotation that is switched off is stopped",
    key({ enableKeyRotation: false, customerMasterKeySpec: "SYMMETRIC_DEFAULT" }),
    [neverRotated],
  ),

  deletion("AWS's default of 30 days passes", key({})),
  deletion("a week passes", key({ deletionWindowInDays: 7 })),
  deletion(
    "fewer days than the parameter asks for are stopped",
    key({ deletionWindowInDays: 7 }),
    ["deletionWindowInDays is 7: at least 30 days must remain to keep the key"],
    { minimumDays: 30 },
  ),
  deletion("fewer days than a week are stopped", key({ deletionWindowInDays: 3 }), [
    "deletionWindowInDays is 3: at least 7 days must remain to keep the key",
  ]),

  plaintext("the password of a chart repository passes", release({ password: githubToken })),
  plaintext(
    "the same token as the user name, or in the address, is stopped",
    release({ username: githubToken, repo: `https://${gitlabToken}@charts.example` }),
    [found("repositoryOpts.username", "a GitHub token"), found("repositoryOpts.repo", "a GitLab token")],
  ),
  plaintext("the same path elsewhere is stopped", configMap({ repositoryOpts: { password: githubToken } }), [
    found("data.repositoryOpts.password", "a GitHub token"),
  ]),
  plaintext(
    "what only sounds like a secret passes",
    configMap({ token_url: "https://example.com/token", secrets_key: "alias/fleet" }),
  ),
  plaintext(
    "a public key and a certificate pass",
    configMap({ key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI", ca: "-----BEGIN CERTIFICATE-----\nMII" }),
  ),
  plaintext(
    "a kubeconfig that asks aws for a token passes",
    configMap({ config: kubeconfig({ exec: { command: "aws" } }) }),
  ),
  plaintext("secrets may hold secrets", [
    { type: "aws:secretsmanager/secretVersion:SecretVersion", props: { secretString: pem } },
    { type: "aws:ssm/parameter:Parameter", props: { type: "SecureString", value: githubToken } },
    {
      type: "kubernetes:core/v1:Secret",
      props: { data: { key: Buffer.from(pem).toString("base64") }, stringData: { token: githubToken } },
    },
    { type: "tls:index/selfSignedCert:SelfSignedCert", props: { privateKeyPem: pem } },
    { type: "pulumi:providers:kubernetes", props: { kubeconfig: kubeconfig({ token: "t" }) } },
  ]),
  plaintext(
    "each kind of credential is stopped where it stands",
    configMap({ pem, accessKey, github: githubToken, gitlab: gitlabToken, slack: slackToken, web: webToken }),
    [
      found("data.pem", "a private key"),
      found("data.accessKey", "an AWS access key ID"),
      found("data.github", "a GitHub token"),
      found("data.gitlab", "a GitLab token"),
      found("data.slack", "a Slack token"),
      found("data.web", "a JSON web token"),
    ],
  ),
  plaintext(
    "a kubeconfig with a token or a client key is stopped",
    configMap({ a: kubeconfig({ token: "t" }), b: kubeconfig({ "client-key-data": "k" }) }),
    [
      found("data.a", "a kubeconfig or cluster configuration with a credential"),
      found("data.b", "a kubeconfig or cluster configuration with a credential"),
    ],
  ),
  plaintext(
    "base64 hides nothing",
    { type: "aws:ec2/launchTemplate:LaunchTemplate", props: { userData: Buffer.from(pem).toString("base64") } },
    [found("userData", "a private key")],
  ),
  plaintext(
    "lists are searched too, and what stands beside data in a Secret",
    {
      type: "kubernetes:core/v1:Secret",
      props: { metadata: { annotations: { old: githubToken }, finalizers: [accessKey] } },
    },
    [found("metadata.annotations.old", "a GitHub token"), found("metadata.finalizers[0]", "an AWS access key ID")],
  ),
  plaintext(
    "a parameter that is not secure is stopped",
    { type: "aws:ssm/parameter:Parameter", props: { type: "String", value: githubToken } },
    [found("value", "a GitHub token")],
  ),
];
