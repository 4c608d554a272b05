/** A cluster in memory, and an AWS service with one kind of resource. */

import { callSettings } from "../../../aws/call-settings.ts";
import type { Aws } from "../../../aws/connection.ts";
import { type Fields, out } from "../../../aws/define/fields.ts";
import { type Handler, IncompleteError } from "../../../aws/handler.ts";
import type { Properties } from "../../../aws/properties.ts";
import type { Outcome } from "../../../crossplane/provider-aws/failure.ts";
import { crdName, type Kind } from "../../../crossplane/provider-aws/kind.ts";
import {
  ConflictError,
  type Objects,
  type ProviderConfig,
  type SecretData,
} from "../../../crossplane/provider-aws/kube.ts";
import type { Managed } from "../../../crossplane/provider-aws/managed.ts";
import { Reconciliation } from "../../../crossplane/provider-aws/reconciler.ts";

interface DeepPartial {
  readonly [key: string]: unknown;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** RFC 7386. */
function merge(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const result: Record<string, unknown> = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

/** The objects of a cluster, with the API server's rules that count here. */
export class FakeCluster {
  readonly store = new Map<string, Managed>();
  readonly secrets = new Map<string, SecretData>();
  /** What the program remembers of secret inputs. */
  readonly known = new Map<string, Properties>();
  readonly events: string[] = [];
  readonly usages: string[] = [];
  config: ProviderConfig | undefined = { spec: { credentials: { source: "IRSA" } } };
  #version = 1;
  #uid = 0;

  add(kind: Kind, name: string, spec: Partial<Managed["spec"]>, metadata: DeepPartial = {}): void {
    this.#uid += 1;
    this.#set(crdName(kind), {
      apiVersion: `${kind.group}.aws.m.upbound.io/v1beta1`,
      kind: kind.kind,
      metadata: {
        name,
        namespace: "spokes",
        uid: `uid-${this.#uid}`,
        resourceVersion: "0",
        generation: 1,
        ...metadata,
      },
      spec: {
        forProvider: {},
        managementPolicies: ["*"],
        providerConfigRef: { kind: "ClusterProviderConfig", name: "default" },
        ...spec,
      },
    });
  }

  get(kind: Kind, name: string): Managed | undefined {
    return this.store.get(`${crdName(kind)}/spokes/${name}`);
  }

  /** What a person or Crossplane does. */
  change(kind: Kind, name: string, patch: DeepPartial): void {
    const before = this.get(kind, name) as Managed;
    const after = merge(before, patch) as Managed;
    const generation =
      before.metadata.generation + (JSON.stringify(before.spec) === JSON.stringify(after.spec) ? 0 : 1);
    this.#set(crdName(kind), { ...after, metadata: { ...after.metadata, generation } });
  }

  delete(kind: Kind, name: string): void {
    const managed = this.get(kind, name) as Managed;
    if ((managed.metadata.finalizers ?? []).length === 0) this.store.delete(`${crdName(kind)}/spokes/${name}`);
    else this.change(kind, name, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
  }

  #set(crd: string, managed: Managed): Managed {
    this.#version += 1;
    const stored = { ...managed, metadata: { ...managed.metadata, resourceVersion: String(this.#version) } };
    this.store.set(`${crd}/${managed.metadata.namespace}/${managed.metadata.name}`, stored);
    return stored;
  }

  readonly objects: Objects = {
    get: async (crd, namespace, name) => this.store.get(`${crd}/${namespace}/${name}`),
    patch: async (crd, { metadata }, patch) => {
      const key = `${crd}/${metadata.namespace}/${metadata.name}`;
      const before = this.store.get(key);
      if (!before) throw new Error(`${key} not found`);
      const given = (patch as { metadata?: { resourceVersion?: string } }).metadata?.resourceVersion;
      if (given !== undefined && given !== before.metadata.resourceVersion) throw new ConflictError(`${key}: conflict`);
      const after = merge(before, patch) as Managed;
      if (after.metadata.deletionTimestamp && (after.metadata.finalizers ?? []).length === 0) {
        this.store.delete(key);
        return after;
      }
      const changed = JSON.stringify(before.spec) !== JSON.stringify(after.spec);
      const generation = before.metadata.generation + (changed ? 1 : 0);
      return this.#set(crd, { ...after, metadata: { ...after.metadata, generation } });
    },
    putStatus: async (crd, managed) => {
      const before = this.store.get(`${crd}/${managed.metadata.namespace}/${managed.metadata.name}`) as Managed;
      if (managed.metadata.resourceVersion !== before.metadata.resourceVersion) throw new ConflictError("conflict");
      return this.#set(crd, { ...before, ...(managed.status && { status: managed.status }) });
    },
    writeSecret: async (owner, name, data) => void this.secrets.set(`${owner.metadata.namespace}/${name}`, data),
    readSecret: async (namespace, name) => this.secrets.get(`${namespace}/${name}`),
    keepInSecret: async ({ metadata }, name, data) => {
      const key = `${metadata.namespace}/${name}`;
      this.secrets.set(key, { ...this.secrets.get(key), ...data });
    },
    providerConfig: async () => this.config,
    trackUsage: async ({ metadata }) => void this.usages.push(metadata.name),
    event: async ({ metadata }, type, reason) => void this.events.push(`${type} ${reason} ${metadata.name}`),
  };
}

interface Thing extends Properties {
  name: string;
}

/** A service whose resources are things; its calls can be made to fail. */
export class FakeService {
  readonly things = new Map<string, Thing & { status?: string }>();
  readonly calls: string[] = [];
  /** Errors by operation; thrown once each. */
  readonly failures = new Map<string, Error>();
  #next = 1;

  #call(name: string, id: string): void {
    this.calls.push(`${name} ${id}`);
    const failure = this.failures.get(name);
    this.failures.delete(name);
    if (failure) throw failure;
  }

  /** A handler whose ids are given by the service, or are the names. */
  handler(ids: "assigned" | "name", more: Partial<Handler> = {}): Handler {
    return {
      token: "test:index:Thing",
      ...(ids === "name" && { idOf: ({ name }) => name as string | undefined }),
      tagged: true,
      inputs: ["name", "size", "color", "owner", "options.a", "options.b", "items.key", "items.value"],
      computed: ["color"],
      replaceOn: ["owner"],
      defaults: { size: 1 },
      create: async (_aws, inputs) => {
        const id = ids === "name" ? String(inputs["name"]) : `thing-${this.#next++}`;
        this.#call("create", id);
        this.things.set(id, { ...inputs, name: String(inputs["name"]) });
        await callSettings().made?.(id);
        const failure = this.failures.get("wait");
        this.failures.delete("wait");
        if (failure) throw new IncompleteError(id, failure);
        return id;
      },
      read: async (_aws, id) => {
        this.#call("read", id);
        const thing = this.things.get(id);
        return thing ? { color: "grey", ...thing, arn: `arn:${id}` } : null;
      },
      update: async (_aws, id, { new: inputs }) => {
        this.#call("update", id);
        this.things.set(id, { ...this.things.get(id), ...inputs } as Thing);
      },
      delete: async (_aws, id) => {
        this.#call("delete", id);
        this.things.delete(id);
      },
      ...more,
    };
  }
}

export const things = (handler: Handler, more: Partial<Kind> = {}, outputs: Fields = {}): Kind => ({
  group: "test",
  kind: "Thing",
  handler,
  fields: {
    size: { type: "number" },
    color: {},
    owner: {},
    options: { type: { block: { a: {}, b: {} } } },
    items: { crd: "item", type: { blocks: { key: {}, value: {} } } },
    arn: out(),
    ...outputs,
  },
  ...more,
});

/** One pass of the reconciler over an object. */
export function pass(
  cluster: FakeCluster,
  kind: Kind,
  name: string,
  signal = new AbortController().signal,
): Promise<Outcome> {
  const aws = { region: "us-east-1", partition: "aws", accountId: async () => "111122223333" } as unknown as Aws;
  const reconciliation = new Reconciliation(kind, cluster.get(kind, name) as Managed, {
    objects: cluster.objects,
    connections: { connect: async () => aws },
    now: () => new Date(),
    secrets: cluster.known,
    signal,
  });
  return reconciliation.run();
}

/** Passes until the object is up to date or waits for something. */
export async function settle(cluster: FakeCluster, kind: Kind, name: string): Promise<Outcome> {
  for (let passes = 0; passes < 10; passes += 1) {
    if (!cluster.get(kind, name)) return "wait";
    const outcome = await pass(cluster, kind, name);
    if (outcome !== "again") return outcome;
  }
  throw new Error(`${name} does not settle`);
}

export function conditionsOf(cluster: FakeCluster, kind: Kind, name: string): Record<string, string> {
  const conditions = cluster.get(kind, name)?.status?.conditions ?? [];
  return Object.fromEntries(
    conditions.map(({ type, status, reason, message }) => [
      type,
      `${status} ${reason}${message ? `: ${message}` : ""}`,
    ]),
  );
}
