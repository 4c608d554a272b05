/** Private keys in every notation of the tls provider. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import sshpk from "sshpk";

/** The provider's names of the implemented algorithms by Node's. */
const ALGORITHMS: Readonly<Record<string, string>> = { rsa: "RSA", ed25519: "ED25519" };

const generate = promisify(generateKeyPair);

/** Makes a key, for RSA of so many bits. */
export async function generateKey(algorithm: string, rsaBits: number): Promise<KeyObject> {
  if (algorithm === "RSA") return (await generate("rsa", { modulusLength: rsaBits })).privateKey;
  return (await generate("ed25519", {})).privateKey;
}

/** The outputs of a PrivateKey beside its inputs, and its id. */
export interface KeyOutputs {
  readonly id: string;
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * All notations of a key.
 *
 * As in terraform-provider-tls: the classic PEM is PKCS #1 for RSA and PKCS #8 for ED25519; the id is the SHA-1 of the public key (PKIX,
 * DER).
 */
export function keyOutputs(key: KeyObject): KeyOutputs {
  const publicKey = createPublicKey(key);
  const pkcs8 = key.export({ type: "pkcs8", format: "pem" }).toString();
  const classic = key.asymmetricKeyType === "rsa" ? key.export({ type: "pkcs1", format: "pem" }).toString() : pkcs8;
  const ssh = sshpk.parsePrivateKey(pkcs8, "pem");
  const sshPublic = ssh.toPublic();
  ssh.comment = "";
  sshPublic.comment = "";
  return {
    id: createHash("sha1")
      .update(publicKey.export({ type: "spki", format: "der" }))
      .digest("hex"),
    outputs: {
      privateKeyPem: classic,
      privateKeyPemPkcs8: pkcs8,
      publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
      privateKeyOpenssh: `${ssh.toString("openssh").trimEnd()}\n`,
      publicKeyOpenssh: `${sshPublic.toString("ssh").trim()}\n`,
      publicKeyFingerprintMd5: sshPublic.fingerprint("md5").toString("hex"),
      publicKeyFingerprintSha256: sshPublic.fingerprint("sha256").toString("base64"),
    },
  };
}

/** The provider's name of a key's algorithm. @throws for a key of another kind. */
export function algorithmOf(key: KeyObject): string {
  const name = ALGORITHMS[key.asymmetricKeyType ?? ""];
  if (name) return name;
  throw new Error(`the private key is of kind ${key.asymmetricKeyType}, allowed here are RSA and ED25519`);
}

/** Reads a private key in any PEM notation. @throws without showing the key. */
export function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const code = (error as { code?: string }).code ?? "not a PEM";
    throw new Error(`privateKeyPem cannot be read as a private key (${code}); allowed is PEM in PKCS #1 or PKCS #8`);
  }
}
