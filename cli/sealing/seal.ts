import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Document, parseDocument } from "yaml";
import { inBase64 } from "../../lib/base64.ts";
import { sealedAnnotations } from "../../lib/labels.ts";

/** The public half of a sealing key. */
export interface SealingKey {
  /** The environment or the cluster that opens what it seals. */
  readonly scope: string;
  /** PEM. */
  readonly certificate: string;
}

/** A Secret in plain text; it leaves memory only through a pipe into kubeseal. */
export interface PlainSecret {
  readonly namespace: string;
  readonly name: string;
  /** Labels that the Secret gets on the cluster. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: Opaque. */
  readonly type?: string | undefined;
  readonly data: Readonly<Record<string, string | Uint8Array>>;
}

/** @throws Error that says what is wrong with a sealing certificate. */
export function checkCertificate(pem: string, source: string, now = new Date()): void {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
  } catch (error) {
    throw new Error(
      `${source} is not a certificate in PEM; the public certificate of the scope's sealing key is needed: ` +
        "pulumi stack output --json sealingCertificates",
      { cause: error },
    );
  }
  const type = certificate.publicKey.asymmetricKeyType;
  if (type !== "rsa")
    throw new Error(
      `${source} has a key of type ${type}; Sealed Secrets seals with RSA keys only: use a sealing key's`,
    );
  if (certificate.validToDate < now)
    throw new Error(
      `${source} ended on ${certificate.validTo}; a valid one is needed: add a sealing key generation to the stack, make it active, pulumi up`,
    );
}

/** SHA-256 of a certificate, as annotations and people name it. */
export const fingerprint = (pem: string): string =>
  new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase();

/** Writes down which key a SealedSecret is sealed with: the controller is the only one who could find out. */
export function noteKey(document: Document, { scope, certificate }: SealingKey): void {
  document.setIn(["metadata", "annotations", sealedAnnotations.scope], scope);
  document.setIn(["metadata", "annotations", sealedAnnotations.certificate], fingerprint(certificate));
}

/** The SealedSecret of a Secret, as YAML. The plain text goes through stdin; only the public certificate is written to a file. */
export async function seal(kubeseal: string, key: SealingKey, secret: PlainSecret): Promise<string> {
  const { namespace, name, labels, type, data } = secret;
  const folder = await mkdtemp(join(tmpdir(), "fleet-seal-"));
  try {
    const cert = join(folder, "tls.crt");
    await writeFile(cert, key.certificate);
    const metadata = { name, namespace, ...(labels === undefined ? {} : { labels }) };
    const manifest = { apiVersion: "v1", kind: "Secret", metadata, type, data: inBase64(data) };
    const sealed = parseDocument(await pipe(kubeseal, ["--cert", cert, "--format", "yaml"], JSON.stringify(manifest)));
    noteKey(sealed, key);
    return sealed.toString({ lineWidth: 0 });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function pipe(program: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    child.stdin.on("error", () => {}); // it ended before it had read everything; its exit code says why
    child.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ENOENT"
          ? new Error(
              `${program} is not on PATH: install kubeseal (Sealed Secrets), or source the local stack's .local/env, and run this again`,
            )
          : error,
      ),
    );
    child.once("close", (code) => {
      if (code === 0) resolve(Buffer.concat(output).toString());
      else reject(new Error(`${program} ended with exit code ${code}: ${Buffer.concat(errors).toString().trim()}`));
    });
    child.stdin.end(input);
  });
}
