/**
 * Whose commits clusters apply: public keys of OpenPGP and SSH, as source-controller reads them from a Secret (fluxcd/source-controller
 * v1.9.5, docs/spec/v1/gitrepositories.md, "Verification").
 */

/** Public keys by the names of their files: `<name>.asc` of OpenPGP, `<name>.sshpub` of SSH. */
export type Signers = Readonly<Record<string, string>>;

/** Name of the Secret with the public keys of a repository's signers, beside its GitRepository. */
export const signersSecret = (repository: string) => `${repository}-signers`;

/** `spec.verify` of a GitRepository that follows a branch: only the mode `HEAD` knows commits; the others ask for a tag. */
export const verification = (repository: string) => ({
  mode: "HEAD",
  secretRef: { name: signersSecret(repository) },
});

const bytes = (base64: string): Buffer | undefined => {
  const joined = base64.replaceAll(/\s/g, "");
  return joined !== "" && /^[A-Za-z0-9+/]+={0,2}$/.test(joined) ? Buffer.from(joined, "base64") : undefined;
};

const armor =
  /^-----BEGIN PGP PUBLIC KEY BLOCK-----\n((?:[A-Za-z]+: .*\n)*)\n?([A-Za-z0-9+/=\n]+?)(\n=[A-Za-z0-9+/]{4})?\n-----END PGP PUBLIC KEY BLOCK-----$/;

/** The type of a packet's first octet (RFC 9580, 4.2): 6 is a public key. */
const packetType = (octet: number): number => (octet & 0x40 ? octet & 0x3f : (octet >> 2) & 0x0f);

/** Whether a text is one public key of OpenPGP in ASCII armor, and nothing besides. */
function isPgpKey(text: string): boolean {
  const body = armor.exec(text.replaceAll("\r\n", "\n").trim())?.[2];
  const first = body === undefined ? undefined : bytes(body)?.[0];
  return first !== undefined && (first & 0x80) !== 0 && packetType(first) === 6;
}

/** What ssh-keygen makes and golang.org/x/crypto/ssh verifies. */
const sshTypes = [
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "sk-ecdsa-sha2-nistp256@openssh.com",
  "sk-ssh-ed25519@openssh.com",
  "ssh-ed25519",
  "ssh-rsa",
];

/** Whether a line is a public key as ssh-keygen writes it: the type, which stands in the key once more, the key and perhaps a comment. */
function isSshKey(line: string): boolean {
  const [, type = "", key = ""] = /^(\S+) ([A-Za-z0-9+/]+={0,2})(?: [ -~]*)?$/.exec(line) ?? [];
  const content = bytes(key);
  if (!sshTypes.includes(type) || content === undefined || content.length <= 4 + type.length) return false;
  return content.readUInt32BE() === type.length && content.subarray(4, 4 + type.length).toString("latin1") === type;
}

/** Whether a file of this name with this text is the public key of a signer, and has no other content. */
export function isSigner(name: string, text: string): boolean {
  if (/^[\w-][\w.-]*\.asc$/.test(name)) return isPgpKey(text);
  if (/^[\w-][\w.-]*\.sshpub$/.test(name)) return text.trim().split(/\r?\n/).every(isSshKey);
  return false;
}
