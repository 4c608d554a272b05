import { X509Certificate } from "node:crypto";
import { isRecord, listOf, reads, slug } from "./forms.ts";

/** A sealing key of a scope that no state has: the secret in Secrets Manager stays as it is, and opens what it sealed. */
interface FormerSealingKey {
  readonly scope: string;
  readonly generation: string;
  /** ARN of the secret, with the six characters at its end that Secrets Manager chose. */
  readonly arn: string;
  /** Its public certificate in PEM, by which commands know what it sealed. */
  readonly certificate: string;
}

/** A generation of a scope's sealing key. */
interface SealingKeyGeneration {
  readonly scope: string;
  readonly generation: string;
  readonly active: boolean;
}

/** The scope and the name of a generation, and what else the value has. */
function generationIn(value: unknown) {
  if (!isRecord(value)) return undefined;
  const { scope, generation, ...others } = value;
  // `pulumi config set --path` stores digits as a number.
  const name = typeof generation === "number" ? String(generation) : generation;
  if (typeof scope !== "string" || typeof name !== "string" || !slug.test(scope) || !slug.test(name)) return undefined;
  return { id: { scope, generation: name }, others };
}

function sealingKeyGeneration(value: unknown): SealingKeyGeneration | undefined {
  const { id, others: { active, ...unknown } = {} } = generationIn(value) ?? {};
  if (id === undefined || typeof active !== "boolean" || Object.keys(unknown).length > 0) return undefined;
  return { ...id, active };
}

export const sealingKeyList = listOf(sealingKeyGeneration, {
  allowed: "a list of {scope: <lower-case name>, generation: <lower-case name or number>, active: true or false}",
  path: "[0].scope",
  example: "dev (likewise generation, active)",
});

/** One certificate and nothing else: a private key must not stand in the configuration. */
const onePem = /^\s*-----BEGIN CERTIFICATE-----[\s\w+/=]+-----END CERTIFICATE-----\s*$/;

const isCertificate = (pem: string): boolean => onePem.test(pem) && reads(() => new X509Certificate(pem));

const secretArn = /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-[A-Za-z0-9]{6}$/;

function formerSealingKey(value: unknown): FormerSealingKey | undefined {
  const { id, others: { arn, certificate, ...unknown } = {} } = generationIn(value) ?? {};
  if (id === undefined || typeof arn !== "string" || !secretArn.test(arn)) return undefined;
  if (typeof certificate !== "string" || !isCertificate(certificate) || Object.keys(unknown).length > 0)
    return undefined;
  return { ...id, arn, certificate };
}

export const formerSealingKeyList = listOf(formerSealingKey, {
  allowed:
    "a list of {scope: <lower-case name>, generation: <lower-case name or number>, arn: <whole ARN of its secret>, certificate: <one certificate in PEM, and no private key>}, as fleet adopt-hub prints it",
  path: "[0].scope",
  example: "dev (likewise generation, arn, certificate)",
});
