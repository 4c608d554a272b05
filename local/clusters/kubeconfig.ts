import { readFile } from "node:fs/promises";
import { writeAtomic } from "../instance/files.ts";
import type { Authority, KeyFiles } from "./pki.ts";

/** One context of a kubeconfig with its cluster and user, all of the same name. */
export interface KubeContext {
  readonly name: string;
  readonly cluster: object;
  readonly user?: object;
}

/** A kubeconfig with these contexts; the first is the current one. */
export const kubeconfigOf = (contexts: readonly KubeContext[]) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: contexts.map(({ name, cluster }) => ({ name, cluster })),
  users: contexts.map(({ name, user = {} }) => ({ name, user })),
  contexts: contexts.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  ...(contexts[0] && { "current-context": contexts[0].name }),
});

/** Writes a kubeconfig (JSON, which is YAML; mode 0600) for a user with a client certificate, all data inside. */
export async function writeKubeconfig(
  path: string,
  server: string,
  authority: Authority,
  user: KeyFiles,
): Promise<void> {
  const [certificate, key] = await Promise.all([readFile(user.certificate), readFile(user.key)]);
  const config = kubeconfigOf([
    {
      name: "cluster",
      cluster: { server, "certificate-authority-data": Buffer.from(authority.certificate).toString("base64") },
      user: {
        "client-certificate-data": certificate.toString("base64"),
        "client-key-data": key.toString("base64"),
      },
    },
  ]);
  await writeAtomic(path, `${JSON.stringify(config, null, 2)}\n`);
}
