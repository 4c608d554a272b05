import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { X509CertificateGenerator } from "@peculiar/x509";
import type { FleetFacts } from "../../../cli/fleet/facts.ts";

export const root = join(import.meta.dirname, "..", "..", "..");
export const knownHosts = "[git.fleet.internal]:2222 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMq";
export const privateHalf = "-----BEGIN OPENSSH PRIVATE KEY----- of the repository";

/** A self-signed certificate in PEM; RSA unless an elliptic curve is asked for. */
export async function certificate({ curve = false, notAfter = new Date("2099-01-01") } = {}): Promise<string> {
  const algorithm = curve
    ? { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }
    : { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2048 };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const made = await X509CertificateGenerator.createSelfSigned({
    name: "CN=sealing",
    notBefore: new Date("2020-01-01"),
    notAfter,
    signingAlgorithm: algorithm,
    keys,
  });
  return made.toString("pem");
}

/** One call of the kubeseal of {@link fakeKubeseal}. */
export interface Call {
  readonly argv: readonly string[];
  readonly input: {
    readonly metadata: {
      readonly name: string;
      readonly namespace: string;
      readonly labels?: Readonly<Record<string, string>>;
    };
    readonly data: Readonly<Record<string, string>>;
  };
  /** What it was to seal with. */
  readonly certificate: string;
}

/** A program in the place of kubeseal, which notes how it is called and seals nothing. */
export function fakeKubeseal(folder: string): { program: string; calls: () => Call[] } {
  const program = join(folder, "kubeseal");
  const log = join(folder, "calls");
  writeFileSync(
    program,
    `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
const input = JSON.parse(readFileSync(0, "utf8"));
const argv = process.argv.slice(2);
const certificate = readFileSync(argv[argv.indexOf("--cert") + 1], "utf8");
appendFileSync(${JSON.stringify(log)}, JSON.stringify({ argv, input, certificate }) + "\\n");
const { name, namespace } = input.metadata;
process.stdout.write(\`kind: SealedSecret\\nmetadata: { name: \${name}, namespace: \${namespace} }\\n\`);
`,
  );
  chmodSync(program, 0o755);
  const lines = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
  return { program, calls: () => lines().map((line) => JSON.parse(line)) };
}

/** Adds the folders of the fleet to a checkout of gitops-system. */
function addFleet(checkout: string): void {
  for (const part of ["clusters", "spokes"])
    cpSync(join(checkout, "templates", "fleet", part), join(checkout, part, "fleet"), { recursive: true });
}

/** A checkout of one of the repositories in a new folder below `base`, and a fleet to seal for. */
export function newCase(base: string, repository: string, certificates: FleetFacts["certificates"]) {
  const folder = mkdtempSync(join(base, "case-"));
  const kubeseal = fakeKubeseal(folder);
  const checkout = join(folder, repository);
  cpSync(join(root, "repos", repository), checkout, { recursive: true });
  if (repository === "gitops-system") addFleet(checkout);
  return { checkout, kubeseal, fleet: fleetWith(certificates, kubeseal.program) };
}

/** A fleet with one repository credential for all repositories; with certificates by scope it has one generation of each. */
export const fleetWith = (certificates: FleetFacts["certificates"], kubeseal: string): FleetFacts => ({
  name: "fleet",
  region: "us-east-1",
  vpcCidr: "10.0.0.0/16",
  certificates,
  ...(typeof certificates === "string"
    ? {}
    : { generations: Object.fromEntries(Object.keys(certificates).map((scope) => [scope, ["1"]])) }),
  repositoryUrls: {
    "gitops-system": "ssh://git@git.fleet.internal:2222/gitops-system.git",
    "gitops-workloads": "ssh://git@git.fleet.internal:2222/gitops-workloads.git",
  },
  kubeseal,
  credential: async (repository) => ({
    identity: `${privateHalf} ${repository}`,
    "identity.pub": "ssh-ed25519 AAAA",
    known_hosts: knownHosts,
  }),
});
