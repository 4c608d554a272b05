/** What the stand-in needs of the API server it runs in. */
import { ApiError, type ClusterClient } from "../crossplane/provider-aws/cluster/client.ts";
import { type Kind, pathOf } from "./kinds/kind.ts";
import type { AckObject } from "./object.ts";

export interface Cluster {
  get(kind: Kind, namespace: string, name: string): Promise<AckObject | undefined>;
  /** A merge patch of metadata and spec. Rejects with ApiError 409 when the object has changed since it was read. */
  patch(
    kind: Kind,
    object: AckObject,
    body: { readonly metadata?: object; readonly spec?: object },
  ): Promise<AckObject>;
  /** A merge patch of the status; of an object that is gone it does nothing. */
  patchStatus(kind: Kind, object: AckObject, status: object): Promise<AckObject>;
  annotationsOf(namespace: string): Promise<Readonly<Record<string, string>>>;
}

const contentType = "application/merge-patch+json";

export function clusterOf(client: ClusterClient): Cluster {
  return {
    get: (kind, namespace, name) => client.find<AckObject>({ path: pathOf(kind, namespace, name) }),
    patch: (kind, { metadata }, body) => {
      const { namespace, name, resourceVersion } = metadata;
      const locked = { ...body, metadata: { ...body.metadata, resourceVersion } };
      return client.call({ method: "PATCH", path: pathOf(kind, namespace, name), contentType, body: locked });
    },
    async patchStatus(kind, object, status) {
      const { namespace, name } = object.metadata;
      const path = `${pathOf(kind, namespace, name)}/status`;
      try {
        return await client.call<AckObject>({ method: "PATCH", path, contentType, body: { status } });
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return object;
        throw error;
      }
    },
    async annotationsOf(namespace) {
      const found = await client.call<{ metadata: { annotations?: Record<string, string> } }>({
        path: `/api/v1/namespaces/${namespace}`,
      });
      return found.metadata.annotations ?? {};
    },
  };
}
