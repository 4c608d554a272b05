import { nodeTemplate } from "../../../lib/eks-baseline.ts";
import { crossplaneAnnotations } from "../../../lib/labels.ts";
import { compareReleases } from "../../../lib/node-releases.ts";
import { type AskedGroup, firstGroup, isBottlerocket, nodesTag } from "../asked-groups.ts";
import type { Context } from "../context.ts";
import { fact } from "../facts.ts";
import { at, type KubeObject } from "../kube.ts";
import { isMadeElsewhere } from "../made-elsewhere.ts";
import {
  anyToStayOpen,
  leavingTemplates,
  type NodeGroup,
  type NodeGroups,
  nodeGroupOf,
  nodeGroups,
  presentTaints,
  templateOf,
} from "../node-groups.ts";
import { addonVersions, runningVersion } from "../plan.ts";
import { eksAddonsOf } from "../pod-identity.ts";
import { type Resource, resources } from "../resources.ts";
import { volumeKeyOf } from "../volume-key.ts";
import { controlPlaneFacts } from "./control-plane.ts";
import { nodesReachAws } from "./endpoints.ts";
import { isDeleting } from "./guard.ts";
import { nodeRoutes, nodeSubnetIds } from "./network.ts";
import { nodeRole } from "./node-role.ts";
import { composeRole, type RoleArgs, roleResources } from "./roles.ts";

function launchTemplate(context: Context, { name, amiType, diskSize }: AskedGroup): void {
  const { composer, names, spoke, tags } = context;
  const { region } = spoke.spec;
  const isFirst = name === firstGroup;
  const own = tags(nodesTag(name));
  composer.managed(templateOf(name), "LaunchTemplate", {}, () => ({
    forProvider: {
      region,
      name: isFirst ? names.nodeGroup : names.furtherTemplate(name),
      ...nodeTemplate(diskSize, volumeKeyOf(context), isBottlerocket(amiType)),
      // The boundary of the node's role recognizes its resources by these tags.
      tagSpecifications: ["instance", "network-interface", "volume"].map((resourceType) => ({
        resourceType,
        tags: own,
      })),
      tags: own,
    },
  }));
}

/** Whether every EKS add-on runs the version for `kubernetesVersion`; those without a version in the table count as done. */
function addonsFollow(context: Context, kubernetesVersion: string): boolean {
  const { observed, settings, spoke } = context;
  const wanted = addonVersions(spoke.spec, settings, kubernetesVersion);
  return eksAddonsOf(context).every((addon) => {
    const running = observed.text(resources.addon(addon), "addonVersion");
    return wanted[addon] === undefined || running === wanted[addon];
  });
}

/** Nodes follow the version that the control plane runs, after the add-ons: a node is never ahead of either. */
export function nodesVersion(context: Context, { serving }: NodeGroup): string | undefined {
  const running = runningVersion(context.observed);
  if (isMadeElsewhere(context.spoke)) return running;
  const current = at(context.observed.get(serving)?.spec, "forProvider", "version");
  if (typeof current !== "string" || running === undefined || addonsFollow(context, running)) return running;
  return current;
}

/**
 * The AMI release that the Composition names for this Kubernetes version. Undefined where it names none, or one that is older than what
 * runs: EKS rejects an older one ("You cannot roll back a node group", UpdateNodegroupVersion), and takes the newest release by itself
 * when the launch template changes. Undefined, too, where something else makes the nodes.
 */
export function nodesRelease(
  context: Context,
  { asked: { amiType }, wanted: { group }, former }: NodeGroup,
  kubernetesVersion: string | undefined,
): string | undefined {
  const { observed, settings, spoke } = context;
  if (isMadeElsewhere(spoke)) return undefined;
  const named = settings.kubernetesVersions[kubernetesVersion ?? ""]?.nodes?.[amiType];
  const running = observed.text(group, "releaseVersion");
  // Releases of Amazon Linux begin with the version of Kubernetes.
  const isComparable = isBottlerocket(amiType) || running?.startsWith(`${kubernetesVersion}.`);
  const isNewer =
    isComparable && running !== undefined && named !== undefined && compareReleases(amiType, running, named) > 0;
  // Of nodes that exist before the hub knows them, the release is not known yet, and may be newer.
  const isUnseen = running === undefined && spoke.spec.existing !== undefined && former.length === 0;
  return isNewer || isUnseen ? undefined : named;
}

/**
 * `desired` counts when the group is made; from then on it is an autoscaler's, within the limits. EKS refuses limits that don't hold
 * the number of nodes (UpdateNodegroupConfig), so a group outside the limits gets the nearer one first.
 */
function scaling(
  { observed }: Context,
  { asked: { min, desired, max }, wanted, former }: NodeGroup,
): { readonly scalingConfig: object; readonly initProvider: object } {
  const size = (group: Resource) => observed.number(group, "scalingConfig", "desiredSize");
  const nodes = size(wanted.group) ?? min;
  const outside = nodes < min || nodes > max;
  // A group that replaces another one begins with as many nodes as that one has at present.
  const initial = Math.min(Math.max(desired, ...former.map((group) => size(group) ?? 0)), max);
  return {
    scalingConfig: {
      minSize: min,
      maxSize: max,
      ...(outside ? { desiredSize: Math.min(Math.max(nodes, min), max) } : {}),
    },
    initProvider: { scalingConfig: { desiredSize: initial } },
  };
}

const effects = { NoSchedule: "NO_SCHEDULE", PreferNoSchedule: "PREFER_NO_SCHEDULE", NoExecute: "NO_EXECUTE" } as const;

/** Without taints an empty list: what is left out, the provider fills in from AWS, which still has the former ones (upjet, pkg/resource). */
const marks = (labels: AskedGroup["labels"], taints: AskedGroup["taints"]): object => ({
  ...(labels && { labels }),
  ...(taints && {
    taint: taints.map(({ key, value, effect }) => ({ key, ...(value && { value }), effect: effects[effect] })),
  }),
});

function nodeGroup(context: Context, group: NodeGroup, groups: readonly NodeGroup[], role: RoleArgs): void {
  const { composer, facts, names, spoke, tags } = context;
  const { asked, wanted } = group;
  const version = nodesVersion(context, group);
  const template = templateOf(asked.name);
  const needs = {
    controlPlane: controlPlaneFacts(context).endpoint,
    version: fact("controlPlane", version),
    subnetIds: nodeSubnetIds(context),
    wayOut: facts.ready(...nodeRoutes(context)),
    endpoints: nodesReachAws(context),
    nodeRoleArn: facts.text(resources.role("node"), "arn"),
    rolePolicies: facts.ready(...roleResources(role)),
    launchTemplate: facts.text(template, "id"),
    launchTemplateVersion: facts.number(template, "latestVersion"),
    // Without a pod network no node becomes ready.
    podNetwork: facts.present(resources.addon("vpc-cni")),
  };
  const { scalingConfig, initProvider } = scaling(context, group);
  const release = nodesRelease(context, group, version);
  composer.managed(wanted.group, "NodeGroup", needs, (known) => ({
    externalName: wanted.name,
    initProvider,
    forProvider: {
      region: spoke.spec.region,
      clusterName: names.cluster,
      version: known.version,
      ...(release === undefined ? {} : { releaseVersion: release }),
      nodeRoleArn: known.nodeRoleArn,
      subnetIds: known.subnetIds,
      instanceTypes: asked.instanceTypes,
      capacityType: asked.capacityType,
      amiType: asked.amiType,
      ...marks(asked.labels, presentTaints(context, group, groups)),
      scalingConfig,
      updateConfig: { maxUnavailable: 1 },
      launchTemplate: { id: known.launchTemplate, version: String(known.launchTemplateVersion) },
      tags: tags(),
    },
  }));
}

/** Keeps what the Spoke asked for before until others have taken its place, and each launch template until its group is gone. */
function keepFormer(context: Context, { groups, leaving }: NodeGroups): void {
  const { composer, labelled, observed, spoke } = context;
  const isTakenOver = anyToStayOpen(context, groups) && !isDeleting(spoke);
  const areReady = groups.filter(({ wanted }) => observed.ready(wanted.group));
  for (const group of groups)
    if (!isTakenOver || !areReady.includes(group)) for (const former of group.former) composer.keep(former);
  if (!isTakenOver || areReady.length < groups.length) for (const group of leaving) composer.keep(group);
  // Crossplane forgets a node group before it is gone.
  const keys = [...observed.objects.keys(), ...labelled.map(compositionName)];
  const left = new Set(keys.map((key) => nodeGroupOf(key ?? "")?.group));
  for (const { group, resource } of leavingTemplates(context))
    if (left.has(group) || isDeleting(spoke)) composer.keep(resource);
}

const compositionName = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[crossplaneAnnotations.resourceName];

/**
 * The nodes' role, and managed node groups in the subnets with a route to the internet: none with EKS Auto Mode. When a field changes that EKS
 * can't change, another group is made; the former goes when that one is ready, and EKS drains its nodes (EKS User Guide, "Delete a managed node group").
 */
export function composeNodes(context: Context): void {
  const all = nodeGroups(context);
  const role = nodeRole(context);
  composeRole(context, role);
  for (const { asked } of all.groups) launchTemplate(context, asked);
  keepFormer(context, all);
  for (const group of all.groups) nodeGroup(context, group, all.groups, role);
}
