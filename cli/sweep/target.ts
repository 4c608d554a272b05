import type { Spoke } from "../../functions/spoke/api.ts";
import { managedKinds } from "../../functions/spoke/kinds.ts";
import { type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import { isMadeElsewhere } from "../../functions/spoke/made-elsewhere.ts";
import { crossplaneAnnotations, labelKeys } from "../../lib/labels.ts";
import { fleetNames } from "../../lib/names.ts";
import { spokeApi, spokeNames } from "../../lib/spoke.ts";
import { type Api, type Kind, listed } from "../kubernetes/api.ts";
import { fleetOf } from "../spoke-account.ts";
import { UsageError } from "../usage.ts";

/** What is left of a spoke that is being removed, as the hub knows it. */
interface Target {
  readonly cluster: string;
  readonly region: string;
  /** ID of the VPC; undefined when it is gone. */
  readonly vpc: string | undefined;
  /** Whether the VPC is somebody else's, who has other things in it too. */
  readonly isShared: boolean;
  /** The account, where it is known. */
  readonly account: string | undefined;
  /** Who removes the VPC, and tries again. */
  readonly remover: "Crossplane" | "Cluster API";
}

/** Of the clusters that Cluster API makes from charts/eks-cluster. */
const controlPlaneKind: Kind = {
  apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
  plural: "awsmanagedcontrolplanes",
  namespace: "cluster-api-clusters",
};

async function ofSpoke(hub: Api, spoke: Spoke): Promise<Target> {
  const { name } = spoke.metadata;
  if (spoke.status?.phase !== "Deleting")
    throw new UsageError(
      `spoke ${name} is not being removed: its phase is ${spoke.status?.phase ?? "not known yet"}. fleet remove ${name} removes it`,
    );
  if (isMadeElsewhere(spoke))
    throw new UsageError(
      `Cluster API removes the VPC of spoke ${name} when the Spoke is gone, which it is not: kubectl -n spokes get spoke ${name} says what it waits for. Run this again then`,
    );
  const { objectsOf } = await import("../kubernetes/spokes.ts");
  const objects = await objectsOf(hub, name, managedKinds);
  const network = objects.find(({ kind }) => kind === "VPC");
  const { existing } = spoke.spec.network;
  // What the hub made says in which account, also of a Spoke that names none. A VPC of somebody else may be another account's.
  const arn = existing === undefined ? textAt(network?.status, "atProvider", "arn") : undefined;
  const made = arn ?? spoke.status.cluster?.arn;
  return {
    // The Spoke still knows it when the hub has nothing of it left that says so.
    cluster: spoke.status.cluster?.name ?? spokeNames(fleetNames(fleetOf(objects, name)).spokePrefix, name).cluster,
    region: spoke.spec.region,
    vpc: existing?.vpcId ?? network?.metadata.annotations?.[crossplaneAnnotations.externalName],
    isShared: existing !== undefined,
    account: made?.split(":")[4] ?? spoke.spec.account?.id,
    remover: "Crossplane",
  };
}

/** Of a cluster whose Spoke is gone, and which Cluster API still has. */
function ofControlPlane(spoke: string, { metadata, spec }: KubeObject): Target {
  if (metadata.deletionTimestamp === undefined)
    throw new UsageError(
      `spoke ${spoke} is gone, and Cluster API has not begun to remove its cluster: kubectl -n flux-system get helmreleases cluster-${spoke} says what Flux waits for`,
    );
  const [cluster, region] = [textAt(spec, "eksClusterName"), textAt(spec, "region")];
  if (cluster === undefined || region === undefined)
    throw new UsageError(
      `AWSManagedControlPlane ${metadata.name} has no ${cluster === undefined ? "spec.eksClusterName" : "spec.region"}: charts/eks-cluster gives both`,
    );
  const vpc = textAt(spec, "network", "vpc", "id");
  return { cluster, region, vpc, isShared: false, account: undefined, remover: "Cluster API" };
}

/** Where to look for what a spoke left behind. @throws UsageError where it is not its time, or the hub knows no such spoke */
export async function targetOf(hub: Api, name: string): Promise<Target> {
  const spoke = await hub.find(spokeApi, name);
  if (spoke !== undefined) return ofSpoke(hub, spoke as Spoke);
  const [plane] = await listed(hub, controlPlaneKind, { labelSelector: `${labelKeys.cluster}=${name}` });
  if (plane !== undefined) return ofControlPlane(name, plane);
  const { findSpoke } = await import("../kubernetes/spokes.ts");
  return ofSpoke(hub, await findSpoke(hub, name));
}
