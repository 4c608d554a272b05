/** Self-signed certificates as terraform-provider-tls makes them. */
import "reflect-metadata";
import { createPublicKey, type KeyObject, randomBytes, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import type { JsonMap } from "../framework/index.ts";
import { algorithmOf } from "./keys.ts";

const { subtle } = webcrypto;

/** Allowed uses that are key usages (RFC 5280, 4.2.1.3). */
const KEY_USAGES: Readonly<Record<string, number>> = {
  digital_signature: x509.KeyUsageFlags.digitalSignature,
  content_commitment: x509.KeyUsageFlags.nonRepudiation,
  key_encipherment: x509.KeyUsageFlags.keyEncipherment,
  data_encipherment: x509.KeyUsageFlags.dataEncipherment,
  key_agreement: x509.KeyUsageFlags.keyAgreement,
  cert_signing: x509.KeyUsageFlags.keyCertSign,
  crl_signing: x509.KeyUsageFlags.cRLSign,
  encipher_only: x509.KeyUsageFlags.encipherOnly,
  decipher_only: x509.KeyUsageFlags.decipherOnly,
};
/** Allowed uses that are extended key usages (RFC 5280, 4.2.1.12). */
const EXTENDED_USAGES: Readonly<Record<string, string>> = {
  any_extended: "2.5.29.37.0",
  server_auth: "1.3.6.1.5.5.7.3.1",
  client_auth: "1.3.6.1.5.5.7.3.2",
  code_signing: "1.3.6.1.5.5.7.3.3",
  email_protection: "1.3.6.1.5.5.7.3.4",
  timestamping: "1.3.6.1.5.5.7.3.8",
  ocsp_signing: "1.3.6.1.5.5.7.3.9",
};
/** Every implemented use. */
export const ALLOWED_USES = [...Object.keys(KEY_USAGES), ...Object.keys(EXTENDED_USAGES)].sort();

/** Members of `subject` and their attribute names in a distinguished name. */
const SUBJECT_FIELDS: Readonly<Record<string, string>> = {
  country: "C",
  organization: "O",
  organizationalUnit: "OU",
  locality: "L",
  province: "ST",
  streetAddresses: "2.5.4.9",
  postalCode: "2.5.4.17",
  commonName: "CN",
  serialNumber: "2.5.4.5",
};
/** Paths of `subject` that are implemented. */
export const SUBJECT_PATHS = Object.keys(SUBJECT_FIELDS).map((field) => `subject.${field}`);

/** A certificate with the facts that the provider shows of it. */
export interface Certificate {
  /** Serial number in decimal, the id of the resource. */
  readonly id: string;
  readonly certPem: string;
  readonly keyAlgorithm: string;
  readonly validityStartTime: string;
  readonly validityEndTime: string;
}

/** Algorithms of WebCrypto, with the hash that Go chooses; Ed25519 hashes by itself. */
const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
const ED25519 = { name: "Ed25519", hash: "" };

/** Makes a certificate from the inputs of a SelfSignedCert. `now` is the start of its validity. */
export async function selfSign(inputs: JsonMap, key: KeyObject, now: Date): Promise<Certificate> {
  const keyAlgorithm = algorithmOf(key);
  const algorithm = keyAlgorithm === "RSA" ? RSA : ED25519;
  const privateDer = key.export({ type: "pkcs8", format: "der" });
  const publicDer = createPublicKey(key).export({ type: "spki", format: "der" });
  const keys = {
    privateKey: await subtle.importKey("pkcs8", privateDer, algorithm, true, ["sign"]),
    publicKey: await subtle.importKey("spki", publicDer, algorithm, true, ["verify"]),
  };
  const serial = randomBytes(16);
  // The first bit of a positive serial number is 0 (RFC 5280, 4.1.2.2).
  serial[0] = (serial[0] as number) & 0x7f;
  // Certificates know whole seconds only.
  const notBefore = new Date(Math.floor(now.getTime() / 1000) * 1000);
  const notAfter = new Date(notBefore.getTime() + Number(inputs["validityPeriodHours"]) * 3_600_000);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial.toString("hex"),
    name: subjectName(inputs["subject"]),
    notBefore,
    notAfter,
    signingAlgorithm: algorithm,
    keys,
    extensions: await extensions(inputs, keys.publicKey),
  });
  return {
    id: BigInt(`0x${certificate.serialNumber}`).toString(),
    certPem: `${certificate.toString("pem")}\n`,
    keyAlgorithm,
    validityStartTime: rfc3339(notBefore),
    validityEndTime: rfc3339(notAfter),
  };
}

function subjectName(subject: unknown): x509.JsonName {
  if (typeof subject !== "object" || subject === null) return [];
  return Object.entries(SUBJECT_FIELDS).flatMap(([field, attribute]) => {
    const value = (subject as Record<string, unknown>)[field];
    const values = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
    return values.map((item) => ({ [attribute]: [String(item)] }));
  });
}

async function extensions(inputs: JsonMap, publicKey: webcrypto.CryptoKey): Promise<x509.Extension[]> {
  const uses = list(inputs["allowedUses"]);
  const isCa = inputs["isCaCertificate"] === true;
  const flags = uses.reduce((sum, use) => sum | (KEY_USAGES[use] ?? 0), 0);
  const extended = uses.flatMap((use) => EXTENDED_USAGES[use] ?? []);
  const names = [
    ...list(inputs["dnsNames"]).map((value) => ({ type: "dns" as const, value })),
    ...list(inputs["ipAddresses"]).map((value) => ({ type: "ip" as const, value })),
    ...list(inputs["uris"]).map((value) => ({ type: "url" as const, value })),
  ];
  const pathLength = isCa && typeof inputs["maxPathLength"] === "number" ? inputs["maxPathLength"] : undefined;
  return [
    ...(flags ? [new x509.KeyUsagesExtension(flags, true)] : []),
    ...(extended.length > 0 ? [new x509.ExtendedKeyUsageExtension(extended)] : []),
    new x509.BasicConstraintsExtension(isCa, pathLength, true),
    // A CA always has a key id: its children point to it.
    ...(isCa || inputs["setSubjectKeyId"] === true ? [await x509.SubjectKeyIdentifierExtension.create(publicKey)] : []),
    ...(inputs["setAuthorityKeyId"] === true ? [await x509.AuthorityKeyIdentifierExtension.create(publicKey)] : []),
    ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
  ];
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** RFC 3339 without fractions, as Go writes it. */
function rfc3339(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, "Z");
}

/** True when the certificate is within its early renewal period, or has ended. */
export function renewalDue(validityEnd: string, earlyRenewalHours: number, now: Date): boolean {
  return now.getTime() >= Date.parse(validityEnd) - earlyRenewalHours * 3_600_000;
}
