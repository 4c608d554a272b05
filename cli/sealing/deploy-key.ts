import sshpk from "sshpk";
import { type NotedKey, withNote } from "./deploy-key-notes.ts";
import { type PlainSecret, type SealingKey, seal } from "./seal.ts";

/** The members of a Secret with which Flux reads a repository over SSH. */
export interface DeployKey extends Readonly<Record<string, string>> {
  /** The private half: for {@link seal} alone. */
  readonly identity: string;
  readonly "identity.pub": string;
  readonly known_hosts: string;
}

/** A new ED25519 pair in OpenSSH's form. @param comment whose it is; by this people find it at the Git host */
export function newDeployKey(comment: string, knownHosts: string): DeployKey {
  const key = sshpk.generatePrivateKey("ed25519");
  key.comment = comment;
  const [identity, publicKey] = [key.toString("ssh"), key.toPublic().toString("ssh")];
  return { identity, "identity.pub": publicKey, known_hosts: knownHosts };
}

/** The SealedSecret of a Git credential. It notes the public half of the deploy key, if it is one. */
export async function sealCredential(
  kubeseal: string,
  key: SealingKey,
  secret: PlainSecret,
  note: Omit<NotedKey, "publicKey"> = {},
): Promise<string> {
  const sealed = await seal(kubeseal, key, secret);
  const publicKey = secret.data["identity.pub"];
  return typeof publicKey === "string" ? withNote(sealed, { ...note, publicKey }) : sealed;
}
