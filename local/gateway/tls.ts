import { createSecureContext, type SecureContext } from "node:tls";
import type { InstanceCa } from "./ca.ts";

/** The names that the gateway answers under, for SNI. */
const NAMES = /^([a-z0-9-]+\.)+(amazonaws\.com|amazonaws\.com\.cn|api\.aws)$|^[a-z0-9-]+\.fleet\.internal$/;

/** Gives TLS contexts by server name, with certificates issued when first asked for. Rejects for names that are not ours. */
export function certificates(ca: InstanceCa): { forName(name: string): Promise<SecureContext> } {
  const contexts = new Map<string, Promise<SecureContext>>();
  const issue = (name: string): Promise<SecureContext> => {
    const existing = contexts.get(name);
    if (existing !== undefined) return existing;
    const made = ca
      .issue(name)
      .then(({ certificate, key }) => createSecureContext({ cert: certificate, key, minVersion: "TLSv1.2" }));
    contexts.set(name, made);
    return made;
  };
  return {
    forName: (name) =>
      NAMES.test(name.toLowerCase())
        ? issue(name.toLowerCase())
        : Promise.reject(new Error(`the gateway does not answer under the name ${name}`)),
  };
}
