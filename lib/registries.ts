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

/** Hosts of Amazon ECR's private registries (ECR User Guide, "Private registry"). */
const ecr = /^(oci:\/\/)?\d{12}\.dkr[.-]ecr(-fips)?[.-]/;

/** Whether a registry gives out passwords for twelve hours only (ECR User Guide, "Private registry authentication"). */
export const isEcr = (registry: string): boolean => ecr.test(registry);

/** What stands before the upstream name of an image or package: the mirror with a slash, or nothing. */
export const prefixOf = (registry: string): string => (registry === "" ? "" : `${registry}/`);
