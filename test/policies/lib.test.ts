import { describe, expect, test } from "vitest";
import { credentialIn, namesCredential } from "../../policies/lib/credentials.ts";
import {
  coversAction,
  coversResource,
  hasWildcard,
  isEverything,
  statements,
  trustedIssuers,
} from "../../policies/lib/iam-documents.ts";
import { glob, texts, words } from "../../policies/lib/values.ts";

const configuration = "a kubeconfig or cluster configuration with a credential";

describe("a credential is seen", () => {
  test.each([
    ["clusters:\n- name: a\nusers:\n- user: {token: abc}", "in YAML"],
    ['{"users":[{"user":{"password":"abc"}}]}', "in JSON"],
    ["kind: Config\ntoken: abc", "of a kubeconfig by its kind"],
    ['{"kind":"Config","token":"abc"}', "of a kubeconfig by its kind, in JSON"],
    ['{"kind" : "Config", "token" : "abc"}', "of a kubeconfig by its kind, in JSON with spaces"],
    ["'kind': 'Config'\n'client-key-data': 'abc'", "between single quotes"],
    ['{"tlsClientConfig":{"keyData":"abc"}}', "of an Argo CD cluster"],
    ['{"bearerToken":"abc","tlsClientConfig":{}}', "of an Argo CD cluster by its token"],
  ])("%s", (text) => {
    expect(credentialIn(text)).toBe(configuration);
    expect(credentialIn(Buffer.from(text.padEnd(24)).toString("base64")), "in base64").toBe(configuration);
  });

  test.each([
    ["kind: ConfigMap\ntoken: abc", "of another kind"],
    ["kind: MyConfig\ntoken: abc", "of a kind whose name only ends so"],
    ["mykind: Config2\ntoken: abc", "of no kind"],
    ["token: abc", "without a cluster"],
    ["users:\n- user: {token: }", "without a value"],
    ["users:\n- user: {mytoken: abc}", "under a name that only ends so"],
    ["eyJhbGciOiJ", "too short for base64"],
  ])("not in %j: %s", (text) => expect(credentialIn(text)).toBeUndefined());

  test("in no text that is base64 of something else, or no base64 at all", () => {
    expect(credentialIn(Buffer.from("nothing to see in this text").toString("base64"))).toBeUndefined();
    expect(credentialIn("-----BEGIN PRIVATE KEY-----!")).toBe("a private key");
    expect(credentialIn("xAKIAIOSFODNN7EXAMPLE")).toBeUndefined();
    expect(credentialIn("AKIAIOSFODNN7EXAMPL")).toBeUndefined();
  });
});

describe("the name of a credential", () => {
  test.each([
    ...[
      ...["token", "password", "passphrase", "secret", "credential", "credentials"],
      ...["kubeconfig", "key", "keyData", "keyId"],
    ],
    ...["tls.key", "client-key-data", "awsSecretAccessKey", "git_token", "AWS.Access-Key-Id", "adminPassword", "s3Key"],
  ])("%s", (name) => expect(namesCredential(name)).toBe(true));

  test.each([
    ...["secrets_kms_key_arn", "tokens", "keys", "monkey", "publicKeyUrl", "secretName"],
    ...["credentialsFile", "hotkey", "turkey"],
  ])("not %s", (name) => expect(namesCredential(name)).toBe(false));
});

describe("a pattern of resources names everything of a kind", () => {
  test.each([
    ...[
      ...["*", "**", "?*", "arn:aws:iam::1:role/*", "arn:aws:kms:us-east-1:1:key/*"],
      ...["arn:aws:s3:::*", "arn:aws:sqs:us-east-1:1:*"],
    ],
    ...["arn:aws:secretsmanager:us-east-1:1:secret:*", "arn:aws:eks:us-east-1:1:access-entry/*"],
  ])("%s", (pattern) => expect(isEverything(pattern)).toBe(true));

  test.each([
    ...["arn:aws:iam::1:role/fleet-*", "arn:aws:s3:::fleet", "arn:aws:s3:::fleet-*", "arn:aws:kms:us-east-1:1:key/1*2"],
    ...["role/*x", "arn:aws:eks:us-east-1:1:cluster/*/name", ""],
  ])("not %s", (pattern) => expect(isEverything(pattern)).toBe(false));

  test("a wildcard is a star or a question mark", () => {
    expect(["a*", "a?", "*", "?"].map(hasWildcard)).toEqual([true, true, true, true]);
    expect(hasWildcard("arn:aws:iam::1:role/a")).toBe(false);
  });
});

describe("a statement", () => {
  const [read] =
    statements({
      Statement: { Effect: "Allow", Action: ["s3:Get*", "SQS:SendMessage"], Resource: "arn:aws:s3:::a*" },
    }) ?? [];
  const [but] =
    statements({ Statement: [{ Effect: "Deny", NotAction: "s3:*", NotResource: ["arn:aws:s3:::b"] }] }) ?? [];
  if (read === undefined || but === undefined) throw new Error("both documents have a statement");

  test("covers the actions that it names, in any case, and nothing else", () => {
    expect(coversAction(read, "s3:GetObject")).toBe(true);
    expect(coversAction(read, "S3:getobject")).toBe(true);
    expect(coversAction(read, "sqs:SendMessage")).toBe(true);
    expect(coversAction(read, "s3:PutObject")).toBe(false);
    expect(coversAction(read, "xs3:GetObject")).toBe(false);
  });

  test("covers all actions but those of NotAction", () => {
    expect(coversAction(but, "iam:PassRole")).toBe(true);
    expect(coversAction(but, "s3:GetObject")).toBe(false);
  });

  test("covers resources in their case, or all but those of NotResource", () => {
    expect(coversResource(read, "arn:aws:s3:::abc")).toBe(true);
    expect(coversResource(read, "arn:aws:s3:::Abc")).toBe(false);
    expect(coversResource(but, "arn:aws:s3:::a")).toBe(true);
    expect(coversResource(but, "arn:aws:s3:::b")).toBe(false);
  });

  test("trusts the issuers of the OIDC providers that it allows", () => {
    const trust = (Effect: string, Principal: unknown) => statements({ Statement: { Effect, Principal } })?.[0];
    const provider = "arn:aws:iam::1:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/A";
    const found = (...args: Parameters<typeof trust>) => {
      const statement = trust(...args);
      return statement && trustedIssuers(statement);
    };
    expect(found("Allow", { Federated: [provider, "arn:aws:iam::1:saml-provider/x"] })).toEqual([
      "oidc.eks.us-east-1.amazonaws.com/id/A",
    ]);
    expect(found("Deny", { Federated: provider })).toEqual([]);
    expect(found("Allow", { AWS: "*" })).toEqual([]);
  });

  test("of a document that is not one is none", () => {
    expect(statements("{")).toBeUndefined();
    expect(statements({ Statement: [] })).toBeUndefined();
    expect(statements(undefined)).toBeUndefined();
  });
});

describe("values of unknown form", () => {
  test("nothing is an empty list, a single value a list of one, and what is not a string an empty text", () => {
    expect(texts(undefined)).toEqual([]);
    expect(texts(null)).toEqual([]);
    expect(texts("a")).toEqual(["a"]);
    expect(texts(["a", 1, null])).toEqual(["a", "", ""]);
  });

  test("a pattern takes every other character as it is", () => {
    expect(glob("a.c")("abc")).toBe(false);
    expect(glob("a.c")("a.c")).toBe(true);
    expect(glob("a(b)+{c}$^|[d]\\e")("a(b)+{c}$^|[d]\\e")).toBe(true);
    expect(glob("a*")("a\nb")).toBe(true);
    expect(glob("a?")("a")).toBe(false);
    expect(glob("a")("xay")).toBe(false);
  });

  test("words are listed for people", () => {
    expect([[], ["a"], ["a", "b"], ["a", "b", "c"]].map((items) => words(items))).toEqual([
      "nothing",
      "a",
      "a and b",
      "a, b and c",
    ]);
  });
});
