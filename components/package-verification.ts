import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { inBase64 } from "../lib/base64.ts";

/** Whose signature packages of Crossplane must have, made by cosign: somebody's with a public key, or by a certificate of Fulcio. */
export interface PackageVerification {
  /** Of the ImageConfig. */
  readonly name: string;
  /**
   * Beginning of the names of the packages as Crossplane pulls them, with the mirror.
   * @example "ghcr.io/example/function-spoke"
   */
  readonly prefix: string;
  /** Public key in PEM; or issuer and subject. */
  readonly key?: string;
  /**
   * OIDC issuer of the certificate.
   * @example "https://token.actions.githubusercontent.com"
   */
  readonly issuer?: string;
  /** Regular expression (RE2) for the certificate's subject. */
  readonly subject?: string;
}

/** Values of Crossplane's chart (cluster/charts/crossplane/values.yaml of crossplane 2.3.4) with which it verifies packages. */
export const verifyingValues = {
  args: ["--enable-signature-verification"],
  // Sigstore's roots are kept in memory: the file system is read-only (sigstore v1.10.9, pkg/tuf/client.go).
  extraEnvVarsCrossplane: { SIGSTORE_NO_CACHE: "true" },
} as const;

const secretKey = "cosign.pub";
const secretName = (name: string) => `package-verification-${name}`;

/** What signatures Crossplane asks for (crossplane v2.3.4, apis/pkg/v1beta1, CosignAuthority). */
const authority = ({ name, key, issuer, subject }: PackageVerification) => ({
  name,
  ...(key === undefined
    ? { keyless: { identities: [{ issuer, subjectRegExp: subject }] } }
    : { key: { secretRef: { name: secretName(name), key: secretKey }, hashAlgorithm: "sha256" } }),
});

/** The ImageConfigs by which Crossplane verifies packages, and Secrets with their keys. */
export function imageConfigs(
  verifications: readonly PackageVerification[],
  namespace: string,
  { parent, dependsOn }: { readonly parent: pulumi.Resource; readonly dependsOn: readonly pulumi.Resource[] },
): void {
  for (const verification of verifications) {
    const { name, prefix, key } = verification;
    const secrets =
      key === undefined
        ? []
        : [
            new kubernetes.core.v1.Secret(
              `package-verification-${name}-key`,
              { metadata: { name: secretName(name), namespace }, data: inBase64({ [secretKey]: key }) },
              { parent, dependsOn: [...dependsOn] },
            ),
          ];
    new kubernetes.apiextensions.CustomResource(
      `package-verification-${name}`,
      {
        apiVersion: "pkg.crossplane.io/v1beta1",
        kind: "ImageConfig",
        metadata: { name },
        spec: {
          matchImages: [{ type: "Prefix", prefix }],
          verification: { provider: "Cosign", cosign: { authorities: [authority(verification)] } },
        },
      },
      { parent, dependsOn: [...dependsOn, ...secrets] },
    );
  }
}
