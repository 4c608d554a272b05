/** What a kubeconfig needs to know about a cluster. */
export interface KubeconfigFacts {
  readonly name: string;
  readonly region: string;
  readonly endpoint: string;
  /** CA certificate, PEM in base64. */
  readonly certificateAuthority: string;
  readonly roleArn?: string;
  readonly profileName?: string;
}

/** A kubeconfig without any stored credential: `aws eks get-token` makes a token from the caller's own identity. */
export function kubeconfigOf(facts: KubeconfigFacts) {
  const args = ["--region", facts.region, "eks", "get-token", "--cluster-name", facts.name, "--output", "json"];
  if (facts.roleArn) args.push("--role", facts.roleArn);
  if (facts.profileName) args.push("--profile", facts.profileName);
  const env = [{ name: "KUBERNETES_EXEC_INFO", value: `{"apiVersion": "client.authentication.k8s.io/v1beta1"}` }];
  const exec = { apiVersion: "client.authentication.k8s.io/v1beta1", command: "aws", args, env };
  return {
    apiVersion: "v1",
    clusters: [
      {
        cluster: { server: facts.endpoint, "certificate-authority-data": facts.certificateAuthority },
        name: "kubernetes",
      },
    ],
    contexts: [{ context: { cluster: "kubernetes", user: "aws" }, name: "aws" }],
    "current-context": "aws",
    kind: "Config",
    users: [{ name: "aws", user: { exec } }],
  };
}

/** The region of an ARN. */
export function regionOfArn(arn: string): string {
  const region = arn.split(":")[3];
  if (!region) throw new Error(`"${arn}" is not an ARN with a region`);
  return region;
}
