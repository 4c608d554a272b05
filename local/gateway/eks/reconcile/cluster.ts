import type { KubernetesObject } from "@kubernetes/client-node";
import { ACCESS_LABEL, namespacedAccessObjects, standingAccessObjects } from "../cluster-objects/access.ts";
import { IMAGE_CONFIG_CRD, imageConfigs } from "../cluster-objects/packages.ts";
import { RBAC_VERSION } from "../cluster-objects/rbac.ts";
import { podIdentityWebhook } from "../cluster-objects/webhook.ts";
import type { ClusterRecord } from "../model.ts";
import type { KubeApi } from "../runtime.ts";
import { endUpdates, runningUpdates, unknownError } from "../updates.ts";
import { addonObjects, addonsStep } from "./addons.ts";
import { autoNodesStep } from "./auto-nodes.ts";
import { autoSoftwareStep } from "./auto-software.ts";
import { type Again, type ReconcileContext, soonest } from "./context.ts";
import { networkPolicyStep } from "./network-policy.ts";
import { nodegroupsStep } from "./nodegroups.ts";
import { podIdentityAgentStep } from "./pod-identity-agent.ts";
import { selfManagedNodesStep } from "./self-managed-nodes.ts";

/** Failed starts after which a cluster is FAILED. */
const ATTEMPTS = 3;
/** How often namespaces are listed while some access policy is limited to namespaces. */
const NAMESPACE_POLL_MS = 5000;
/** How often a cluster with nodes is checked for Crossplane's CRDs. */
const CROSSPLANE_POLL_MS = 2000;

/**
 * Reconciles one cluster with its record. Every step is idempotent and reads the desired state from the record alone, so a
 * gateway that was killed at any point continues from there.
 */
export function reconciler(context: ReconcileContext): (name: string) => Promise<number | "wait"> {
  const known = new Map<string, { attempts: number; isRunning: boolean; hasPackages: boolean }>();
  const withNodes = { ...context, startedNodes: new Map(), failedStarts: new Map(), scalingGroups: new Map() };
  return async (name) => {
    const record = context.store.find(name);
    if (record === undefined || record.cluster.status === "DELETING") {
      if (record !== undefined) await removeCluster(context, record);
      known.delete(name);
      // Also when this failed in the last pass and the record is gone already.
      await context.keepEndpoints();
      return "wait";
    }
    if (record.cluster.status === "FAILED") return "wait";
    const state = known.get(name) ?? { attempts: 0, isRunning: false, hasPackages: false };
    known.set(name, state);
    if (record.cluster.status !== "ACTIVE" || !state.isRunning) {
      // What runs may be of another version than the record's until the start has succeeded.
      state.isRunning = false;
      state.attempts += 1;
      try {
        await ensureControlPlane(context, record);
      } catch (error) {
        await failedStart(context, name, state.attempts, error);
        throw error;
      }
      Object.assign(state, { attempts: 0, isRunning: true });
    }
    const kube = await context.clusters.of(name).kube();
    const access = await accessStep(context, name, kube);
    const nodes = await nodegroupsStep(withNodes, name, kube);
    await selfManagedNodesStep(withNodes, name);
    await autoSoftwareStep(withNodes, name, kube);
    const auto = await autoNodesStep(withNodes, name, kube);
    // Before the add-ons become ACTIVE.
    await networkPolicyStep(withNodes, name, kube);
    await podIdentityAgentStep(withNodes, name);
    const addons = await addonsStep(context, name, kube);
    // Without nodes no Crossplane can run.
    const { nodegroups, autoNodes } = context.store.get(name);
    const hasNodes = Object.keys(nodegroups).length > 0 || autoNodes.length > 0;
    state.hasPackages ||= hasNodes && (await packagesStep(kube));
    return (
      soonest([access, nodes, auto, addons, hasNodes && !state.hasPackages ? CROSSPLANE_POLL_MS : undefined]) ?? "wait"
    );
  };
}

/** Starts the control plane in the version of the record or of a running version update, and installs what belongs to it. */
async function ensureControlPlane(context: ReconcileContext, record: ClusterRecord): Promise<void> {
  const { name } = record.cluster;
  const version = targetVersion(record);
  const securityGroup = await context.aws.ensureClusterSecurityGroup(
    name,
    record.cluster.resourcesVpcConfig.vpcId ?? "",
  );
  const runtime = context.clusters.of(name);
  const keyArn = record.cluster.encryptionConfig?.[0]?.provider?.keyArn;
  const started = await runtime.startControlPlane({
    number: record.number,
    kubernetesVersion: version,
    issuer: record.cluster.identity.oidc?.issuer ?? "",
    ...(keyArn === undefined ? {} : { encryption: { keyArn } }),
  });
  // Before it becomes ACTIVE.
  await context.keepEndpoints();
  const kube = await runtime.kube();
  await kube.apply([...standingAccessObjects(), podIdentityWebhook(context.webhookUrl(name), context.caCertificate)]);
  for (const [addonName, values] of Object.entries(record.preserved))
    if (record.addons[addonName] === undefined)
      await kube.apply(addonObjects(context, record, { addonName, ...values }));
  await context.store.change(name, (stored) => {
    const { cluster } = stored;
    // Deleted meanwhile.
    if (cluster.status === "DELETING") return;
    cluster.status = "ACTIVE";
    cluster.version = version;
    cluster.endpoint = started.endpoint;
    cluster.certificateAuthority = { data: Buffer.from(started.certificateAuthority).toString("base64") };
    cluster.resourcesVpcConfig.clusterSecurityGroupId = securityGroup;
    cluster.health = { issues: [] };
    endUpdates(stored, {});
  });
}

function targetVersion(record: ClusterRecord): string {
  const update = runningUpdates(record).find((candidate) => candidate.type === "VersionUpdate");
  return update?.params.find((param) => param.type === "Version")?.value ?? record.cluster.version;
}

async function failedStart(context: ReconcileContext, name: string, attempt: number, error: unknown): Promise<void> {
  if (attempt < ATTEMPTS || context.store.find(name) === undefined) return;
  const message = (error as Error).message;
  await context.store.change(name, (record) => {
    if (record.cluster.status === "CREATING") record.cluster.status = "FAILED";
    // A failed update leaves the cluster as it was.
    if (record.cluster.status === "UPDATING") record.cluster.status = "ACTIVE";
    record.cluster.health = { issues: [{ code: "InternalFailure", message }] };
    endUpdates(record, {}, unknownError(message));
  });
}

async function removeCluster(context: ReconcileContext, record: ClusterRecord): Promise<void> {
  await context.clusters.of(record.cluster.name).stopControlPlane();
  const { vpcId } = record.cluster.resourcesVpcConfig;
  // Found by its tag: the record of a cluster that never became active does not have it.
  if (vpcId !== undefined) await context.aws.deleteClusterSecurityGroup(record.cluster.name, vpcId);
  await context.store.remove(record.cluster.name);
}

/** Reconciles the RoleBindings of access policies that are limited to namespaces. */
async function accessStep(context: ReconcileContext, name: string, kube: KubeApi): Promise<Again> {
  const record = context.store.get(name);
  const wanted = Object.values(record.accessEntries).some((entry) =>
    entry.policies.some((policy) => policy.accessScope.type === "namespace"),
  );
  const existing = await kube.list(RBAC_VERSION, "RoleBinding", ACCESS_LABEL);
  if (!wanted && existing.length === 0) return undefined;
  const namespaces = await kube.list("v1", "Namespace");
  const usable = namespaces.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  const objects = namespacedAccessObjects(
    record,
    usable.map(({ metadata }) => metadata?.name ?? ""),
  );
  const without = (some: readonly KubernetesObject[], others: readonly KubernetesObject[]) => {
    const keyOf = ({ metadata }: KubernetesObject) => `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
    const keys = new Set(others.map(keyOf));
    return some.filter((object) => !keys.has(keyOf(object)));
  };
  await kube.apply(without(objects, existing));
  const gone = without(existing, objects);
  await kube.remove(gone.map((object) => ({ ...object, apiVersion: RBAC_VERSION, kind: "RoleBinding" })));
  return wanted ? NAMESPACE_POLL_MS : undefined;
}

/** Tells Crossplane where its packages come from. False when Crossplane is not installed yet. */
async function packagesStep(kube: KubeApi): Promise<boolean> {
  const crd = await kube.find("apiextensions.k8s.io/v1", "CustomResourceDefinition", IMAGE_CONFIG_CRD);
  if (crd !== undefined) await kube.apply(imageConfigs());
  return crd !== undefined;
}
