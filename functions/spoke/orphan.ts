import { releasesLabel, targetLabel } from "../../lib/labels.ts";
import { hubGroups, kubeconfigIdentity } from "../../lib/spoke.ts";
import type { Spoke } from "./api.ts";
import type { Group } from "./groups.ts";
import { deletionAttempt, managedKinds } from "./kinds.ts";
import { at, isReady, type KubeObject } from "./kube.ts";
import type { Observed } from "./observed.ts";
import { labelled, patchOf } from "./patches.ts";
import { resources } from "./resources.ts";

/** A Spoke that the fleet lets go (`spec.deletionPolicy: Orphan`): its removal leaves everything in AWS and on the cluster as it is. */

export const isOrphan = ({ spec }: Pick<Spoke, "spec">): boolean => spec.deletionPolicy === "Orphan";

/** Whether its protection has held back a deletion, which nobody meant for a Spoke that is let go later. */
export const wasHeld = ({ status }: Pick<Spoke, "status">): boolean =>
  status?.conditions?.some(({ type, reason }) => type === "Deleting" && reason === "Protected") === true;

/** Whether its deletion leaves everything, whatever spec says since: a part of it has left the hub already, so there is no way back. */
export const isLeaving = ({ metadata, status }: Spoke): boolean =>
  metadata.annotations?.[deletionAttempt] !== undefined && status?.deletionPolicy === "Orphan" && !wasHeld({ status });

/** Whether nothing of it may be deleted in AWS or on the cluster. */
export const isLetGo = (spoke: Spoke): boolean => isOrphan(spoke) || isLeaving(spoke);

/** What Crossplane may still do with a resource that outlives its object: everything but delete it. */
const withoutDelete = ["Observe", "Create", "Update", "LateInitialize"] as const;

/** Management policies of a resource whose unset fields stay unset (Crossplane documentation, "Managed Resources", managementPolicies). */
export const withoutLateInitialize = ["Observe", "Create", "Update", "Delete"] as const;

/**
 * A text that late initialization leaves as it is, and that requests nothing of a field that AWS fills in (terraform-plugin-sdk,
 * helper/schema/schema.go, finalizeDiff), for kinds whose ID only late initialization records.
 */
export const unset = "";

/** Whether Crossplane's AWS provider keeps it. */
export const isManaged = ({ apiVersion, kind }: KubeObject): boolean =>
  Object.entries(managedKinds).some(([known, version]) => known === kind && version === apiVersion);

const policiesOf = ({ spec }: KubeObject): readonly unknown[] | undefined => {
  const policies = at(spec, "managementPolicies");
  return Array.isArray(policies) ? policies : undefined;
};

/** Whether the resource in AWS stays when the object goes. */
export const isLeft = (object: KubeObject): boolean => {
  const policies = policiesOf(object);
  return policies !== undefined && !policies.includes("Delete") && !policies.includes("*");
};

/** Management policies of what Crossplane only looks at (Crossplane documentation, "Managed Resources", managementPolicies). */
export const onlyLook = ["Observe"] as const;

/** Whether Crossplane only looks at it, whatever becomes of its Spoke. */
export const isOnlyObserved = ({ spec }: KubeObject): boolean =>
  policiesOf({ spec } as KubeObject)?.join() === onlyLook.join();

/** Flux's rights to everything on the spoke go as soon as nothing needs them, also from a Spoke that is let go. */
export const outlives = (group: Group): boolean => group !== "hubAdmin";

const hubAdmins: ReadonlySet<string> = new Set(
  [kubeconfigIdentity, ...Object.keys(hubGroups)].map((identity) => resources.hubAdmin(identity).key),
);

/** The object with the management policies that fit the Spoke: without any, Crossplane deletes what it made. */
export function withPolicies(manifest: KubeObject, orphan: boolean): KubeObject {
  if (!isManaged(manifest) || isOnlyObserved(manifest) || (!orphan && !isLeft(manifest))) return manifest;
  const { managementPolicies: _, ...spec } = manifest.spec as Readonly<Record<string, unknown>>;
  const staysUnset = policiesOf(manifest)?.includes("LateInitialize") === false;
  if (!orphan)
    return { ...manifest, spec: { ...spec, ...(staysUnset && { managementPolicies: withoutLateInitialize }) } };
  const managementPolicies = withoutDelete.filter((action) => !staysUnset || action !== "LateInitialize");
  return { ...manifest, spec: { ...spec, managementPolicies } };
}

const policyPath = "/spec/deletionPolicy";

/**
 * Patches of the chain: what it applied stays when it goes. kustomize-controller has a policy for that; helm-controller uninstalls no
 * release that is suspended (reconcileDelete in internal/controller/helmrelease_controller.go).
 */
export const orphanPatches = (): object[] => [
  patchOf(labelled(targetLabel), { op: "add", path: policyPath, value: "Orphan" }),
];

/** The same for the HelmReleases that steps with {@link releasesLabel} make. */
export const suspendedReleases = (): object =>
  patchOf({ kind: "HelmRelease" }, { op: "add", path: "/spec/suspend", value: true });

/** Whether Flux has applied a chain that leaves the spoke as it is. */
function chainIsLeft(bootstrap: KubeObject | undefined): boolean {
  if (bootstrap === undefined) return true;
  const patches = at(bootstrap.spec, "patches");
  const isTold = Array.isArray(patches) && patches.some((patch) => String(at(patch, "patch")).includes(policyPath));
  return isTold && isReady(bootstrap);
}

/** Whether the Spoke may be deleted and nothing goes with it; the policies on admission wait for that. */
export function isLeftBehind(spoke: Spoke, observed: Observed): boolean {
  if (isLeaving(spoke)) return true;
  const managed = [...observed.objects].flatMap(([key, object]) =>
    isManaged(object) && !hubAdmins.has(key) ? [object] : [],
  );
  return isOrphan(spoke) && managed.every(isLeft) && chainIsLeft(observed.get(resources.bootstrap));
}
