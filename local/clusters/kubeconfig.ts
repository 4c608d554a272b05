import { readFile } from "node:fs/promises";
import { writeAtomic } from "../instance/files.ts";
import type { Authority, KeyFiles } from "./pki.ts";

/** Writes a kubeconfig (JSON, which is YAML; mode 0600) for a user with a client certificate, all data inside. */
export async function writeKubeconfig(
  path: string,
  server: string,
  authority: Authority,
  user: KeyFiles,
): Promise<void> {
  const [certificate, key] = await Promise.all([readFile(user.certificate), readFile(user.key)]);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "cluster", cluster: { server, "certificate-authority-data": base64(authority.certificate) } }],
    users: [
      {
        name: "user",
        user: { "client-certificate-data": base64(certificate), "client-key-data": base64(key) },
      },
    ],
    contexts: [{ name: "context", context: { cluster: "cluster", user: "user" } }],
    "current-context": "context",
  };
  await writeAtomic(path, `${JSON.stringify(config, null, 2)}\n`);
}

function base64(data: string | Buffer): string {
  return Buffer.from(data).toString("base64");
}
