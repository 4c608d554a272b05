/** Mirrors of images, packages and charts, and the Secrets with the credentials for them. */

/** Names of the Secrets, the same in every namespace and on every cluster. */
export const registrySecrets = {
  /** `kubernetes.io/dockerconfigjson`, for images and Crossplane's packages. */
  pull: "pull-secret",
  /** User name and password of the chart mirror. */
  charts: "charts-credential",
  /** What the other two are made of by Flux's substitution, in the namespace of the Kustomizations that do it. */
  variables: "registry-credentials",
} as const;

/** Credentials of the mirrors, each empty where none is needed. */
export interface RegistryCredentials {
  /** Docker configuration, JSON. */
  readonly pullSecret: string;
  readonly chartsUsername: string;
  readonly chartsPassword: string;
}

/** What a stack gives that has no mirror, or one that everybody may read. */
export const noCredentials: RegistryCredentials = { pullSecret: "", chartsUsername: "", chartsPassword: "" };

/** A Docker configuration without any credential. */
const noCredential = '{"auths":{}}';

/**
 * The variables that Flux makes the Secrets of, in base64, as a Secret's data is: no value can change the YAML around it. None is
 * empty, which would be `null` in YAML; nothing refers to a credential that is not given.
 */
export function credentialVariables({ pullSecret, chartsUsername, chartsPassword }: RegistryCredentials) {
  const encoded = (text: string) => Buffer.from(text).toString("base64");
  return {
    pull_secret: encoded(pullSecret || noCredential),
    charts_username: encoded(chartsUsername || "none"),
    charts_password: encoded(chartsPassword || "none"),
  };
}

/** Hosts of Amazon ECR's private registries (ECR User Guide, "Private registry"; the pattern of the clients: fluxcd/pkg auth 0.54.3, aws/provider.go). */
const ecr =
  /^((oci|https):\/\/)?(?<account>\d{12})\.dkr[.-]ecr(-fips)?\.(?<region>[a-z0-9-]+)\.[a-z0-9.-]+(\/(?<path>.*))?$/;

/** Host of a registry or repository without a scheme, with its port. */
export const hostOf = (name: string): string => name.split("/")[0] as string;

/** A repository without the digest that may follow it. */
export const withoutDigest = (repository: string): string => repository.replace(/@.*$/, "");

/** The digest after a repository, with its `@`; empty without one. */
export const digestOf = (repository: string): string => /@.*$/.exec(repository)?.[0] ?? "";

/** Where a registry, or a repository in it, is in Amazon ECR. */
export interface EcrPlace {
  readonly account: string;
  readonly region: string;
  /** What follows the host, without a slash at its beginning and without a digest; empty for the registry itself. */
  readonly path: string;
}

/** The place of a registry in Amazon ECR; undefined for another registry. */
export function ecrPlace(registry: string): EcrPlace | undefined {
  const { account, region, path = "" } = ecr.exec(withoutDigest(registry))?.groups ?? {};
  return account === undefined || region === undefined ? undefined : { account, region, path };
}

/** Whether a registry gives out passwords for twelve hours only (ECR User Guide, "Private registry authentication"). */
export const isEcr = (registry: string): boolean => ecrPlace(registry) !== undefined;

/** Hosts from which everything comes that has no mirror (`imagesRegistry` or `packagesRegistry` empty). */
export const upstreamHosts = {
  images: ["docker.io", "ghcr.io", "quay.io", "reg.kyverno.io", "registry.k8s.io", "xpkg.crossplane.io"],
  packages: ["xpkg.crossplane.io"],
} as const;

/**
 * The registries of a valid Docker configuration, host or host/path, as kubelet and Crossplane read its `auths`: without a scheme,
 * and without the `/v1/` of Docker's own (k8s.io/kubernetes 1.36, pkg/credentialprovider/keyring.go, `Add`; the same in
 * go-containerregistry, pkg/authn/kubernetes/keychain.go, which crossplane-runtime 2.3.3 asks).
 */
export function registriesOf(dockerConfig: string): string[] {
  const { auths } = JSON.parse(dockerConfig) as { readonly auths: object };
  return Object.keys(auths).map((key) => {
    const [host = "", ...path] = key.replace(/^https?:\/\//, "").split("/");
    const rest = path.join("/").replace(/^v[12]\//, "");
    return `${host === "index.docker.io" ? "docker.io" : host}/${rest}`.replace(/\/$/, "");
  });
}

/**
 * Whether the credential for `registry` is used for `target`, or for something below it: paths match by how they begin (the same
 * files, `URLsMatch`). A host with wildcards counts as used.
 */
export function serves(registry: string, target: string): boolean {
  if (/[*?[]/.test(hostOf(registry))) return true;
  if (hostOf(registry) !== hostOf(target)) return false;
  return target.startsWith(registry) || registry.startsWith(`${target}/`);
}

/** Whether a credential for `registry` is one of Amazon ECR, private or public (ECR Public User Guide, "Registry authentication"). */
export const isEcrLogin = (registry: string): boolean => /^((\*|\d{12})\.dkr[.-]ecr|public\.ecr\.aws)/.test(registry);

/** What stands before the upstream name of an image or package: the mirror with a slash, or nothing. */
export const prefixOf = (registry: string): string => (registry === "" ? "" : `${registry}/`);
