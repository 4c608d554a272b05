import type { Spoke } from "../../functions/spoke/api.ts";
import { failureOf } from "../../functions/spoke/failures.ts";
import { condition, type KubeObject } from "../../functions/spoke/kube.ts";
import { isHealthy } from "../../functions/spoke/observed.ts";
import { isPlatformNamespace, namespaces } from "../../lib/names.ts";
import { compare } from "../../lib/version.ts";

/** What a person on call wants to know of each spoke. */

/** Flux's objects on a spoke; why they could not be read; nothing for a spoke that was not asked. */
export interface Look {
  readonly objects?: readonly KubeObject[];
  readonly unreached?: string;
}

/** One spoke, as `-o json` and `-o yaml` write it. */
export interface Row {
  readonly name: string;
  readonly environment: string;
  readonly tenant: string;
  readonly ring: string | undefined;
  /** The oldest minor that the control plane or the nodes run; undefined before there is one. */
  readonly kubernetesVersion: string | undefined;
  /** The minor that it is being upgraded to. */
  readonly nextVersion: string | undefined;
  /** Undefined where the spoke was not asked, or not reached. */
  readonly applications: { readonly ready: number; readonly total: number } | undefined;
  readonly isReady: boolean;
  readonly phase: string | undefined;
  readonly created: string | undefined;
  readonly message: string | undefined;
  /** Why the spoke itself could not be asked. */
  readonly unreached: string | undefined;
  /** Whether nobody has to do anything about it. */
  readonly isWell: boolean;
}

/** The Kustomization on a spoke that applies its folder of gitops-workloads: what it can't apply is no application yet. */
const isWorkloads = ({ kind, metadata }: KubeObject): boolean =>
  kind === "Kustomization" && metadata.namespace === namespaces.flux && metadata.name === "workloads";

/** The objects of Flux that bring a spoke's applications, by their namespaces: each application has one of its own (repos/gitops-workloads). */
export function applicationsOf(objects: readonly KubeObject[]): ReadonlyMap<string, readonly KubeObject[]> {
  const own = objects.filter(({ metadata: { namespace } }) => !isPlatformNamespace(namespace ?? ""));
  return Map.groupBy(own, ({ metadata: { namespace = "" } }) => namespace);
}

/** What Flux says of an object that is not healthy. */
export const saidOf = (object: KubeObject): string =>
  failureOf(object)?.message ??
  `${object.kind} ${object.metadata.name}: ${condition(object, "Ready")?.message ?? "not begun"}`;

/** The oldest version that runs, and the one that everything is to run, while that is another and the hub upgrades to it. */
function versionsOf(spoke: Spoke): Pick<Row, "kubernetesVersion" | "nextVersion"> {
  const { spec, status } = spoke;
  const running = [status?.kubernetesVersion, status?.nodesKubernetesVersion].filter((each) => each !== undefined);
  const [kubernetesVersion] = running.sort(compare);
  const isHeld = condition(spoke, "VersionCurrent")?.reason === "RolledBack";
  const isNext = !isHeld && kubernetesVersion !== undefined && compare(kubernetesVersion, spec.kubernetesVersion) < 0;
  return { kubernetesVersion, nextVersion: isNext ? spec.kubernetesVersion : undefined };
}

export function rowOf(spoke: Spoke, { objects, unreached }: Look): Row {
  const { metadata, spec, status } = spoke;
  const ready = condition(spoke, "Ready");
  const isReady = ready?.status === "True";
  const applications = [...applicationsOf(objects ?? []).values()];
  const broken = (objects ?? []).filter(
    (object) => (isWorkloads(object) || !isPlatformNamespace(object.metadata.namespace ?? "")) && !isHealthy(object),
  );
  const [first] = broken;
  const ofSpoke = status?.message ?? ready?.message;
  return {
    name: metadata.name,
    ...{ environment: spec.environment, tenant: spec.tenant, ring: spec.ring },
    ...versionsOf(spoke),
    applications:
      objects === undefined
        ? undefined
        : { ready: applications.filter((each) => each.every(isHealthy)).length, total: applications.length },
    isReady,
    phase: status?.phase,
    created: metadata.creationTimestamp,
    message: isReady && first !== undefined ? saidOf(first) : ofSpoke,
    unreached,
    isWell: isReady && unreached === undefined && broken.length === 0,
  };
}
