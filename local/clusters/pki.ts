// @peculiar/x509 needs it loaded first.
import "reflect-metadata";
import { generateKeyPair, randomBytes, webcrypto } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import * as x509 from "@peculiar/x509";
import type { ClusterAddresses } from "../instance/addresses.ts";
import { readText, writeAtomic } from "../instance/files.ts";

const ELLIPTIC = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;
const VALID_DAYS = 3650;

/** Files of a key and what belongs to it: `<name>.key` (0600) and `<name>.crt` or `<name>.pub`. */
export interface KeyFiles {
  readonly key: string;
  readonly certificate: string;
}

/** A certificate authority in a folder. */
export interface Authority {
  readonly files: KeyFiles;
  /** PEM. */
  readonly certificate: string;
  /**
   * Makes a certificate for clients and servers unless it is there.
   * @param end when it expires @default in ten years
   */
  issue(name: string, subject: Subject, end?: Date): Promise<KeyFiles>;
}

/** Whom a certificate names: for Kubernetes the user, its groups, and the addresses of a server. */
interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses. */
  readonly addresses?: readonly string[];
}

/** Where the key named so is, whether it exists or not. */
export function keyFiles(dir: string, name: string): KeyFiles {
  return { key: join(dir, `${name}.key`), certificate: join(dir, `${name}.crt`) };
}

/** Loads a certificate authority, or makes it. To be run by one process at a time. */
export async function ensureAuthority(dir: string, name: string, commonName: string): Promise<Authority> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const files = await ensurePair(dir, name, (keys) =>
    x509.X509CertificateGenerator.createSelfSigned({
      ...validity(),
      name: [{ CN: [commonName] }],
      keys,
      signingAlgorithm: SIGNATURE,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
          true,
        ),
      ],
    }),
  );
  const certificate = (await readText(files.certificate)) ?? "";
  return {
    files,
    certificate,
    issue: (leaf, subject, end) => ensurePair(dir, leaf, async (keys) => sign(files, certificate, keys, subject, end)),
  };
}

/** The directory of a cluster's keys and certificates. */
export const pkiFolder = (cluster: ClusterAddresses): string => join(cluster.dir, "pki");

/** Loads an authority of a cluster, or creates it. Its common name has the cluster's number: 64 characters are the limit (RFC 5280, A.1). */
export const clusterAuthority = (cluster: ClusterAddresses, name: "ca" | "front-proxy-ca" = "ca"): Promise<Authority> =>
  ensureAuthority(pkiFolder(cluster), name, `cluster-${cluster.number}-${name}`);

/** The key pair that signs service account tokens: RSA 2048, because tokens of EKS are RS256. */
export async function ensureServiceAccountKey(dir: string): Promise<{ key: string; publicKey: string }> {
  const files = { key: join(dir, "service-account.key"), publicKey: join(dir, "service-account.pub") };
  if ((await readText(files.publicKey)) !== undefined) return files;
  const { privateKey, publicKey } = await promisify(generateKeyPair)("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  await writeAtomic(files.key, privateKey);
  await writeAtomic(files.publicKey, publicKey, 0o644);
  return files;
}

type Make = (keys: webcrypto.CryptoKeyPair) => Promise<x509.X509Certificate>;

/** Pairs that are being made, by certificate file: nodes start side by side and share some, and no key fits another's certificate. */
const making = new Map<string, Promise<KeyFiles>>();

function ensurePair(dir: string, name: string, make: Make): Promise<KeyFiles> {
  const files = keyFiles(dir, name);
  const begun = making.get(files.certificate);
  if (begun !== undefined) return begun;
  const pair = makePair(files, make).finally(() => making.delete(files.certificate));
  making.set(files.certificate, pair);
  return pair;
}

async function makePair(files: KeyFiles, make: Make): Promise<KeyFiles> {
  // The certificate is written last: where it is, the key is whole.
  if ((await readText(files.certificate)) !== undefined) return files;
  const keys = await webcrypto.subtle.generateKey(ELLIPTIC, true, ["sign", "verify"]);
  const certificate = await make(keys);
  const der = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  await writeAtomic(files.key, `${x509.PemConverter.encode(der, "PRIVATE KEY")}\n`);
  await writeAtomic(files.certificate, `${certificate.toString("pem")}\n`, 0o644);
  return files;
}

async function sign(
  authority: KeyFiles,
  authorityPem: string,
  keys: webcrypto.CryptoKeyPair,
  { commonName, organizations = [], addresses = [] }: Subject,
  end?: Date,
): Promise<x509.X509Certificate> {
  const der = x509.PemConverter.decodeFirst((await readText(authority.key)) ?? "");
  const signingKey = await webcrypto.subtle.importKey("pkcs8", der, ELLIPTIC, false, ["sign"]);
  const issuer = new x509.X509Certificate(authorityPem);
  const names = addresses.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value }));
  return await x509.X509CertificateGenerator.create({
    ...validity(end),
    subject: [...(organizations.length > 0 ? [{ O: [...organizations] }] : []), { CN: [commonName] }],
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth, x509.ExtendedKeyUsage.serverAuth]),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
}

function validity(end?: Date): { serialNumber: string; notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return {
    // The first bit stays 0: serial numbers are positive (RFC 5280, 4.1.2.2).
    serialNumber: `01${randomBytes(15).toString("hex")}`,
    notBefore: new Date(now - DAY_MS),
    notAfter: end ?? new Date(now + VALID_DAYS * DAY_MS),
  };
}
