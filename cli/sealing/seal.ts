import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inBase64 } from "../../lib/bridge.ts";

/** A Secret in plain text; it leaves memory only through a pipe into kubeseal. */
export interface PlainSecret {
  readonly namespace: string;
  readonly name: string;
  /** Labels that the Secret gets on the cluster. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
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

/** The SealedSecret of a Secret, as YAML. The plain text goes through stdin; only the public certificate is written to a file. */
export async function seal(kubeseal: string, certificate: string, secret: PlainSecret): Promise<string> {
  const { namespace, name, labels, data } = secret;
  const folder = await mkdtemp(join(tmpdir(), "fleet-seal-"));
  try {
    const cert = join(folder, "tls.crt");
    await writeFile(cert, certificate);
    const metadata = { name, namespace, ...(labels === undefined ? {} : { labels }) };
    const manifest = { apiVersion: "v1", kind: "Secret", metadata, data: inBase64(data) };
    return await pipe(kubeseal, ["--cert", cert, "--format", "yaml"], JSON.stringify(manifest));
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
