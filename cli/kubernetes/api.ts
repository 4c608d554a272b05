import {
  ApiException,
  CoreV1Api,
  CustomObjectsApi,
  type KubeConfig,
  PatchStrategy,
  setHeaderOptions,
} from "@kubernetes/client-node";
import { pluralOf } from "../../functions/spoke/kinds.ts";
import type { KubeObject } from "../../functions/spoke/kube.ts";
import { clientOf, everyItem, type Page, type PageRequest, reasonOf } from "../../lib/kube-client.ts";

/** Objects of an API server, as far as the commands need them. */
export interface Api {
  /** @throws with what a person can do about it. */
  readonly list: (kind: Kind, selectors?: Selectors) => Promise<KubeObject[]>;
  readonly find: (kind: Kind, name: string) => Promise<KubeObject | undefined>;
  /** Sets annotations of an object that nobody has changed since it was read; others stay. */
  readonly annotate: (
    kind: Kind,
    object: Pick<KubeObject["metadata"], "name" | "resourceVersion">,
    annotations: Readonly<Record<string, string>>,
  ) => Promise<void>;
  /** The last lines that a container wrote, or its predecessor; none where there is no log. */
  readonly log: (container: Container) => Promise<string>;
}

interface Container {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly previous: boolean;
}

export interface Kind {
  readonly apiVersion: string;
  readonly plural: string;
  /** Default: the whole cluster. */
  readonly namespace?: string;
}

interface Selectors {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** How an API server is called in messages, and what to do when it does not do what was asked. */
export interface Place {
  /** Such as `the context hub`. */
  readonly name: string;
  /** When it refuses for lack of rights. */
  readonly ifForbidden: string;
  readonly otherwise: string;
}

/** Lines of a log that are read. */
const LINES = 10;

/** What a person can do about an error of an API server. */
export function explained(what: string, { name, ifForbidden, otherwise }: Place, error: unknown): Error {
  const remedy = error instanceof ApiException && error.code === 403 ? ifForbidden : otherwise;
  return new Error(`${name} can't ${what}: ${reasonOf(error).replace(/\.$/, "")}. ${remedy}`, { cause: error });
}

/** The API server of a kubeconfig's current context. @param signal ends its requests */
export function apiOf(config: KubeConfig, place: Place, signal?: AbortSignal): Api {
  const objects = clientOf(CustomObjectsApi, config, signal);
  const core = clientOf(CoreV1Api, config, signal);

  /** Pods and events: the client serves no other kind of Kubernetes' own group by its name. */
  async function corePage(plural: string, namespace: string, more: PageRequest): Promise<Page<KubeObject>> {
    const request = { namespace, ...more };
    const { items, metadata } = await (plural === "pods"
      ? core.listNamespacedPod(request)
      : core.listNamespacedEvent(request));
    // As the API server wrote them: the client makes objects of times, and takes the kind away.
    const plain = JSON.parse(JSON.stringify(items)) as KubeObject[];
    const kind = plural === "pods" ? "Pod" : "Event";
    const rest = metadata?._continue;
    return { items: plain.map((item) => ({ ...item, kind })), ...(rest ? { metadata: { continue: rest } } : {}) };
  }

  function page({ apiVersion, plural, namespace }: Kind, more: PageRequest): Promise<Page<KubeObject>> {
    if (apiVersion === "v1") return corePage(plural, namespace ?? "default", more);
    const [group = "", version = ""] = apiVersion.split("/");
    const request = { group, version, plural, ...more };
    return namespace === undefined
      ? objects.listClusterCustomObject(request)
      : objects.listNamespacedCustomObject({ ...request, namespace });
  }

  return {
    async list(kind, selectors = {}) {
      try {
        return await everyItem((request) => page(kind, { ...selectors, ...request }));
      } catch (error) {
        const group = kind.apiVersion === "v1" ? "" : `.${kind.apiVersion.split("/")[0]}`;
        throw explained(`list ${kind.plural}${group}`, place, error);
      }
    },
    async find({ apiVersion, plural, namespace }, name) {
      const [group = "", version = ""] = apiVersion.split("/");
      const request = { group, version, plural, name };
      try {
        return await (namespace === undefined
          ? objects.getClusterCustomObject(request)
          : objects.getNamespacedCustomObject({ ...request, namespace }));
      } catch (error) {
        if (error instanceof ApiException && error.code === 404) return undefined;
        throw explained(`get ${plural}.${group} ${name}`, place, error);
      }
    },
    async annotate({ apiVersion, plural, namespace = "" }, { name, resourceVersion }, annotations) {
      const [group = "", version = ""] = apiVersion.split("/");
      const body = { metadata: { annotations, ...(resourceVersion !== undefined && { resourceVersion }) } };
      const request = { group, version, plural, namespace, name, body };
      try {
        await objects.patchNamespacedCustomObject(request, setHeaderOptions("Content-Type", PatchStrategy.MergePatch));
      } catch (error) {
        const isChanged = error instanceof ApiException && error.code === 409;
        const again = { ...place, otherwise: "Somebody changed it meanwhile: run this again" };
        throw explained(`patch ${plural}.${group} ${name}`, isChanged ? again : place, error);
      }
    },
    async log({ namespace, pod: name, container, previous }) {
      try {
        return await core.readNamespacedPodLog({ namespace, name, container, previous, tailLines: LINES });
      } catch (error) {
        // A container that has not started, or whose predecessor is forgotten.
        if (error instanceof ApiException && (error.code === 400 || error.code === 404)) return "";
        throw explained(`read the log of pod ${namespace}/${name}`, place, error);
      }
    },
  };
}

/** The context of a kubeconfig as the hub's. @param ifForbidden where its reader finds the rights that a command takes */
export const hubPlace = (config: KubeConfig, ifForbidden: string): Place => ({
  name: `the context ${config.getCurrentContext()}`,
  ifForbidden,
  otherwise: "Is this the context of the hub? --context NAME chooses another",
});

/** Kinds by name with their API versions, as they are asked for. */
export const kindsOf = (kinds: Readonly<Record<string, string>>): Kind[] =>
  Object.entries(kinds).map(([kind, apiVersion]) => ({ apiVersion, plural: pluralOf(kind) }));

/** What there is of a kind; nothing where nobody has installed it yet. */
export async function listed(api: Api, kind: Kind, selectors = {}): Promise<KubeObject[]> {
  try {
    return await api.list(kind, selectors);
  } catch (error) {
    if (((error as Error).cause as { code?: number } | undefined)?.code === 404) return [];
    throw error;
  }
}
