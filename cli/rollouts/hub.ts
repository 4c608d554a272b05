import { ApiException, CoreV1Api, type CoreV1Event, CustomObjectsApi, KubeConfig } from "@kubernetes/client-node";
import { at, type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import { hubFolder } from "../../lib/layout.ts";
import { hubName, namespaces, type Repository } from "../../lib/names.ts";
import { ringComposition, ringLabel } from "../../lib/rings.ts";
import { spokeApi } from "../../lib/spoke.ts";
import { UsageError } from "../usage.ts";
import { compositionLabel, frozen, type Hub, type Identity, ringState, spokeState } from "./state.ts";

/** The hub's API server, of which only what concerns rings is read. */
export interface HubApi {
  readonly identity: () => Promise<Identity>;
  readonly read: (rings: readonly string[]) => Promise<Hub>;
  /** Writes an event, unless there is one of its name. */
  readonly tell: (event: CoreV1Event) => Promise<void>;
}

interface Kind {
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespace?: string;
}

const { flux } = namespaces;
/** GitRepository of the hub's branch (components/flux-sync.ts). */
const systemSource: Repository = "gitops-system";
const kinds = {
  revisions: { apiVersion: "apiextensions.crossplane.io/v1", plural: "compositionrevisions" },
  syncs: { apiVersion: "kustomize.toolkit.fluxcd.io/v1", plural: "kustomizations", namespace: flux },
  sources: { apiVersion: "source.toolkit.fluxcd.io/v1", plural: "gitrepositories", namespace: flux },
  functions: { apiVersion: "pkg.crossplane.io/v1", plural: "functions" },
  deployments: { apiVersion: "apps/v1", plural: "deployments", namespace: namespaces.crossplane },
} as const satisfies Record<string, Kind>;

/** Objects in one answer: a Spoke has some kilobytes. */
const PAGE = 250;

interface Page {
  readonly items: readonly KubeObject[];
  readonly metadata?: { readonly continue?: string };
}

/** The message of an answer of the API server, or of whatever answers in its place. */
function messageOf(body: unknown): string {
  if (typeof body !== "string") return "";
  try {
    return String(at(JSON.parse(body), "message"));
  } catch {
    return body.slice(0, 300);
  }
}

/** What a person can do about an error of the API server, whose own text has all headers of its answer. */
function explained(what: string, context: string, error: unknown): Error {
  const failed = (why: string, remedy: string) =>
    new Error(`the context ${context} can't ${what}: ${why}. ${remedy}`, { cause: error });
  const other = "Is this the context of the hub? --context NAME chooses another";
  if (!(error instanceof ApiException)) {
    const { message, cause } = error as Error;
    return failed(cause instanceof Error ? cause.message : message, other);
  }
  const isForbidden = error.code === 403;
  return failed(
    `${error.code} ${messageOf(error.body)}`.trim(),
    isForbidden ? "docs/guides/rings.md has the rights that it takes" : other,
  );
}

/** The server of a client that found no kubeconfig. */
const nowhere = "http://localhost:8080";

/** The kubeconfig's cluster. @throws UsageError when there is no kubeconfig, or it has no such context. */
function kubeConfig(context: string | undefined): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (error) {
    throw new UsageError(`the kubeconfig can't be read: ${(error as Error).message}. KUBECONFIG names another`, {
      cause: error,
    });
  }
  if (config.getCurrentCluster()?.server === nowhere)
    throw new UsageError(
      "there is no kubeconfig: make one with aws eks update-kubeconfig, or name it in KUBECONFIG. In a pod its service account serves",
    );
  const known = config.getContexts().map(({ name }) => name);
  if (context !== undefined && !known.includes(context))
    throw new UsageError(
      `the kubeconfig has no context ${context}; it has ${known.join(", ") || "none"}. Name one of them`,
    );
  if (context !== undefined) config.setCurrentContext(context);
  if (config.getCurrentCluster() === null)
    throw new UsageError(
      `the kubeconfig has no current context; it has ${known.join(", ") || "none"}. Name the hub's with --context NAME`,
    );
  return config;
}

/** The API server of a context of the kubeconfig, by default of the current one. */
export function connect(context: string | undefined): HubApi {
  const config = kubeConfig(context);
  const name = config.getCurrentContext();
  const objects = config.makeApiClient(CustomObjectsApi);
  const core = config.makeApiClient(CoreV1Api);

  async function list({ apiVersion, plural, namespace }: Kind, labelSelector?: string): Promise<KubeObject[]> {
    const [group = "", version = ""] = apiVersion.split("/");
    const kind = { group, version, plural, limit: PAGE, ...(labelSelector === undefined ? {} : { labelSelector }) };
    const found: KubeObject[] = [];
    let _continue = "";
    do {
      const request = { ...kind, ...(_continue === "" ? {} : { _continue }) };
      try {
        const answer: Page = await (namespace === undefined
          ? objects.listClusterCustomObject(request)
          : objects.listNamespacedCustomObject({ ...request, namespace }));
        found.push(...answer.items);
        _continue = answer.metadata?.continue ?? "";
      } catch (error) {
        throw explained(`list ${plural}.${group}`, name, error);
      }
    } while (_continue !== "");
    return found;
  }

  async function find({ apiVersion, plural, namespace }: Kind, object: string): Promise<KubeObject | undefined> {
    const [group = "", version = ""] = apiVersion.split("/");
    const request = { group, version, plural, name: object };
    try {
      return await (namespace === undefined
        ? objects.getClusterCustomObject(request)
        : objects.getNamespacedCustomObject({ ...request, namespace }));
    } catch (error) {
      if (error instanceof ApiException && error.code === 404) return undefined;
      throw explained(`get ${plural}.${group} ${object}`, name, error);
    }
  }

  return {
    async identity() {
      const [sync, source] = await Promise.all([find(kinds.syncs, hubName), find(kinds.sources, systemSource)]);
      const [, fleet] = new RegExp(`^(?:\\./)?${hubFolder("([^/]+)")}/?$`).exec(textAt(sync?.spec, "path") ?? "") ?? [];
      const branch = textAt(source?.spec, "ref", "branch");
      if (fleet !== undefined && branch !== undefined) return { fleet, branch };
      throw new UsageError(
        `the context ${name} is not that of a hub: its Kustomization ${flux}/${hubName} must apply ${hubFolder("<fleet>")} ` +
          `of a branch that its GitRepository ${systemSource} follows. --context NAME chooses another`,
      );
    },
    async read(rings) {
      const names = rings.map(ringComposition).join(", ");
      const [spokes, revisions, syncs, sources, crossplane, composer] = await Promise.all([
        list(spokeApi),
        list(kinds.revisions, `${compositionLabel} in (${names})`),
        list(kinds.syncs, ringLabel),
        list(kinds.sources, ringLabel),
        find(kinds.deployments, "crossplane"),
        find(kinds.functions, "function-spoke"),
      ]);
      // A Spoke that is being removed takes nothing any more.
      const following = spokes.filter(
        ({ spec, metadata }) => textAt(spec, "ring") !== undefined && metadata.deletionTimestamp === undefined,
      );
      return {
        frozen: frozen(crossplane, composer),
        spokes: following.map(spokeState),
        rings: new Map(rings.map((ring) => [ring, ringState(ring, { revisions, syncs, sources })])),
      };
    },
    async tell(event) {
      try {
        await core.createNamespacedEvent({ namespace: namespaces.flux, body: event });
      } catch (error) {
        if (error instanceof ApiException && error.code === 409) return;
        throw explained("write an event", name, error);
      }
    },
  };
}
