import type { Properties } from "../properties.ts";

/** What Crossplane's provider needs to know of a resource besides its fields. */
export interface CrossplaneTraits {
  /** Group and kind, `ec2/VPC`. */
  readonly kind: string;
  /**
   * The input that the annotation `crossplane.io/external-name` gives, at first the object's own name (upstream:
   * config/externalname.go). Without it the annotation holds the id.
   */
  readonly named?: string;
  /** The value of that input; default: the external name itself. */
  readonly nameOf?: (externalName: string) => string;
  /** Input that Terraform fills with a unique name when it is not set. */
  readonly generatedName?: string;
  /** What upstream publishes in the connection Secret. */
  readonly connection?: (actual: Properties) => Readonly<Record<string, string>>;
  /** Upstream wrote it by hand: it has no `initProvider`, and `atProvider` has its outputs alone. */
  readonly bare?: true;
  /** Milliseconds between two checks; default: the program's flag `--poll`. */
  readonly pollMs?: (forProvider: Properties) => number;
  /** Long operations, whose failures upstream reports in the condition `LastAsyncOperation` too. */
  readonly asynchronous?: true;
}
