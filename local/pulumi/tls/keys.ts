/** Private keys in every notation of the tls provider. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import sshpk from "sshpk";

/** Named curves of the provider and their names in OpenSSL. */
export const CURVES: Readonly<Record<string, string>> = {
  P224: "secp224r1",
  P256: "prime256v1",
  P384: "secp384r1",
  P521: "secp521r1",
};

const generate = promisify(generateKeyPair);

/** Makes a key. `RSA` uses the bits, `ECDSA` the curve. */
export async function generateKey(algorithm: string, rsaBits: number, curve: string): Promise<KeyObject> {
  if (algorithm === "RSA") return (await generate("rsa", { modulusLength: rsaBits })).privateKey;
  if (algorithm === "ECDSA") return (await generate("ec", { namedCurve: CURVES[curve] ?? curve })).privateKey;
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
 * As in terraform-provider-tls: the classic PEM is PKCS #1 for RSA, SEC 1 for ECDSA and PKCS #8 for ED25519; OpenSSH notations are empty
 * for P224, which OpenSSH does not have; the id is the SHA-1 of the public key (PKIX, DER).
 */
export function keyOutputs(key: KeyObject): KeyOutputs {
  const publicKey = createPublicKey(key);
  const der = publicKey.export({ type: "spki", format: "der" });
  const pkcs8 = key.export({ type: "pkcs8", format: "pem" }).toString();
  const openssh = hasOpenssh(key) ? opensshOutputs(pkcs8) : NO_OPENSSH;
  return {
    id: createHash("sha1").update(der).digest("hex"),
    outputs: {
      privateKeyPem: classicPem(key),
      privateKeyPemPkcs8: pkcs8,
      publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
      ...openssh,
    },
  };
}

const NO_OPENSSH = {
  privateKeyOpenssh: "",
  publicKeyOpenssh: "",
  publicKeyFingerprintMd5: "",
  publicKeyFingerprintSha256: "",
};

function hasOpenssh(key: KeyObject): boolean {
  return key.asymmetricKeyDetails?.namedCurve !== CURVES["P224"];
}

function opensshOutputs(pkcs8: string): typeof NO_OPENSSH {
  const key = sshpk.parsePrivateKey(pkcs8, "pem");
  key.comment = "";
  const publicKey = key.toPublic();
  publicKey.comment = "";
  return {
    privateKeyOpenssh: withNewline(key.toString("openssh")),
    publicKeyOpenssh: withNewline(publicKey.toString("ssh").trim()),
    publicKeyFingerprintMd5: publicKey.fingerprint("md5").toString("hex"),
    publicKeyFingerprintSha256: publicKey.fingerprint("sha256").toString("base64"),
  };
}

function withNewline(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

function classicPem(key: KeyObject): string {
  const type = key.asymmetricKeyType === "rsa" ? "pkcs1" : key.asymmetricKeyType === "ec" ? "sec1" : "pkcs8";
  // Node's types know each notation for its own kind of key only; the runtime check above chose the right one.
  return key.export({ type: type as "pkcs8", format: "pem" }).toString();
}

/** The provider's name of a key's algorithm. @throws for a key of another kind. */
export function algorithmOf(key: KeyObject): string {
  const names: Record<string, string> = { rsa: "RSA", ec: "ECDSA", ed25519: "ED25519" };
  const name = names[key.asymmetricKeyType ?? ""];
  if (name) return name;
  throw new Error(`the private key is of kind ${key.asymmetricKeyType}, allowed are RSA, ECDSA and ED25519`);
}

/** Reads a private key in any PEM notation. @throws without showing the key. */
export function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const code = (error as { code?: string }).code ?? "not a PEM";
    throw new Error(
      `privateKeyPem cannot be read as a private key (${code}); allowed is PEM in PKCS #1, SEC 1 or PKCS #8`,
    );
  }
}
