import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { inBase64 } from "../lib/base64.ts";
import type { GitProvider, GitSource } from "../lib/bridge.ts";
import { receiverLabel, unverifiedLabel } from "../lib/labels.ts";
import { hubName, namespaces } from "../lib/names.ts";
import { type Signers, signersSecret, verification } from "../lib/signers.ts";
import { externalSecret, remoteRef } from "./external-secret.ts";

export interface FluxSyncArgs {
  /**
   * Namespace of Flux.
   * @default "flux-system"
   */
  readonly namespace?: string;
  /**
   * Name of the GitRepository and of the Secret with its credential.
   * @default "gitops-system"
   */
  readonly repository?: string;
  /**
   * URL and branch of the repository.
   * @example { url: "ssh://git@github.com/example/gitops-system.git", revision: "main" }
   */
  readonly source: GitSource;
  /**
   * `github` with the credential of a GitHub App, otherwise `generic`.
   * @default "generic"
   */
  readonly provider?: GitProvider;
  /**
   * How often Flux looks for commits, as a Go duration.
   * @default "1m"
   */
  readonly interval?: string;
  /**
   * Public keys of those whose commits are applied, by the names of their files: `<name>.asc` of OpenPGP, `<name>.sshpub` of SSH. The newest
   * commit of the branch must be signed with one of them. It counts for every GitRepository that the root Kustomization applies, too, such as
   * those of rings, but for those with the label `fleet.internal/verification: none`.
   * @default none: every commit is applied
   */
  readonly signers?: Signers | undefined;
  /** Folder of the repository that is applied to the hub. */
  readonly path: string;
  /**
   * Name of the root Kustomization.
   * @default "hub"
   */
  readonly kustomizationName?: string;
  /** Name of the SecretStore that reads the credential: a `SecretStore`'s, in the same namespace. */
  readonly storeName: pulumi.Input<string>;
  /** Name of the credential in Secrets Manager: of a `ManagedSecret`, such as `secret()` of a `GitCredentials` gives. */
  readonly remoteSecret: pulumi.Input<string>;
  /** Name of the hub's cluster secret, a `ClusterSecret`'s: variables of the root Kustomization. */
  readonly clusterSecret: pulumi.Input<string>;
}

/** Limit of a removal, as a Go duration. A removal waits for everything that Git put on the hub. */
const deletionTimeout = "60m";

/** Patches of what the root Kustomization applies: what is in Git can't leave the verification out, but for what it labels. */
const verifiedSources = (verify: object): object[] => [
  {
    target: {
      kind: "GitRepository",
      labelSelector: Object.entries(unverifiedLabel)
        .map(([key, value]) => `${key}!=${value}`)
        .join(),
    },
    patch: JSON.stringify([{ op: "add", path: "/spec/verify", value: verify }]),
  },
];

/**
 * Applies Git to the hub: the credential, the repository and the root Kustomization. Its removal waits, for up to an hour, until
 * everything is gone that Git put on the hub. The cluster needs Flux and External Secrets first.
 * @example
 * const source = { url: "ssh://git@github.com/example/gitops-system.git", revision: "main" };
 * const path = "./clusters/fleet/hub";
 * const remoteSecret = git.secret("gitops-system").secretName;
 * const [storeName, clusterSecret] = [store.storeName, bridge.secretName];
 * const opts = { provider: cluster.provider, dependsOn: [flux, externalSecrets] };
 * const sync = new FluxSync("gitops-system", { source, path, storeName, remoteSecret, clusterSecret }, opts);
 */
export class FluxSync extends pulumi.ComponentResource {
  /** Name of the GitRepository; known once it is applied, whether or not Flux can read the repository yet. */
  readonly repository: pulumi.Output<string>;
  /** Name of the root Kustomization; known once it is applied. */
  readonly kustomizationName: pulumi.Output<string>;

  constructor(name: string, args: FluxSyncArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:FluxSync", name, {}, opts);
    const { namespace = namespaces.flux, repository = "gitops-system", kustomizationName = hubName } = args;
    const { source, provider = "generic", interval = "1m", signers } = args;
    const verify = signers && verification(repository);
    const metadata = { name: repository, namespace };
    const credential = externalSecret(
      `${name}-credential`,
      { metadata, storeName: args.storeName, dataFrom: [{ extract: remoteRef(args.remoteSecret) }] },
      { parent: this },
    );
    const publicKeys = signers
      ? [
          new kubernetes.core.v1.Secret(
            `${name}-signers`,
            { metadata: { name: signersSecret(repository), namespace }, data: inBase64(signers) },
            { parent: this },
          ),
        ]
      : [];
    // Not awaited: on the first run the Git host gets the deploy key only after a person has read its public half from the outputs.
    const gitRepository = new kubernetes.apiextensions.CustomResource(
      `${name}-repository`,
      {
        apiVersion: "source.toolkit.fluxcd.io/v1",
        kind: "GitRepository",
        metadata: { ...metadata, labels: { ...receiverLabel } },
        spec: {
          url: source.url,
          ref: { branch: source.revision },
          provider,
          secretRef: { name: repository },
          ...(verify && { verify }),
          interval,
          timeout: "60s",
        },
      },
      { parent: this, dependsOn: [credential, ...publicKeys] },
    );
    const root = new kubernetes.apiextensions.CustomResource(
      `${name}-root`,
      {
        apiVersion: "kustomize.toolkit.fluxcd.io/v1",
        kind: "Kustomization",
        metadata: { name: kustomizationName, namespace },
        spec: {
          sourceRef: { kind: "GitRepository", name: repository },
          path: args.path,
          interval: "10m",
          retryInterval: "30s",
          // Also the limit for a removal: after it the controller would abandon what is still there.
          timeout: deletionTimeout,
          prune: true,
          wait: true,
          deletionPolicy: "WaitForTermination",
          ...(verify && { patches: verifiedSources(verify) }),
          postBuild: { substituteFrom: [{ kind: "Secret", name: args.clusterSecret }] },
        },
      },
      { parent: this, dependsOn: [gitRepository], customTimeouts: { delete: deletionTimeout } },
    );
    this.repository = gitRepository.metadata.name;
    this.kustomizationName = root.metadata.name;
    this.registerOutputs({ repository: this.repository, kustomizationName: this.kustomizationName });
  }
}
