import { inBase64 } from "../../../lib/base64.ts";
import { serviceAccountTrust, serviceTrust } from "../../../lib/iam/trust.ts";
import { secretReaderPolicy } from "../../../lib/iam/workloads.ts";
import type { Properties, Resource } from "../support/evaluate.ts";
import { type Example, examplesOf } from "../support/example.ts";

const issuer = "oidc.eks.eu-central-1.amazonaws.com/id/0123";
const providerArn = `arn:aws:iam::111111111111:oidc-provider/${issuer}`;
const trust = (serviceAccount: string, namespace = "flux-system") =>
  JSON.stringify(serviceAccountTrust({ issuer, providerArn }, { namespace, serviceAccount }));
const arnOf = (role: string) => `arn:aws:iam::111111111111:role/${role}`;
const role = (name: string, assumeRolePolicy: string): Resource => ({
  type: "aws:iam/role:Role",
  name,
  props: { name, arn: arnOf(name), assumeRolePolicy },
});
const account = (name: string, roleArn?: string): Resource => ({
  type: "kubernetes:core/v1:ServiceAccount",
  name: `account-${name}`,
  props: {
    metadata: { name, namespace: "flux-system", annotations: roleArn ? { "eks.amazonaws.com/role-arn": roleArn } : {} },
  },
});
const bridge = (serviceAccount: string, roleArn: string): Resource => ({
  type: "kubernetes:core/v1:Secret",
  name: "bridge",
  props: {
    metadata: { name: "cluster-hub", namespace: "flux-system" },
    data: inBase64({
      x_iam_role_arn: roleArn,
      x_namespace: "flux-system",
      x_service_account: serviceAccount,
      cluster_name: "hub",
    }),
  },
});

const one = examplesOf("stack-role-one-service-account");
const readers = examplesOf("stack-secret-readers");

const both = JSON.stringify({
  Statement: ["a", "b"].map((name) => ({
    Effect: "Allow",
    Principal: { Federated: providerArn },
    Condition: { StringEquals: { [`${issuer}:sub`]: `system:serviceaccount:flux-system:${name}` } },
  })),
});

const secretArn = (name: string) => `arn:aws:secretsmanager:eu-central-1:111111111111:secret:${name}-AbCdEf`;
const secret = (name: string): Resource => ({
  type: "aws:secretsmanager/secret:Secret",
  name: name.replaceAll("/", "-"),
  props: { name, arn: secretArn(name) },
});
const reading = (...secretArns: string[]) =>
  JSON.stringify(
    secretReaderPolicy({
      secretArns,
      keyArn: "arn:aws:kms:eu-central-1:111111111111:key/k",
      region: "eu-central-1",
      dnsSuffix: "amazonaws.com",
    }),
  );
const rights = (of: string, policy: string): Resource => ({
  type: "aws:iam/rolePolicy:RolePolicy",
  name: `${of}-rights`,
  props: { name: of, role: of, policy },
});
const attachment = (of: string, policyArn: string): Resource => ({
  type: "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
  name: `${of}-attachment`,
  props: { role: of, policyArn },
});
const managed = (arn: string, policy: string): Resource => ({
  type: "aws:iam/policy:Policy",
  name: "managed",
  props: { name: "managed", arn, policy },
});
const store = (serviceAccount?: string, kind = "SecretStore"): Resource => ({
  type: `kubernetes:external-secrets.io/v1:${kind}`,
  name: "store",
  props: {
    metadata: { name: "store", namespace: "flux-system" },
    spec: {
      provider: { aws: serviceAccount ? { auth: { jwt: { serviceAccountRef: { name: serviceAccount } } } } : {} },
    },
  },
});
const external = (spec: Properties): Resource => ({
  type: "kubernetes:external-secrets.io/v1:ExternalSecret",
  name: "external",
  props: {
    metadata: { name: "git", namespace: "flux-system" },
    spec: { secretStoreRef: { kind: "SecretStore", name: "store" }, ...spec },
  },
});
const extract = (key: string) => external({ dataFrom: [{ extract: { key } }] });

const git = "acme/git/gitops-system";
const reader = role("reader", trust("reader"));
const world = [secret(git), secret("acme/sealing-keys/prod/1"), reader, store("reader")];
const unread = (of: string, name = git) =>
  `${of}: role ${of} may read secret ${name}, and nothing in the stack reads it through that role: narrow the policy of the role`;

export const stackExamples: readonly Example[] = [
  one("an annotated service account and an add-on of the cluster secret pass", [
    role("a", trust("a")),
    account("a", arnOf("a")),
    role("b", trust("b")),
    bridge("b", arnOf("b")),
    account("plain"),
  ]),
  one("roles of AWS services are none of its business", [role("a", JSON.stringify(serviceTrust("ec2.amazonaws.com")))]),
  one(
    "a role for two service accounts is stopped",
    [role("a", both), account("a", arnOf("a"))],
    ["a: the role trusts 2 service accounts (flux-system/a, flux-system/b): a role must trust exactly one"],
  ),
  one(
    "a role for any service account is stopped",
    [role("a", JSON.stringify({ Statement: [{ Effect: "Allow", Principal: { Federated: providerArn } }] }))],
    ["a: the role trusts 0 service accounts: a role must trust exactly one"],
  ),
  one(
    "two roles for one service account are stopped",
    [role("a", trust("a")), role("b", trust("a")), account("a", arnOf("a")), bridge("a", arnOf("b"))],
    ["b: service account flux-system/a already has the role a: give each account one role"],
  ),
  one(
    "a service account that the role does not trust is stopped, also in the cluster secret",
    [role("a", trust("a")), account("a", arnOf("a")), account("b", arnOf("a")), bridge("c", arnOf("a"))],
    [
      "account-b: flux-system/b is bound to role a, which trusts flux-system/a: bind the account that the role trusts",
      "bridge: flux-system/c is bound to role a, which trusts flux-system/a: bind the account that the role trusts",
    ],
  ),
  one(
    "a role that nobody is bound to is stopped",
    [role("a", trust("a")), account("a")],
    [
      "a: nothing binds service account flux-system/a to the role: annotate it, write it into the cluster secret, or remove the role",
    ],
  ),

  readers("the reader of an ExternalSecret passes", [
    ...world,
    rights("reader", reading(secretArn(git))),
    extract(git),
  ]),
  readers("also by single members and by ARN", [
    ...world,
    rights("reader", reading(secretArn(git))),
    external({ data: [{ remoteRef: { key: secretArn(git) } }] }),
  ]),
  readers("also through a store for the whole cluster", [
    secret(git),
    reader,
    store("reader", "ClusterSecretStore"),
    rights("reader", reading(secretArn(git))),
    external({ secretStoreRef: { kind: "ClusterSecretStore", name: "store" }, dataFrom: [{ extract: { key: git } }] }),
  ]),
  readers("secrets that nobody on the hub reads pass", [...world]),
  readers(
    "rights on secrets that nothing reads are stopped",
    [...world, rights("reader", reading(secretArn("acme/*"))), extract(git)],
    [unread("reader", "acme/sealing-keys/prod/1")],
  ),
  readers(
    "another role that may read a secret is stopped, by whichever policy",
    [
      ...world,
      rights("reader", reading(secretArn(git))),
      extract(git),
      role("other", trust("other")),
      attachment("other", "arn:managed"),
      managed(
        "arn:managed",
        JSON.stringify({
          Statement: { Effect: "Allow", NotAction: "iam:*", NotResource: secretArn("acme/sealing-keys/*") },
        }),
      ),
    ],
    [unread("other")],
  ),
  readers(
    "a reader without rights is stopped",
    [...world, extract(git)],
    [`external: secret ${git} is read as role reader, which may not: allow secretsmanager:GetSecretValue on it`],
  ),
  readers(
    "a store without a service account is stopped",
    [secret(git), store(), extract(git)],
    [`external: ${git} is read through a store without a service account: the role that reads it can't be determined`],
  ),
  readers(
    "a reader outside the stack can be listed with its reason",
    [...world, rights("reader", reading(secretArn(git)))],
    [],
    { readers: [{ secret: "*/git/*", role: "reader", reason: "a job outside the cluster reads it" }] },
  ),
];
