import { ApiException, CoreV1Api, type CoreV1Event } from "@kubernetes/client-node";
import { type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import { hubFolder } from "../../lib/layout.ts";
import { hubName, namespaces, type Repository } from "../../lib/names.ts";
import { ringComposition, ringLabel } from "../../lib/rings.ts";
import { spokeApi } from "../../lib/spoke.ts";
import { apiOf, explained, hubPlace, type Kind } from "../kubernetes/api.ts";
import { kubeConfig } from "../kubernetes/config.ts";
import { UsageError } from "../usage.ts";
import { compositionLabel, frozen, type Hub, type Identity, ringState, spokeState } from "./state.ts";

/** The hub's API server, of which only what concerns rings is read. */
export interface HubApi {
  readonly identity: () => Promise<Identity>;
  readonly read: (rings: readonly string[]) => Promise<Hub>;
  /** Writes an event, unless there is one of its name. */
  readonly tell: (event: CoreV1Event) => Promise<void>;
}

const { flux } = namespaces;
/** GitRepository of the hub's branch (components/flux-sync.ts). */
const systemSource: Repository = "gitops-system";
/** What rings are on the hub, and what keeps their Spokes' status true. */
export const kinds = {
  revisions: { apiVersion: "apiextensions.crossplane.io/v1", plural: "compositionrevisions" },
  syncs: { apiVersion: "kustomize.toolkit.fluxcd.io/v1", plural: "kustomizations", namespace: flux },
  sources: { apiVersion: "source.toolkit.fluxcd.io/v1", plural: "gitrepositories", namespace: flux },
  functions: { apiVersion: "pkg.crossplane.io/v1", plural: "functions" },
  deployments: { apiVersion: "apps/v1", plural: "deployments", namespace: namespaces.crossplane },
} as const satisfies Record<string, Kind>;

/** The fleet whose folder the hub's Kustomization applies; undefined where it is none of a hub. */
export const fleetOf = (sync: KubeObject | undefined): string | undefined =>
  new RegExp(`^(?:\\./)?${hubFolder("([^/]+)")}/?$`).exec(textAt(sync?.spec, "path") ?? "")?.[1];

/** The API server of a context of the kubeconfig, by default of the current one. */
export function connect(context: string | undefined): HubApi {
  const config = kubeConfig(context);
  const place = hubPlace(config, "docs/guides/environments.md#rings has the rights that it takes");
  const { list, find } = apiOf(config, place);
  const core = config.makeApiClient(CoreV1Api);

  return {
    async identity() {
      const [sync, source] = await Promise.all([find(kinds.syncs, hubName), find(kinds.sources, systemSource)]);
      const fleet = fleetOf(sync);
      const branch = textAt(source?.spec, "ref", "branch");
      if (fleet !== undefined && branch !== undefined) return { fleet, branch };
      throw new UsageError(
        `${place.name} is not that of a hub: its Kustomization ${flux}/${hubName} must apply ${hubFolder("<fleet>")} ` +
          `of a branch that its GitRepository ${systemSource} follows. --context NAME chooses another`,
      );
    },
    async read(rings) {
      const names = rings.map(ringComposition).join(", ");
      const [spokes, revisions, syncs, sources, crossplane, composer] = await Promise.all([
        list(spokeApi),
        list(kinds.revisions, { labelSelector: `${compositionLabel} in (${names})` }),
        list(kinds.syncs, { labelSelector: ringLabel }),
        list(kinds.sources, { labelSelector: ringLabel }),
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
        throw explained("write an event", place, error);
      }
    },
  };
}
