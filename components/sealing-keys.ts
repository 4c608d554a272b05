import * as pulumi from "@pulumi/pulumi";
import * as tls from "@pulumi/tls";
import type { PolicyDocument } from "../lib/iam/policy.ts";
import type { Tags } from "../lib/labels.ts";
import { ManagedSecret, secretPolicy } from "./managed-secret.ts";

/** Ten years: a sealed secret stays readable as long as its key; keys are replaced by new generations, not by expiry. */
const validityPeriodHours = 10 * 365 * 24;

interface SealingKeyGeneration {
  /** Environment whose clusters read the key, or cluster-<spoke> for a key that only this spoke reads. */
  readonly scope: string;
  /** Name of the generation within its scope, usually a number. */
  readonly generation: string;
  /** Whether new secrets are sealed with it; exactly one generation of a scope is active. */
  readonly active: boolean;
}

interface FormerSealingKey {
  /** The scope whose clusters read the key. */
  readonly scope: string;
  /** Name of the generation, which `keys` must not have in this scope. */
  readonly generation: string;
  /** Whole ARN of its secret. */
  readonly arn: pulumi.Input<string>;
  /** Its public certificate in PEM. */
  readonly certificate: string;
}

/** Where a sealing key is in Secrets Manager. */
interface StoredKey {
  /** Name of the secret. */
  readonly secretName: pulumi.Output<string>;
  /** ARN of the secret, with the six random characters that Secrets Manager puts at its end. */
  readonly arn: pulumi.Output<string>;
}

export interface SealingKeysArgs {
  /**
   * Generations of all scopes; an older one stays readable for as long as it is listed.
   * @example [{ scope: "dev", generation: "1", active: true }]
   */
  readonly keys: readonly SealingKeyGeneration[];
  /**
   * Generations that are in Secrets Manager and in no state, such as those of a state that was lost. They are readable like older generations
   * of `keys`; the component makes and deletes nothing of them but their resource policy.
   * @default none
   */
  readonly formerSealingKeys?: readonly FormerSealingKey[];
  /**
   * Name of a generation's secret in Secrets Manager.
   * @default `<component's name>/<scope>/<generation>`
   */
  readonly secretName?: (scope: string, generation: string) => string;
  /**
   * Resource policy of the secrets of a scope (`ManagedSecret`).
   * @default none
   */
  readonly policy?: ((scope: string) => pulumi.Input<PolicyDocument> | undefined) | undefined;
  /** ARN of the customer managed key that encrypts the secrets, such as an `EncryptionKey`'s. */
  readonly keyArn: pulumi.Input<string>;
  /**
   * Days for which a deleted key can be restored: 7 to 30, or 0 to delete it at once.
   * @default 30
   */
  readonly secretRecoveryWindowDays?: number;
  /**
   * Tags of the secrets.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
  /**
   * Pulumi refuses to delete a key while this is true: what it sealed could never be read again. The component's own option
   * `protect` does the same, and protects the component too.
   * @default the component's own option `protect`
   */
  readonly protect?: boolean | undefined;
}

/**
 * Key pairs for Sealed Secrets: RSA 4096 and a self-signed certificate, one per scope and generation, in Secrets Manager.
 * @example
 * const sealing = new SealingKeys("sealing-keys", { keys: [{ scope: "dev", generation: "1", active: true }], keyArn: key.arn });
 * export const certificates = sealing.certificates;
 */
export class SealingKeys extends pulumi.ComponentResource {
  /** Public certificates in PEM, by scope and generation: what `kubeseal --cert` takes. */
  readonly certificates: Record<string, Record<string, pulumi.Output<string>>> = {};
  /** The active generation of each scope. */
  readonly active: Record<string, string> = {};
  /** When the certificate of each scope's active generation ends (RFC 3339): nothing is sealed with it afterwards. */
  readonly ends: Record<string, pulumi.Output<string>> = {};
  private readonly stored: { readonly scope: string; readonly generation: string; readonly secret: StoredKey }[] = [];

  constructor(name: string, args: SealingKeysArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:SealingKeys", name, {}, opts);
    const { keys, formerSealingKeys = [], policy, protect, ...secret } = args;
    const { secretName = (scope, generation) => `${name}/${scope}/${generation}` } = args;
    const child = { parent: this, ...(protect !== undefined && { protect }) };
    for (const { scope, generation, active } of keys) {
      const id = `${name}-${scope}/${generation}`;
      const { privateKeyPem } = new tls.PrivateKey(`${id}-key`, { algorithm: "RSA", rsaBits: 4096 }, child);
      const { certPem, validityEndTime } = new tls.SelfSignedCert(
        `${id}-certificate`,
        {
          privateKeyPem,
          subject: { commonName: secretName(scope, generation) },
          validityPeriodHours,
          allowedUses: ["key_encipherment"],
        },
        child,
      );
      const stored = new ManagedSecret(
        id,
        {
          ...secret,
          secretName: secretName(scope, generation),
          description: `Sealing key of scope ${scope}, generation ${generation}`,
          policy: policy?.(scope),
          value: { "tls.crt": certPem, "tls.key": privateKeyPem },
        },
        child,
      );
      this.keep(scope, generation, stored, certPem);
      if (!active) continue;
      this.active[scope] = generation;
      this.ends[scope] = validityEndTime;
    }
    for (const { scope, generation, arn, certificate } of formerSealingKeys) {
      const shared = policy?.(scope);
      if (shared !== undefined) secretPolicy(`${name}-${scope}/${generation}-policy`, arn, shared, this);
      const stored = { arn: pulumi.output(arn), secretName: pulumi.output(secretName(scope, generation)) };
      this.keep(scope, generation, stored, pulumi.output(certificate));
    }
    this.registerOutputs({ certificates: this.certificates, active: this.active });
  }

  private keep(scope: string, generation: string, secret: StoredKey, certificate: pulumi.Output<string>): void {
    this.stored.push({ scope, generation, secret });
    this.certificates[scope] = { ...this.certificates[scope], [generation]: certificate };
  }

  /** The secrets of a scope in Secrets Manager, by generation, former ones too; none for a scope without keys. */
  secrets(scope: string): Readonly<Record<string, StoredKey>> {
    const own = this.stored.filter((key) => key.scope === scope);
    return Object.fromEntries(own.map(({ generation, secret }) => [generation, secret]));
  }
}
