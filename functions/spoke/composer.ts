import { crossplaneAnnotations, labelKeys } from "../../lib/labels.ts";
import type { ProviderConfigRef } from "./api.ts";
import type { Fact, Origin } from "./facts.ts";
import type { Group } from "./groups.ts";
import { type ManagedKind, managedKinds } from "./kinds.ts";
import type { KubeObject } from "./kube.ts";
import type { Observed } from "./observed.ts";
import { outlives, withPolicies } from "./orphan.ts";
import type { Key, Resource } from "./resources.ts";

/** One composed resource that is wanted. */
export interface Entry {
  readonly group: Group;
  readonly manifest: KubeObject;
}

/** A resource that can't be made yet, and what it waits for. */
export interface Waiting {
  readonly group: Group;
  readonly missing: readonly Origin[];
}

/** Facts without which a resource can't be made, by name. */
type Needs = Readonly<Record<string, Fact<unknown>>>;
type Known<N extends Needs> = { readonly [Name in keyof N]: NonNullable<N[Name]["value"]> };

/** A managed resource: what is requested of AWS, and its name there where AWS lets the caller choose one. */
export interface ManagedSpec {
  readonly forProvider: object;
  /** Fields that count only when the resource is created; others may change them afterwards. */
  readonly initProvider?: object;
  readonly externalName?: string;
  /** What Crossplane may do with it. Default: everything. */
  readonly managementPolicies?: readonly string[];
  readonly writeConnectionSecretToRef?: { readonly name: string };
}

/** Name of the composed object `key` of the Spoke `spoke`. */
export function objectName(spoke: string, key: Key): string {
  return `${spoke}-${key}`;
}

export interface ComposerArgs {
  readonly observed: Observed;
  /** Name of the Spoke. */
  readonly spoke: string;
  readonly providerConfigRef: ProviderConfigRef;
  /** IDs in AWS of what is there already, by composition resource name. */
  readonly existing: ReadonlyMap<string, string>;
  /** Whether everything in AWS is to outlive the Spoke. */
  readonly orphan: boolean;
}

/** Collects the composed resources of one Spoke. */
export class Composer {
  /** By composition resource name. */
  readonly entries = new Map<string, Entry>();
  readonly waiting = new Map<string, Waiting>();
  readonly #observed: Observed;
  readonly #spoke: string;
  readonly #providerConfigRef: ProviderConfigRef;
  readonly #existing: ReadonlyMap<string, string>;
  readonly #orphan: boolean;

  constructor({ observed, spoke, providerConfigRef, existing, orphan }: ComposerArgs) {
    this.#observed = observed;
    this.#spoke = spoke;
    this.#providerConfigRef = providerConfigRef;
    this.#existing = existing;
    this.#orphan = orphan;
  }

  /**
   * Wants a managed resource as soon as every fact that it needs is known. Once it exists it stays wanted, as it is,
   * while a fact can't be read: not to see something for a moment is no reason to delete it.
   */
  managed<N extends Needs>(resource: Resource, kind: ManagedKind, needs: N, build: (known: Known<N>) => ManagedSpec) {
    this.object(resource, needs, (known) => {
      const { forProvider, initProvider, managementPolicies, writeConnectionSecretToRef, ...own } = build(known);
      const externalName = own.externalName ?? this.#existingName(resource);
      return {
        apiVersion: managedKinds[kind],
        kind,
        metadata: {
          name: this.objectName(resource),
          ...(externalName === undefined
            ? {}
            : { annotations: { [crossplaneAnnotations.externalName]: externalName } }),
        },
        spec: {
          forProvider,
          ...(initProvider === undefined ? {} : { initProvider }),
          ...(managementPolicies === undefined ? {} : { managementPolicies }),
          providerConfigRef: this.#providerConfigRef,
          ...(writeConnectionSecretToRef === undefined ? {} : { writeConnectionSecretToRef }),
        },
      };
    });
  }

  /** Wants an object of any kind, under the rule of {@link managed}. */
  object<N extends Needs>(resource: Resource, needs: N, build: (known: Known<N>) => KubeObject): void {
    const { group, key } = resource;
    const missing = Object.values(needs).filter(({ value }) => value === undefined);
    const known = () => Object.fromEntries(Object.entries(needs).map(([name, { value }]) => [name, value])) as Known<N>;
    const existing = this.#observed.get(resource);
    if (missing.length === 0) this.entries.set(key, { group, manifest: this.#labelled(group, build(known())) });
    else if (existing) this.keep(resource);
    else this.waiting.set(key, { group, missing: missing.map(({ from }) => from) });
  }

  /** Wants a resource as it is, where it exists. */
  keep(resource: Resource): void {
    const { group, key } = resource;
    const existing = this.#observed.get(resource);
    if (existing)
      this.entries.set(key, { group, manifest: this.#labelled(group, kept(existing, !this.#isMadeAnew(resource))) });
  }

  /** Wants a resource later and not as it is: what exists is removed first, to be made again. */
  waitFor({ group, key }: Resource, missing: Fact<unknown>): void {
    this.waiting.set(key, { group, missing: [missing.from] });
  }

  /** Name of the object in Kubernetes. It follows from the Spoke's, so a Spoke that is made again adopts nothing that is being deleted. */
  objectName({ key }: Resource): string {
    return objectName(this.#spoke, key);
  }

  /** The ID of what existed before. */
  #existingName(resource: Resource): string | undefined {
    const id = this.#existing.get(resource.key);
    if (id === undefined || this.#isMadeAnew(resource)) return undefined;
    return this.#observed.get(resource)?.metadata.annotations?.[crossplaneAnnotations.externalName] ?? id;
  }

  /**
   * Whether AWS did not have the ID any more. From then on the provider alone writes it: a reconciliation that has read the object before
   * would put the former one back, and the provider would make the resource once more.
   */
  #isMadeAnew(resource: Resource): boolean {
    const annotations = this.#observed.get(resource)?.metadata.annotations;
    return this.#existing.has(resource.key) && annotations?.[crossplaneAnnotations.createPending] !== undefined;
  }

  #labelled(group: Group, manifest: KubeObject): KubeObject {
    const { metadata } = manifest;
    const labels = { ...metadata.labels, [labelKeys.cluster]: this.#spoke };
    return withPolicies({ ...manifest, metadata: { ...metadata, labels } }, this.#orphan && outlives(group));
  }
}

/** An existing object as something to want: its specification, without what the API server and controllers added. */
function kept({ apiVersion, kind, metadata, spec, data }: KubeObject, withName: boolean): KubeObject {
  const labels = Object.entries(metadata.labels ?? {}).filter(([name]) => !name.startsWith("crossplane.io/"));
  const annotation = withName ? metadata.annotations?.[crossplaneAnnotations.externalName] : undefined;
  return {
    apiVersion,
    kind,
    metadata: {
      name: metadata.name,
      labels: Object.fromEntries(labels),
      ...(annotation === undefined ? {} : { annotations: { [crossplaneAnnotations.externalName]: annotation } }),
    },
    ...(spec === undefined ? {} : { spec }),
    ...(data === undefined ? {} : { data }),
  };
}
