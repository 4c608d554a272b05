import { nodeTemplate, nodeTrust } from "../../../lib/eks-baseline.ts";
import { managedPolicies } from "../../../lib/iam/deployer.ts";
import { eksAddons } from "../api.ts";
import type { Context } from "../context.ts";
import { fact } from "../facts.ts";
import { at } from "../kube.ts";
import { isMadeElsewhere } from "../made-elsewhere.ts";
import { nodeGroups } from "../node-groups.ts";
import { addonVersions, runningVersion } from "../plan.ts";
import { type Resource, resources } from "../resources.ts";
import { controlPlaneFacts } from "./control-plane.ts";
import { isDeleting } from "./guard.ts";
import { nodeRoutes, nodeSubnetIds } from "./network.ts";
import { composeRole, type RoleArgs, roleResources } from "./roles.ts";

function nodeRole({ names }: Context): RoleArgs {
  return {
    role: "node",
    roleName: names.nodeRole,
    description: `Nodes of ${names.cluster}`,
    trust: nodeTrust,
    managedPolicies: managedPolicies.node,
  };
}

function launchTemplate({ composer, names, spoke, tags }: Context): void {
  const { region, nodes } = spoke.spec;
  composer.managed(resources.launchTemplate, "LaunchTemplate", {}, () => ({
    forProvider: {
      region,
      name: names.nodeGroup,
      ...nodeTemplate(nodes.diskSize),
      // The boundary of the node's role recognizes its resources by these tags.
      tagSpecifications: ["instance", "network-interface", "volume"].map((resourceType) => ({
        resourceType,
        tags: tags("nodes"),
      })),
      tags: tags("nodes"),
    },
  }));
}

/** Whether every EKS add-on runs the version for `kubernetesVersion`; those without a version in the table count as done. */
function addonsFollow({ observed, settings, spoke }: Context, kubernetesVersion: string): boolean {
  const wanted = addonVersions(spoke.spec, settings, kubernetesVersion);
  return eksAddons.every((addon) => {
    const running = observed.text(resources.addon(addon), "addonVersion");
    return wanted[addon] === undefined || running === wanted[addon];
  });
}

/** Nodes follow the version that the control plane runs, after the add-ons: a node is never ahead of either. */
export function nodesVersion(context: Context): string | undefined {
  const running = runningVersion(context.observed);
  if (isMadeElsewhere(context.spoke)) return running;
  const { serving } = nodeGroups(context);
  const current = at(context.observed.get(serving)?.spec, "forProvider", "version");
  if (typeof current !== "string" || running === undefined || addonsFollow(context, running)) return running;
  return current;
}

/**
 * The AMI release that the Composition names for this Kubernetes version. Undefined where it names none, or one that is older than what
 * runs: EKS rolls nothing back ("You cannot roll back a node group", UpdateNodegroupVersion), and takes the newest release by itself
 * when the launch template changes. Undefined, too, where something else makes the nodes.
 */
export function nodesRelease(context: Context, kubernetesVersion: string | undefined): string | undefined {
  const { observed, settings, spoke } = context;
  if (isMadeElsewhere(spoke)) return undefined;
  const wanted = settings.kubernetesVersions[kubernetesVersion ?? ""]?.nodes?.[spoke.spec.nodes.amiType];
  const groups = nodeGroups(context);
  const running = observed.text(groups.wanted.group, "releaseVersion");
  const isNewer = running?.startsWith(`${kubernetesVersion}.`) && released(running) > released(wanted ?? "");
  // Of nodes that exist before the hub knows them, the release is not known yet, and may be newer.
  const isUnseen = running === undefined && spoke.spec.existing !== undefined && groups.former.length === 0;
  return isNewer || isUnseen ? undefined : wanted;
}

/** The day of a release. */
const released = (release: string): string => release.split("-").at(-1) ?? "";

/**
 * `desired` counts when the group is made; from then on it is an autoscaler's, within the limits. EKS refuses limits that don't hold
 * the number of nodes (UpdateNodegroupConfig), so a group outside the limits gets the nearer one first.
 */
function scaling(context: Context): { readonly scalingConfig: object; readonly initProvider: object } {
  const { min, desired, max } = context.spoke.spec.nodes;
  const { wanted, former } = nodeGroups(context);
  const size = (group: Resource) => context.observed.number(group, "scalingConfig", "desiredSize");
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

/**
 * One managed node group in the subnets with a route to the internet. When a field changes that EKS can't change, another group is made;
 * the former goes when that one is ready, and EKS drains its nodes (EKS User Guide, "Delete a managed node group").
 */
export function composeNodes(context: Context): void {
  const { composer, facts, names, observed, spoke, tags } = context;
  const { wanted, former } = nodeGroups(context);
  const { region, nodes } = spoke.spec;
  const role = nodeRole(context);
  composeRole(context, role);
  launchTemplate(context);
  const version = nodesVersion(context);
  const needs = {
    controlPlane: controlPlaneFacts(context).endpoint,
    version: fact("controlPlane", version),
    subnetIds: nodeSubnetIds(context),
    wayOut: facts.ready(...nodeRoutes(context)),
    nodeRoleArn: facts.text(resources.role("node"), "arn"),
    rolePolicies: facts.ready(...roleResources(role)),
    launchTemplate: facts.text(resources.launchTemplate, "id"),
    launchTemplateVersion: facts.number(resources.launchTemplate, "latestVersion"),
    // Without a pod network no node becomes ready.
    podNetwork: facts.present(resources.addon("vpc-cni")),
  };
  const { scalingConfig, initProvider } = scaling(context);
  const release = nodesRelease(context, version);
  if (!observed.ready(wanted.group) || isDeleting(spoke)) for (const group of former) composer.keep(group);
  composer.managed(wanted.group, "NodeGroup", needs, (known) => ({
    externalName: wanted.name,
    initProvider,
    forProvider: {
      region,
      clusterName: names.cluster,
      version: known.version,
      ...(release === undefined ? {} : { releaseVersion: release }),
      nodeRoleArn: known.nodeRoleArn,
      subnetIds: known.subnetIds,
      instanceTypes: nodes.instanceTypes,
      capacityType: nodes.capacityType,
      amiType: nodes.amiType,
      scalingConfig,
      updateConfig: { maxUnavailable: 1 },
      launchTemplate: { id: known.launchTemplate, version: String(known.launchTemplateVersion) },
      tags: tags(),
    },
  }));
}
