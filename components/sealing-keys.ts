import * as pulumi from "@pulumi/pulumi";
import * as tls from "@pulumi/tls";
import { ManagedSecret } from "./managed-secret.ts";

/** Ten years: a sealed secret stays readable as long as its key; keys are replaced by new generations, not by expiry. */
const validityPeriodHours = 10 * 365 * 24;

interface SealingKeyGeneration {
  /** Environment whose clusters read the key, or cluster-<spoke> for a key that only this spoke reads. */
  readonly scope: string;
  readonly generation: string;
  /** Whether new secrets are sealed with it; exactly one generation of a scope is active. */
  readonly active: boolean;
}

export interface SealingKeysArgs {
  readonly keys: readonly SealingKeyGeneration[];
  /** Name of a generation's secret in Secrets Manager. */
  readonly secretName: (scope: string, generation: string) => string;
  readonly keyArn: pulumi.Input<string>;
  readonly recoveryWindowInDays: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Refuse to delete a key: what it sealed could never be read again. */
  readonly protect: boolean;
}

/** Key pairs for Sealed Secrets: RSA 4096 and a self-signed certificate, one per scope and generation, in Secrets Manager. */
export class SealingKeys extends pulumi.ComponentResource {
  /** Public certificates in PEM, by scope and generation: what `kubeseal --cert` takes. */
  readonly certificates: Record<string, Record<string, pulumi.Output<string>>> = {};
  /** The active generation of each scope. */
  readonly active: Record<string, string> = {};

  constructor(name: string, args: SealingKeysArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:SealingKeys", name, {}, opts);
    const child = { parent: this, protect: args.protect };
    for (const { scope, generation, active } of args.keys) {
      const id = `${name}-${scope}/${generation}`;
      const { privateKeyPem } = new tls.PrivateKey(`${id}-key`, { algorithm: "RSA", rsaBits: 4096 }, child);
      const { certPem } = new tls.SelfSignedCert(
        `${id}-certificate`,
        {
          privateKeyPem,
          subject: { commonName: args.secretName(scope, generation) },
          validityPeriodHours,
          allowedUses: ["key_encipherment"],
        },
        child,
      );
      new ManagedSecret(
        id,
        {
          secretName: args.secretName(scope, generation),
          description: `Sealing key of scope ${scope}, generation ${generation}`,
          value: { "tls.crt": certPem, "tls.key": privateKeyPem },
          keyArn: args.keyArn,
          recoveryWindowInDays: args.recoveryWindowInDays,
          tags: args.tags,
        },
        child,
      );
      this.certificates[scope] = { ...this.certificates[scope], [generation]: certPem };
      if (active) this.active[scope] = generation;
    }
    this.registerOutputs({ certificates: this.certificates, active: this.active });
  }
}
