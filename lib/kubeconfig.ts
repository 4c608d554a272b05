/** What a client needs to know of an EKS cluster. No credential: the token is made by `aws eks get-token` at each use. */
export interface ClusterAccess {
  /** Name of the EKS cluster, also of the context. */
  readonly name: string;
  readonly region: string;
  readonly endpoint: string;
  /** The CA bundle as EKS gives it: PEM in base64. */
  readonly certificateAuthority: string;
}

/** The user entry of a cluster: it runs `aws eks get-token`, so it stores no token. `aws` is the command's name or path. */
export const tokenUser = ({ name, region }: Pick<ClusterAccess, "name" | "region">, aws = "aws") => ({
  name,
  user: {
    exec: {
      apiVersion: "client.authentication.k8s.io/v1beta1",
      command: aws,
      args: ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"],
      interactiveMode: "Never",
    },
  },
});

/** A kubeconfig (JSON, which is YAML) with one context, named like the cluster. */
export function kubeconfig({ name, region, endpoint, certificateAuthority }: ClusterAccess): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: endpoint, "certificate-authority-data": certificateAuthority } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
    users: [tokenUser({ name, region })],
  };
  return JSON.stringify(config, undefined, 2);
}

/** A kubeconfig in JSON whose users make their tokens with a profile of the AWS CLI; a flag, so that keys in the environment don't win. */
export function withProfile(json: string, profile: string): string {
  const config = JSON.parse(json) as { users: { user: { exec: { args: string[] } } }[] };
  const users = config.users.map((entry) => {
    const { exec } = entry.user;
    return { ...entry, user: { ...entry.user, exec: { ...exec, args: [...exec.args, "--profile", profile] } } };
  });
  return JSON.stringify({ ...config, users });
}
