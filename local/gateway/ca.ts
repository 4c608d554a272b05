import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createSecureContext, type SecureContext } from "node:tls";
import { ensureAuthority } from "../clusters/pki.ts";
import type { Instance } from "../instance/index.ts";

const HOUR_MS = 3_600_000;

/** The names that the gateway answers under, for SNI: AWS's, and the instance's own. */
const AWS_NAMES = /^([a-z0-9-]+\.)+(amazonaws\.com|amazonaws\.com\.cn|api\.aws)$/;
const OWN_NAMES = /^[a-z0-9-]+\.fleet\.internal$/;

/**
 * The CA that the instance's containers trust, and no other: loads it, or makes it (`<dir>/ca/ca.crt`; the key has mode 0600). Run
 * by one process at a time.
 */
export async function ensureInstanceCa(instance: Pick<Instance, "paths" | "index">) {
  const folder = dirname(instance.paths.caCertificate);
  const authority = await ensureAuthority(folder, "ca", `eks-gitops-fleet instance ${instance.index}`);
  /** A server certificate and its key (PEM) for a DNS name or IP address; made when first asked for, kept beside the CA. */
  const issue = async (name: string, expired = false): Promise<{ cert: string; key: string }> => {
    const end = expired ? new Date(Date.now() - HOUR_MS) : undefined;
    const leaf = expired ? `${name}.expired` : name;
    const files = await authority.issue(leaf, { commonName: name, addresses: [name] }, end);
    return { cert: await readFile(files.certificate, "ascii"), key: await readFile(files.key, "ascii") };
  };
  const none = () => new Map<string, Promise<SecureContext>>();
  const contexts = { valid: none(), expired: none() };
  return {
    /** PEM. */
    certificate: authority.certificate,
    issue,
    /**
     * The TLS context of a server name, made once. Rejects for names that the gateway does not answer under.
     * @param awsExpired whether the certificates of AWS's names have expired
     */
    contextOf: async (serverName: string, awsExpired: boolean): Promise<SecureContext> => {
      const name = serverName.toLowerCase();
      const isAws = AWS_NAMES.test(name);
      if (!isAws && !OWN_NAMES.test(name)) throw new Error(`the gateway does not answer under the name ${name}`);
      const expired = isAws && awsExpired;
      const known = expired ? contexts.expired : contexts.valid;
      const context = known.get(name) ?? issue(name, expired).then((pair) => createSecureContext(pair));
      known.set(name, context);
      return context;
    },
  };
}
