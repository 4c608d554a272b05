import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { type GitAuthentication, GitCredentials } from "../../components/git-credentials.ts";
import { RegistryCredentialsSecret } from "../../components/registry-credentials.ts";
import { SealingKeySecrets } from "../../components/sealing-key-secrets.ts";
import { SealingKeys } from "../../components/sealing-keys.ts";
import { fromBase64 } from "../../lib/base64.ts";
import { noCredentials, type RegistryCredentials } from "../../lib/registries.ts";
import { recorded } from "../support/program.ts";

const common = { keyArn: "arn:key", secretRecoveryWindowDays: 7, tags: {}, protect: false };

async function credentials(authentication: GitAuthentication) {
  const args = {
    ...common,
    authentication,
    repositories: ["gitops-system"] as const,
    secretName: (name: string) => `fleet/git/${name}`,
  };
  const { resources, result } = await recorded("test", async () => new GitCredentials("git", args));
  const version = resources.find(({ type }) => type.endsWith(":SecretVersion"));
  return { resources, result, version, value: JSON.parse(version?.inputs["secretString"]) };
}

describe("GitCredentials", () => {
  it("makes an ED25519 deploy key, stores the private half and shows the public one", async () => {
    const { resources, result, version, value } = await credentials({ method: "deploy-key", knownHosts: "host key" });
    expect(resources.find(({ type }) => type.endsWith(":PrivateKey"))?.inputs).toEqual({ algorithm: "ED25519" });
    expect(value).toEqual({
      identity: "OPENSSH git-gitops-system-key",
      "identity.pub": "ssh-ed25519 git-gitops-system-key",
      known_hosts: "host key",
    });
    expect(version?.secrets).toEqual(["secretString"]);
    expect(Object.keys(result.publicKeys)).toEqual(["gitops-system"]);
  });

  it("stores an HTTPS token under the names that Flux reads, as a secret", async () => {
    const { resources, result, version, value } = await credentials({
      method: "token",
      username: "git",
      token: pulumi.secret("t0ps3cret"),
      caCertificate: "",
    });
    expect(value).toEqual({ username: "git", password: "t0ps3cret" });
    expect(version?.secrets).toEqual(["secretString"]);
    expect(resources.filter(({ type }) => type.startsWith("tls:"))).toEqual([]);
    expect(result.publicKeys).toEqual({});
  });

  it("stores a GitHub App under the names that Flux reads", async () => {
    const { value } = await credentials({
      method: "github-app",
      appId: "1",
      installationId: "2",
      privateKey: pulumi.secret("PEM"),
      baseUrl: "",
      caCertificate: "",
    });
    expect(value).toEqual({ githubAppID: "1", githubAppInstallationID: "2", githubAppPrivateKey: "PEM" });
  });

  it("tells Flux the API of a GitHub server of one's own, and whom to trust there", async () => {
    const own = { caCertificate: "CA" };
    const token = { method: "token", username: "git", token: pulumi.secret("t"), ...own } as const;
    expect((await credentials(token)).value).toEqual({ username: "git", password: "t", "ca.crt": "CA" });
    const { value } = await credentials({
      method: "github-app",
      appId: "1",
      installationId: "2",
      privateKey: pulumi.secret("PEM"),
      ...own,
      baseUrl: "https://git.example/api/v3",
    });
    expect(value).toMatchObject({ githubAppBaseURL: "https://git.example/api/v3", "ca.crt": "CA" });
  });

  it("names the repositories that it has when it is asked for another one", async () => {
    const { result } = await credentials({ method: "deploy-key", knownHosts: "host key" });
    expect(() => result.secret("gitops-workloads")).toThrow(
      "there is no credential for gitops-workloads, only for gitops-system",
    );
  });
});

describe("SealingKeys", () => {
  const keys = [
    { scope: "dev", generation: "1", active: false },
    { scope: "dev", generation: "2", active: true },
    { scope: "prod", generation: "1", active: true },
  ];

  async function sealingKeys() {
    const args = {
      ...common,
      protect: true,
      keys,
      secretName: (scope: string, generation: string) => `fleet/sealing-keys/${scope}/${generation}`,
    };
    return recorded("test", async () => new SealingKeys("keys", args));
  }

  it("stores an RSA 4096 key and its certificate for each generation, and keeps the older ones", async () => {
    const { resources } = await sealingKeys();
    const secrets = resources.filter(({ type }) => type.endsWith("/secret:Secret")).map(({ inputs }) => inputs["name"]);
    expect(secrets.sort()).toEqual([
      "fleet/sealing-keys/dev/1",
      "fleet/sealing-keys/dev/2",
      "fleet/sealing-keys/prod/1",
    ]);
    for (const { inputs } of resources.filter(({ type }) => type.endsWith(":PrivateKey")))
      expect(inputs).toEqual({ algorithm: "RSA", rsaBits: 4096 });
    const version = resources.find(({ name }) => name === "keys-dev/2-version");
    expect(JSON.parse(version?.inputs["secretString"])).toEqual({
      "tls.crt": "CERTIFICATE keys-dev/2-certificate",
      "tls.key": "PEM keys-dev/2-key",
    });
    expect(version?.secrets).toEqual(["secretString"]);
  });

  it("tells each scope's certificates and which generation seals", async () => {
    const { result } = await sealingKeys();
    expect(result.active).toEqual({ dev: "2", prod: "1" });
    expect(
      Object.entries(result.certificates).map(([scope, generations]) => [scope, Object.keys(generations)]),
    ).toEqual([
      ["dev", ["1", "2"]],
      ["prod", ["1"]],
    ]);
  });

  it("protects every part of a key when it is told to, but not the version of a secret, which a new value replaces", async () => {
    const { resources } = await sealingKeys();
    const open = resources.filter(({ protect }) => !protect).map(({ type }) => type);
    expect([...new Set(open)].sort()).toEqual([
      "aws:secretsmanager/secretVersion:SecretVersion",
      "eks-gitops-fleet:index:SealingKeys",
    ]);
  });
});

describe("SealingKeySecrets", () => {
  it("brings each generation to the controller's namespace, as a key that it opens with, from its own secret alone", async () => {
    const { resources, result } = await recorded("test", async () => {
      const scopes = [
        { scope: "shop", generation: "1", active: false },
        { scope: "shop", generation: "2", active: true },
        { scope: "other", generation: "1", active: true },
      ];
      const keys = new SealingKeys("keys", { ...common, keys: scopes });
      const stored = Object.entries(keys.secrets("shop")).map(([name, { secretName }]) => [name, secretName]);
      expect(keys.secrets("nobody")).toEqual({});
      return new SealingKeySecrets("shop", { storeName: "store", remoteSecrets: Object.fromEntries(stored) });
    });
    expect(Object.keys(result.secretNames)).toEqual(["1", "2"]);
    const made = resources.filter(({ type }) => type.endsWith(":ExternalSecret")).map(({ inputs }) => inputs);
    expect(made).toMatchObject(
      ["1", "2"].map((generation) => ({
        metadata: { name: `sealing-key-${generation}`, namespace: "flux-system" },
        spec: {
          secretStoreRef: { kind: "SecretStore", name: "store" },
          target: {
            template: {
              type: "kubernetes.io/tls",
              metadata: { labels: { "sealedsecrets.bitnami.com/sealed-secrets-key": "active" } },
            },
          },
          dataFrom: [{ extract: { key: `keys/shop/${generation}` } }],
        },
      })),
    );
  });
});

describe("RegistryCredentialsSecret", () => {
  const data = async (given: Partial<RegistryCredentials>) => {
    const args = { namespace: "flux-system", credentials: pulumi.secret({ ...noCredentials, ...given }) };
    const { resources } = await recorded("test", async () => new RegistryCredentialsSecret("registries", args));
    const secret = resources.find(({ type }) => type.endsWith(":Secret"));
    return { secret, variables: fromBase64(secret?.inputs["data"]) };
  };

  it("is what Flux makes Secrets of: each value once more in base64, and secret in the state", async () => {
    const pullSecret = '{"auths":{"registry.example":{"auth":"ZmxlZXQ6eA=="}}}';
    const { secret, variables } = await data({ pullSecret, chartsUsername: "fleet", chartsPassword: "p: #{$" });
    expect(fromBase64(variables)).toEqual({
      pull_secret: pullSecret,
      charts_username: "fleet",
      charts_password: "p: #{$",
    });
    expect(secret?.secrets).toEqual(["data"]);
    expect(secret?.inputs["metadata"]).toMatchObject({
      name: "registry-credentials",
      namespace: "flux-system",
      labels: { "reconcile.fluxcd.io/watch": "Enabled" },
    });
  });

  it("is there without credentials too, so that Flux finds its variables: a Docker configuration that opens nothing", async () => {
    const { variables } = await data({});
    const { pull_secret: pullSecret, ...others } = fromBase64(variables);
    expect(JSON.parse(pullSecret ?? "")).toEqual({ auths: {} });
    for (const value of Object.values(others)) expect(value).not.toBe("");
  });
});
