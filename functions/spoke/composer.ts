import { labelKeys } from "../../lib/labels.ts";
import type { ProviderConfigRef } from "./api.ts";
import type { Group } from "./groups.ts";
import { type ManagedKind, managedKinds } from "./kinds.ts";
import type { KubeObject } from "./kube.ts";
import type { Observed } from "./observed.ts";

const externalNameAnnotation = "crossplane.io/external-name";

/** One composed resource that is wanted. */
export interface Entry {
  readonly group: Group;
  readonly manifest: KubeObject;
}

/** A resource that can't be made yet, and what it waits for. */
export interface Waiting {
  readonly group: Group;
  readonly missing: readonly string[];
}

/** Prerequisites by name; undefined ones are not known yet. */
export type Facts = Readonly<Record<string, unknown>>;
type Known<F extends Facts> = { readonly [K in keyof F]: NonNullable<F[K]> };

/** A managed resource: what AWS is asked for, and its name there when it is ours to choose. */
export interface ManagedSpec {
  readonly forProvider: object;
  /** What counts when it is made, and is left to others afterwards. */
  readonly initProvider?: object;
  readonly externalName?: string;
  readonly writeConnectionSecretToRef?: { readonly name: string };
}

/** Name of the composed object `key` of the Spoke `spoke`. */
export function objectName(spoke: string, key: string): string {
  return `${spoke}-${key}`;
}

/** Collects the composed resources of one Spoke. */
export class Composer {
  readonly entries = new Map<string, Entry>();
  readonly waiting = new Map<string, Waiting>();
  readonly #observed: Observed;
  readonly #spoke: string;
  readonly #providerConfigRef: ProviderConfigRef;

  constructor(observed: Observed, spoke: string, providerConfigRef: ProviderConfigRef) {
    this.#observed = observed;
    this.#spoke = spoke;
    this.#providerConfigRef = providerConfigRef;
  }

  /**
   * Wants the managed resource `key` as soon as every fact is known. Once it exists it stays wanted, as it is,
   * while a fact can't be read: what can't be seen for a moment is not a reason to delete.
   */
  managed<F extends Facts>(
    group: Group,
    key: string,
    kind: ManagedKind,
    facts: F,
    build: (known: Known<F>) => ManagedSpec,
  ) {
    this.object(group, key, facts, (known) => {
      const { forProvider, initProvider, externalName, writeConnectionSecretToRef } = build(known);
      return {
        apiVersion: managedKinds[kind],
        kind,
        metadata: {
          name: this.objectName(key),
          ...(externalName === undefined ? {} : { annotations: { [externalNameAnnotation]: externalName } }),
        },
        spec: {
          forProvider,
          ...(initProvider === undefined ? {} : { initProvider }),
          providerConfigRef: this.#providerConfigRef,
          ...(writeConnectionSecretToRef === undefined ? {} : { writeConnectionSecretToRef }),
        },
      };
    });
  }

  /** Wants the object `key` of any kind, under the rule of {@link managed}. */
  object<F extends Facts>(group: Group, key: string, facts: F, build: (known: Known<F>) => KubeObject): void {
    const missing = Object.keys(facts).filter((name) => facts[name] === undefined);
    const existing = this.#observed.get(key);
    if (missing.length === 0) this.entries.set(key, { group, manifest: this.#labelled(build(facts as Known<F>)) });
    else if (existing) this.entries.set(key, { group, manifest: this.#labelled(kept(existing)) });
    else this.waiting.set(key, { group, missing });
  }

  /** Wants `key` as it is, where it exists. */
  keep(group: Group, key: string): void {
    const existing = this.#observed.get(key);
    if (existing) this.entries.set(key, { group, manifest: this.#labelled(kept(existing)) });
  }

  /** Name of the object in Kubernetes. Deterministic, so a Spoke made again never meets what is left of its predecessor. */
  objectName(key: string): string {
    return objectName(this.#spoke, key);
  }

  #labelled(manifest: KubeObject): KubeObject {
    const { metadata } = manifest;
    return { ...manifest, metadata: { ...metadata, labels: { ...metadata.labels, [labelKeys.cluster]: this.#spoke } } };
  }
}

/** An existing object as something to want: its specification, without what the API server and controllers added. */
function kept({ apiVersion, kind, metadata, spec, data }: KubeObject): KubeObject {
  const labels = Object.entries(metadata.labels ?? {}).filter(([name]) => !name.startsWith("crossplane.io/"));
  const annotation = metadata.annotations?.[externalNameAnnotation];
  return {
    apiVersion,
    kind,
    metadata: {
      name: metadata.name,
      labels: Object.fromEntries(labels),
      ...(annotation === undefined ? {} : { annotations: { [externalNameAnnotation]: annotation } }),
    },
    ...(spec === undefined ? {} : { spec }),
    ...(data === undefined ? {} : { data }),
  };
}
