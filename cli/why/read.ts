import type { Spoke } from "../../functions/spoke/api.ts";
import { chainKinds, managedKinds, pluralOf } from "../../functions/spoke/kinds.ts";
import type { KubeObject } from "../../functions/spoke/kube.ts";
import { isHealthy } from "../../functions/spoke/observed.ts";
import { spokeSync } from "../../lib/layout.ts";
import { namespaces, type Repository } from "../../lib/names.ts";
import { type Api, type Kind, kindsOf, listed } from "../kubernetes/api.ts";
import { objectsOf } from "../kubernetes/spokes.ts";
import { actsOn, appliedBy, type Node, workloadNamespaces } from "./paths.ts";
import { type Trouble, troublesOf } from "./pods.ts";

/** What the hub and a spoke have to say about the spoke. Of Secrets nothing is read. */

const sourceKinds = { GitRepository: "source.toolkit.fluxcd.io/v1" };

const warnings = (api: Api, namespace: string) =>
  api.list({ apiVersion: "v1", plural: "events", namespace }, { fieldSelector: "type=Warning" });

export interface Told {
  readonly nodes: readonly Node[];
  /** Warnings. */
  readonly events: readonly KubeObject[];
}

/** What the hub has of a spoke: what it is made of, its chain, and what applies its folder. */
export async function readHub(hub: Api, { metadata: { name } }: Spoke): Promise<Told> {
  const inFlux = (kind: Kind): Kind => ({ ...kind, namespace: namespaces.flux });
  const [sync = { apiVersion: "", plural: "" }] = kindsOf({ Kustomization: chainKinds.Kustomization });
  const [objects, sources, folder, events] = await Promise.all([
    objectsOf(hub, name, { ...managedKinds, ...chainKinds }),
    Promise.all(kindsOf(sourceKinds).map((kind) => listed(hub, inFlux(kind)))),
    hub.find(inFlux(sync), spokeSync(name)),
    warnings(hub, namespaces.spokes),
  ]);
  const all = [...objects, ...(folder === undefined ? [] : [folder])];
  // The hub's sources serve others too: one counts where something of the spoke takes it, by way of an artifact or not.
  const broken = sources.flat().filter((source) => !isHealthy(source) && all.some((object) => takes(object, source)));
  return { nodes: [...all, ...broken].map((object) => ({ side: "hub", object })), events };
}

/** The GitRepository that every artifact on the hub is cut from (platform/hub/artifacts.yaml). */
const cut: Repository = "gitops-system";

const takes = ({ spec }: KubeObject, { kind, metadata }: KubeObject): boolean => {
  const { sourceRef } = (spec ?? {}) as { sourceRef?: { kind?: string; name?: string } };
  if (sourceRef?.kind === "ExternalArtifact") return kind === "GitRepository" && metadata.name === cut;
  return sourceRef?.kind === kind && sourceRef.name === metadata.name;
};

/** What a spoke's own Flux has. */
export async function readSpoke(spoke: Api): Promise<Node[]> {
  const kinds = kindsOf({ ...chainKinds, ...sourceKinds });
  const objects = await Promise.all(kinds.map((kind) => listed(spoke, kind)));
  return objects.flat().map((object) => ({ side: "spoke", object }));
}

/** What is under an object of Flux that hinders. */
export interface Details {
  readonly objects: readonly KubeObject[];
  readonly troubles: readonly (Trouble & { readonly log: string })[];
  readonly events: readonly KubeObject[];
}

/** Groups of kinds that say by conditions why they fail: what is ordered in AWS, and what becomes a Secret. */
const speaking = /(\.upbound\.io|^bitnami\.com|^external-secrets\.io)\//;

/** Objects of one Kustomization, and pods with a log, that are looked at. */
const MOST_OBJECTS = 50;
const MOST_LOGS = 3;

/** @param spoke undefined where it was not reached */
export async function readDetails(spoke: Api | undefined, node: Node): Promise<Details> {
  if (spoke === undefined || actsOn(node) !== "spoke") return { objects: [], troubles: [], events: [] };
  const applied = appliedBy(node.object).filter(({ apiVersion }) => speaking.test(apiVersion));
  const [objects, inNamespaces] = await Promise.all([
    Promise.all(
      applied
        .slice(0, MOST_OBJECTS)
        .map(({ apiVersion, kind, namespace, name }) =>
          spoke.find({ apiVersion, plural: pluralOf(kind), namespace }, name),
        ),
    ),
    Promise.all(
      workloadNamespaces(node.object).map((namespace) =>
        Promise.all([spoke.list({ apiVersion: "v1", plural: "pods", namespace }), warnings(spoke, namespace)]),
      ),
    ),
  ]);
  const troubles = troublesOf(inNamespaces.flatMap(([pods]) => pods)).slice(0, MOST_LOGS);
  const withLogs = troubles.map(async (trouble) => ({ ...trouble, log: await logOf(spoke, trouble) }));
  return {
    objects: objects.filter((object) => object !== undefined),
    troubles: await Promise.all(withLogs),
    events: inNamespaces.flatMap(([, events]) => events),
  };
}

async function logOf(spoke: Api, { pod, container, hasEnded }: Trouble): Promise<string> {
  const { namespace = "", name } = pod.metadata;
  return container === undefined ? "" : spoke.log({ namespace, pod: name, container, previous: hasEnded });
}
