import sshpk from "sshpk";

/** A new ED25519 pair in OpenSSH's form. The private half is for {@link seal} alone. */
export function newDeployKey(comment: string): { readonly identity: string; readonly publicKey: string } {
  const key = sshpk.generatePrivateKey("ed25519");
  key.comment = comment;
  return { identity: key.toString("ssh"), publicKey: key.toPublic().toString("ssh") };
}
