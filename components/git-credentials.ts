import * as pulumi from "@pulumi/pulumi";
import * as tls from "@pulumi/tls";
import type { Tags } from "../lib/labels.ts";
import { repositories as allRepositories, type Repository } from "../lib/names.ts";
import { ManagedSecret } from "./managed-secret.ts";

/** How Flux authenticates to the Git hosts. */
export type GitAuthentication =
  | {
      readonly method: "deploy-key";
      /** known_hosts lines of the Git hosts, as ssh-keyscan prints them. */
      readonly knownHosts: string;
    }
  | {
      readonly method: "token";
      readonly username: string;
      /** Always secret in Pulumi's state. */
      readonly token: pulumi.Input<string>;
      /** PEM of the authorities that sign the host's certificate; empty or missing for publicly trusted ones. */
      readonly caCertificate?: string;
    }
  | {
      readonly method: "github-app";
      readonly appId: string;
      readonly installationId: string;
      /** PEM; always secret in Pulumi's state. */
      readonly privateKey: pulumi.Input<string>;
      /** API of a GitHub Enterprise Server; empty or missing for github.com. */
      readonly baseUrl?: string;
      /** PEM, as with a token; also used for the API. */
      readonly caCertificate?: string;
    };

export interface GitCredentialsArgs {
  /**
   * Repositories that Flux reads: `gitops-system`, `gitops-workloads` or both. The fleet has no others; a secret for another repository
   * is a `ManagedSecret`.
   * @default gitops-system and gitops-workloads
   */
  readonly repositories?: readonly Repository[];
  /** How Flux authenticates. */
  readonly authentication: GitAuthentication;
  /**
   * Name of a repository's secret in Secrets Manager.
   * @default `<component's name>/<repository>`
   */
  readonly secretName?: (repository: Repository) => string;
  /** ARN of the customer managed key that encrypts the secrets, such as an `EncryptionKey`'s. */
  readonly keyArn: pulumi.Input<string>;
  /**
   * Days for which a deleted credential can be restored: 7 to 30, or 0 to delete it at once.
   * @default 30
   */
  readonly secretRecoveryWindowDays?: number;
  /**
   * Tags of the secrets.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
  /**
   * Pulumi refuses to delete the credentials while this is true. The component's own option `protect` does the same, and protects the
   * component too.
   * @default the component's own option `protect`
   */
  readonly protect?: boolean | undefined;
}

/**
 * The credential of each repository in Secrets Manager. Its members have the names that Flux's GitRepository reads
 * (source-controller 1.9, docs/spec/v1/gitrepositories.md, "Secret reference" and "GitHub").
 * With deploy keys each repository has its own ED25519 pair, so a Git host can grant and revoke each by itself.
 * @example
 * const git = new GitCredentials("git", { authentication: { method: "deploy-key", knownHosts }, keyArn: key.arn });
 * export const deployKeys = git.publicKeys;
 */
export class GitCredentials extends pulumi.ComponentResource {
  /** OpenSSH public keys to register as read-only deploy keys, by repository; empty with another method. */
  readonly publicKeys: Record<string, pulumi.Output<string>> = {};
  private readonly secrets: ReadonlyMap<Repository, ManagedSecret>;

  constructor(name: string, args: GitCredentialsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:GitCredentials", name, {}, opts);
    const { repositories = allRepositories, authentication, protect, ...common } = args;
    const { secretName = (repository) => `${name}/${repository}` } = args;
    const child = { parent: this, ...(protect !== undefined && { protect }) };
    const secret = (repository: Repository) =>
      new ManagedSecret(
        `${name}-${repository}`,
        {
          ...common,
          secretName: secretName(repository),
          description: `Read access of Flux to ${repository}`,
          value: this.value(`${name}-${repository}`, repository, authentication, child),
        },
        child,
      );
    this.secrets = new Map(repositories.map((repository) => [repository, secret(repository)]));
    this.registerOutputs({ publicKeys: this.publicKeys });
  }

  /**
   * The secret of a repository.
   * @throws RangeError for a repository that the component has no credential for
   */
  secret(repository: Repository): ManagedSecret {
    const secret = this.secrets.get(repository);
    if (!secret)
      throw new RangeError(`there is no credential for ${repository}, only for ${[...this.secrets.keys()].join(", ")}`);
    return secret;
  }

  private value(
    name: string,
    repository: Repository,
    authentication: GitAuthentication,
    child: pulumi.CustomResourceOptions,
  ): Record<string, pulumi.Input<string>> {
    switch (authentication.method) {
      case "token":
        return { username: authentication.username, password: authentication.token, ...authority(authentication) };
      case "github-app":
        return {
          githubAppID: authentication.appId,
          githubAppInstallationID: authentication.installationId,
          githubAppPrivateKey: authentication.privateKey,
          ...(authentication.baseUrl && { githubAppBaseURL: authentication.baseUrl }),
          ...authority(authentication),
        };
      case "deploy-key": {
        const key = new tls.PrivateKey(`${name}-key`, { algorithm: "ED25519" }, child);
        const publicKey = key.publicKeyOpenssh.apply((line) => line.trim());
        this.publicKeys[repository] = publicKey;
        return { identity: key.privateKeyOpenssh, "identity.pub": publicKey, known_hosts: authentication.knownHosts };
      }
    }
  }
}

/**
 * What Flux trusts besides public authorities (source-controller 1.9.5, gitrepository_controller.go, WithTLSSystemCertPool):
 * Flux would fail to parse an empty `ca.crt`.
 */
function authority({ caCertificate }: { readonly caCertificate?: string }): Record<string, string> {
  return caCertificate ? { "ca.crt": caCertificate } : {};
}
