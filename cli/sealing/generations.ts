import { X509Certificate } from "node:crypto";
import { z } from "zod";
import { readOutputs, sealingOutputs } from "../fleet/outputs.ts";
import { fingerprint, type SealingKey } from "./seal.ts";

/** One generation of a scope's sealing key, as the hub's stack has it. */
export interface Generation extends SealingKey {
  readonly generation: string;
  /** Whether the commands seal with it. */
  readonly isActive: boolean;
  /** SHA-256 of its certificate. */
  readonly fingerprint: string;
  readonly made: Date;
  readonly expires: Date;
}

/** Compares generations: `10` comes after `9`. */
export const byGeneration = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

/** Every generation in the outputs of the hub's stack, by scope, the oldest first. */
export function generationsOf(outputs: unknown): Generation[] {
  const { sealingCertificates, activeSealingKeys } = readOutputs(z.object(sealingOutputs), outputs);
  const all = Object.entries(sealingCertificates).flatMap(([scope, generations]) =>
    Object.entries(generations).map(([generation, certificate]) => {
      const { validFromDate, validToDate } = new X509Certificate(certificate);
      const isActive = activeSealingKeys[scope] === generation;
      const dates = { made: validFromDate, expires: validToDate };
      return { scope, generation, isActive, certificate, fingerprint: fingerprint(certificate), ...dates };
    }),
  );
  return all.sort((a, b) => a.scope.localeCompare(b.scope) || byGeneration(a.generation, b.generation));
}
