import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ensureAuthority } from "../clusters/pki.ts";
import type { Instance } from "../instance/index.ts";

/** The CA that the instance's containers trust, and no other. */
export interface InstanceCa {
  /** PEM. */
  readonly certificate: string;
  /** A server certificate and its key (PEM) for a DNS name or IP address; made when first asked for, kept beside the CA. */
  issue(name: string): Promise<{ certificate: string; key: string }>;
}

/** Loads the instance's CA, or makes it (`<dir>/ca/ca.crt`; the key has mode 0600). Run by one process at a time. */
export async function ensureInstanceCa(instance: Pick<Instance, "paths" | "index">): Promise<InstanceCa> {
  const folder = dirname(instance.paths.caCertificate);
  const authority = await ensureAuthority(folder, "ca", `eks-gitops-fleet instance ${instance.index}`);
  return {
    certificate: authority.certificate,
    issue: async (name) => {
      const files = await authority.issue(name, { commonName: name, addresses: [name] });
      return { certificate: await readFile(files.certificate, "ascii"), key: await readFile(files.key, "ascii") };
    },
  };
}
