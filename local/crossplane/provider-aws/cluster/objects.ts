/** The reconciler's objects in a real cluster. */
import { API_SUFFIX, type ConfigKind, configCrds, VERSION } from "../kind.ts";
import { ConflictError, type Objects, type ProviderConfig, type SecretData } from "../kube.ts";
import type { Managed } from "../managed.ts";
import { ApiError, type ClusterClient } from "./client.ts";
import { secretCache } from "./secret-cache.ts";

/** Path of the objects of a CRD by its name (`vpcs.ec2.aws.m.upbound.io`), of one namespace or of all. */
export function resourcePath(crd: string, namespace?: string, name?: string): string {
  const [plural, ...group] = crd.split(".");
  const scope = namespace === undefined ? "" : `/namespaces/${namespace}`;
  return `/apis/${group.join(".")}/${VERSION}${scope}/${plural}${name === undefined ? "" : `/${name}`}`;
}

const MERGE = "application/merge-patch+json";
const USAGES = `providerconfigusages.${API_SUFFIX}`;

const owner = (managed: Managed, more: object = {}) => ({
  apiVersion: managed.apiVersion,
  kind: managed.kind,
  name: managed.metadata.name,
  uid: managed.metadata.uid,
  ...more,
});

const encode = (data: SecretData): SecretData =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));

const decode = (data: SecretData): SecretData =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));

const CONFLICT = 409;

async function orConflict<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.status === CONFLICT)
      throw new ConflictError(error.message, { cause: error });
    throw error;
  }
}

interface SecretObject {
  readonly data?: SecretData;
  readonly metadata: { readonly ownerReferences?: readonly { readonly uid: string }[] };
}

/** @param component the provider's name, for events */
export function clusterObjects(client: Pick<ClusterClient, "call" | "find">, component: string): Objects {
  const secretPath = (namespace: string, name: string) => `/api/v1/namespaces/${namespace}/secrets/${name}`;
  const cached = secretCache(client);
  const findSecret = async (path: string) => {
    await cached();
    return client.find<SecretObject>({ path });
  };
  const tracked = new Set<string>();

  return {
    get: (crd, namespace, name) => client.find<Managed>({ path: resourcePath(crd, namespace, name) }),
    patch: (crd, { metadata }, body) =>
      orConflict(
        client.call<Managed>({
          method: "PATCH",
          path: resourcePath(crd, metadata.namespace, metadata.name),
          contentType: MERGE,
          body,
        }),
      ),
    putStatus: (crd, managed) => {
      const { namespace, name } = managed.metadata;
      const path = `${resourcePath(crd, namespace, name)}/status`;
      return orConflict(client.call<Managed>({ method: "PUT", path, body: managed }));
    },

    async writeSecret(managed, name, values) {
      const { namespace, uid } = managed.metadata;
      const path = secretPath(namespace, name);
      const data = encode(values);
      const found = await findSecret(path);
      if (!found) {
        const metadata = {
          name,
          namespace,
          ownerReferences: [owner(managed, { controller: true, blockOwnerDeletion: true })],
        };
        const body = { apiVersion: "v1", kind: "Secret", type: "connection.crossplane.io/v1alpha1", metadata, data };
        await client.call({ method: "POST", path: `/api/v1/namespaces/${namespace}/secrets`, body });
        return;
      }
      if (!found.metadata.ownerReferences?.some((reference) => reference.uid === uid))
        throw new Error(
          `the Secret ${namespace}/${name} belongs to something else: name another one in writeConnectionSecretToRef`,
        );
      const changed = Object.entries(data).some(([key, value]) => found.data?.[key] !== value);
      if (changed) await client.call({ method: "PATCH", path, contentType: MERGE, body: { data } });
    },

    async readSecret(namespace, name) {
      const found = await findSecret(secretPath(namespace, name));
      return found && decode(found.data ?? {});
    },

    async keepInSecret(managed, name, values) {
      const { namespace } = managed.metadata;
      const [path, data] = [secretPath(namespace, name), encode(values)];
      if (await findSecret(path)) {
        await client.call({ method: "PATCH", path, contentType: MERGE, body: { data } });
        return;
      }
      const metadata = { name, namespace, ownerReferences: [owner(managed)] };
      const body = { apiVersion: "v1", kind: "Secret", metadata, data };
      await client.call({ method: "POST", path: `/api/v1/namespaces/${namespace}/secrets`, body });
    },

    providerConfig: (kind, namespace, name) => {
      const crd = configCrds[kind as ConfigKind] as string | undefined;
      if (!crd)
        throw new Error(`spec.providerConfigRef.kind is ${kind}: allowed are ${Object.keys(configCrds).join(" and ")}`);
      const scope = kind === "ProviderConfig" ? namespace : undefined;
      return client.find<ProviderConfig>({ path: resourcePath(crd, scope, name) });
    },

    /** Usages go with the object that they belong to; their number keeps a ProviderConfig from being deleted. */
    async trackUsage(managed) {
      const { uid, namespace } = managed.metadata;
      const { providerConfigRef } = managed.spec;
      const key = `${uid} ${JSON.stringify(providerConfigRef)}`;
      if (tracked.has(key)) return;
      const body = {
        apiVersion: `${API_SUFFIX}/${VERSION}`,
        kind: "ProviderConfigUsage",
        metadata: {
          name: uid,
          namespace,
          labels: {
            "crossplane.io/provider-config": providerConfigRef.name,
            "crossplane.io/provider-config-kind": providerConfigRef.kind,
          },
          ownerReferences: [owner(managed, { controller: true, blockOwnerDeletion: true })],
        },
        providerConfigRef,
        resourceRef: owner(managed),
      };
      await client.call({
        method: "PATCH",
        path: resourcePath(USAGES, namespace, uid),
        query: { fieldManager: component, force: "true" },
        contentType: "application/apply-patch+yaml",
        body,
      });
      tracked.add(key);
    },

    async event(managed, type, reason, message) {
      const { namespace, name } = managed.metadata;
      const now = new Date().toISOString();
      const body = {
        apiVersion: "v1",
        kind: "Event",
        metadata: { generateName: `${name}.`, namespace },
        involvedObject: owner(managed, { namespace }),
        type,
        reason,
        message: message.slice(0, 1024),
        count: 1,
        firstTimestamp: now,
        lastTimestamp: now,
        source: { component },
        reportingComponent: component,
      };
      try {
        await client.call({ method: "POST", path: `/api/v1/namespaces/${namespace}/events`, body });
      } catch (error) {
        // An event is a courtesy; in a namespace that is being deleted none can be made.
        if (!(error instanceof ApiError)) throw error;
      }
    },
  };
}
