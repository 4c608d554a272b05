import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { type GitAuthentication, GitCredentials } from "../../components/git-credentials.ts";
import { PackagePullSecret } from "../../components/package-pull-secret.ts";
import { SealingKeys } from "../../components/sealing-keys.ts";
import { recorded } from "../support/program.ts";

const common = { keyArn: "arn:key", recoveryWindowInDays: 7, tags: {}, protect: false };

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
      ...{ method: "github-app", appId: "1", installationId: "2", privateKey: pulumi.secret("PEM"), ...own },
      baseUrl: "https://git.example/api/v3",
    });
    expect(value).toMatchObject({ githubAppBaseURL: "https://git.example/api/v3", "ca.crt": "CA" });
  });

  it("names the repositories that it has when it is asked for another one", async () => {
    const { result } = await credentials({ method: "deploy-key", knownHosts: "host key" });
    expect(() => result.secret("gitops-workloads")).toThrow(
      "no credential for gitops-workloads, there are ones for gitops-system",
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

describe("PackagePullSecret", () => {
  const dockerConfig = JSON.stringify({ auths: { "ghcr.io": { username: "fleet", password: "t0ps3cret" } } });
  const made = () =>
    recorded(
      "test",
      async () =>
        new PackagePullSecret("package-pull-secret", {
          ...common,
          dockerConfig: pulumi.secret(dockerConfig),
          name: "package-pull-secret",
          secretName: "fleet/package-pull-secret",
          roleName: "fleet-hub-package-pull",
          permissionsBoundary: undefined,
          oidc: {
            providerArn: "arn:aws:iam::222222222222:oidc-provider/oidc.example/id/1",
            issuer: "oidc.example/id/1",
          },
          region: pulumi.output("eu-central-1"),
          dnsSuffix: pulumi.output("amazonaws.com"),
        }),
    );

  it("stores the registries' credentials under the name that a pull secret has them by, as a secret", async () => {
    const { resources } = await made();
    const version = resources.find(({ type }) => type.endsWith(":SecretVersion"));
    expect(JSON.parse(version?.inputs["secretString"])).toEqual({ ".dockerconfigjson": dockerConfig });
    expect(version?.secrets).toEqual(["secretString"]);
    const others = resources.filter((resource) => resource !== version);
    expect(JSON.stringify(others.map(({ inputs }) => inputs))).not.toContain("t0ps3cret");
  });

  it("is read by a role for one service account of Crossplane's namespace, which reads nothing else", async () => {
    const { resources } = await made();
    const role = resources.find(({ type }) => type.endsWith(":Role"));
    expect(JSON.parse(role?.inputs["assumeRolePolicy"]).Statement[0].Condition.StringEquals).toEqual({
      "oidc.example/id/1:sub": "system:serviceaccount:crossplane-system:package-pull-secret",
      "oidc.example/id/1:aud": "sts.amazonaws.com",
    });
    const policy = JSON.parse(resources.find(({ type }) => type.endsWith(":RolePolicy"))?.inputs["policy"]);
    expect(policy.Statement[0].Resource).toEqual([
      "arn:aws:secretsmanager:eu-central-1:222222222222:secret:fleet/package-pull-secret-AbCdEf",
    ]);
    expect(resources.filter(({ type }) => type.includes("external-secrets.io")).map(({ inputs }) => inputs)).toEqual([
      expect.objectContaining({
        kind: "SecretStore",
        metadata: expect.objectContaining({ namespace: "crossplane-system" }),
      }),
      expect.objectContaining({
        kind: "ExternalSecret",
        spec: expect.objectContaining({
          target: expect.objectContaining({
            name: "package-pull-secret",
            template: expect.objectContaining({ type: "kubernetes.io/dockerconfigjson" }),
          }),
        }),
      }),
    ]);
  });
});
