/** What the reconciler needs of the Kubernetes API. */
import type { Managed } from "./managed.ts";

export interface SecretData {
  readonly [key: string]: string;
}

/** One role of a chain, and what its trust policy may ask of who assumes it. */
export interface AssumeRole {
  readonly roleARN?: string;
  readonly externalID?: string;
  readonly tags?: readonly { readonly key: string; readonly value: string }[];
  readonly transitiveTagKeys?: readonly string[];
}

export interface ProviderConfig {
  readonly spec: {
    readonly credentials: { readonly source: string };
    readonly assumeRoleChain?: readonly AssumeRole[];
  };
}

/** The object has changed since it was read: what was to be written may be wrong by now, and the next pass sees the change. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
}

/** Objects in the cluster; each call is one request. Missing objects are undefined. */
export interface Objects {
  get(crd: string, namespace: string, name: string): Promise<Managed | undefined>;
  /** A JSON merge patch; with `resourceVersion` in its metadata it rejects with ConflictError when the object has changed. */
  patch(crd: string, managed: Managed, patch: object): Promise<Managed>;
  /** Rejects with ConflictError when the object has changed. */
  putStatus(crd: string, managed: Managed): Promise<Managed>;
  /** Writes a Secret owned by the object; Kubernetes deletes it with its owner. */
  writeSecret(owner: Managed, name: string, data: SecretData): Promise<void>;
  /** What a Secret holds. */
  readSecret(namespace: string, name: string): Promise<SecretData | undefined>;
  /** Adds keys to a Secret; one that is made for it goes with the object. */
  keepInSecret(owner: Managed, name: string, data: SecretData): Promise<void>;
  providerConfig(kind: string, namespace: string, name: string): Promise<ProviderConfig | undefined>;
  /** Says in the ProviderConfig's usages that the object uses it. */
  trackUsage(managed: Managed): Promise<void>;
  event(managed: Managed, type: "Normal" | "Warning", reason: string, message: string): Promise<void>;
}
