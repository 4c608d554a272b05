import * as z from "zod";
import { inUse, invalidParameter } from "./errors.ts";
import type { ClusterRecord, Nodegroup, NodegroupRecord, Update } from "./model.ts";
import { expectNoRollBack, releaseOf } from "./node-releases.ts";
import {
  labels,
  launchTemplate,
  nodeRepairConfig,
  scalingConfig,
  scalingOf,
  taints,
  updateConfig,
} from "./nodegroup-config.ts";
import { expectRoom, nodegroups } from "./nodegroups.ts";
import { clientRequestToken, type EksContext, type Operation, type Request, structure, texts } from "./operation.ts";
import { beginUpdate } from "./updates.ts";
import { minorOf } from "./versions.ts";

const configShape = {
  labels: structure({ addOrUpdateLabels: labels.optional(), removeLabels: texts.optional() }).optional(),
  taints: structure({ addOrUpdateTaints: taints.optional(), removeTaints: taints.optional() }).optional(),
  scalingConfig: scalingConfig.optional(),
  updateConfig: updateConfig.optional(),
  nodeRepairConfig: nodeRepairConfig.optional(),
  clientRequestToken,
};

const versionShape = {
  version: z.string().optional(),
  releaseVersion: z.string().optional(),
  launchTemplate: launchTemplate.optional(),
  force: z.boolean().default(false),
  clientRequestToken,
};

type Params = Record<string, unknown>;

export const nodegroupUpdateOperations: readonly Operation[] = [
  nodegroups.edit("UpdateNodegroupConfig", configShape, (context, request) =>
    updating(context, "ConfigUpdate", ({ nodegroup }) => configParams(nodegroup, request)),
  ),
  nodegroups.edit("UpdateNodegroupVersion", versionShape, (context, request) =>
    updating(context, "VersionUpdate", (group, { cluster }) => {
      const { version, releaseVersion, launchTemplate } = group.nodegroup;
      const params = versionParams(group.nodegroup, request, cluster.version);
      group.versionUpdate = { force: request.force, before: { version, releaseVersion, launchTemplate } };
      return params;
    }),
  ),
];

/** The edit that begins an update; `edit` changes the group and gives the update's parameters. */
const updating =
  (
    context: EksContext,
    type: NonNullable<Update["type"]>,
    edit: (group: NodegroupRecord, record: ClusterRecord) => Params,
  ) =>
  (group: NodegroupRecord, record: ClusterRecord): { update: Update } => {
    const { nodegroup } = group;
    const { nodegroupName, status } = nodegroup;
    // In the words of EKS (aws/karpenter-provider-aws#133).
    if (status !== "ACTIVE" && status !== "DEGRADED")
      throw inUse("Nodegroup cannot be updated as it is currently not in Active State");
    const params = edit(group, record);
    expectRoom(record, nodegroup);
    Object.assign(nodegroup, { status: "UPDATING", modifiedAt: context.now() });
    return { update: beginUpdate(context, record, type, params, { nodegroupName }) };
  };

function configParams(nodegroup: Nodegroup, request: Request<typeof configShape>): Params {
  const { labels, taints, scalingConfig, updateConfig, nodeRepairConfig } = request;
  if ([labels, taints, scalingConfig, updateConfig, nodeRepairConfig].every((asked) => asked === undefined))
    throw invalidParameter(
      "an update of a node group needs labels, taints, scalingConfig, updateConfig or nodeRepairConfig",
    );
  const { addOrUpdateLabels = {}, removeLabels = [] } = labels ?? {};
  nodegroup.labels = { ...nodegroup.labels, ...addOrUpdateLabels };
  for (const name of removeLabels) delete nodegroup.labels[name];
  const { addOrUpdateTaints = [], removeTaints = [] } = taints ?? {};
  const gone = [...removeTaints, ...addOrUpdateTaints];
  const kept = (nodegroup.taints ?? []).filter(
    ({ key, effect }) => !gone.some((other) => other.key === key && other.effect === effect),
  );
  nodegroup.taints = [...kept, ...addOrUpdateTaints];
  if (scalingConfig !== undefined) nodegroup.scalingConfig = scalingOf(nodegroup.scalingConfig, scalingConfig);
  if (updateConfig !== undefined) nodegroup.updateConfig = updateConfig;
  if (nodeRepairConfig !== undefined) nodegroup.nodeRepairConfig = nodeRepairConfig;
  return {
    labelsToAdd: labels?.addOrUpdateLabels,
    labelsToRemove: labels?.removeLabels,
    taintsToAdd: taints?.addOrUpdateTaints,
    taintsToRemove: taints?.removeTaints,
    ...(scalingConfig && nodegroup.scalingConfig),
    ...updateConfig,
    ...(nodeRepairConfig && { nodeRepairEnabled: nodeRepairConfig.enabled }),
  };
}

/** A change of version, release or launch template replaces the nodes one by one. Without a version the group keeps its own. */
function versionParams(nodegroup: Nodegroup, request: Request<typeof versionShape>, clusterVersion: string): Params {
  const { version = nodegroup.version, launchTemplate: template } = request;
  if (minorOf(version) > minorOf(clusterVersion) || minorOf(version) < minorOf(nodegroup.version))
    throw invalidParameter(
      `version: got ${version}, allowed are versions from the node group's ${nodegroup.version} to the cluster's ${clusterVersion}`,
    );
  const { launchTemplate: own } = nodegroup;
  if (template !== undefined && own === undefined)
    throw invalidParameter("launchTemplate: the node group was made without one");
  for (const key of ["id", "name"] as const)
    if (template?.[key] !== undefined && own?.[key] !== undefined && template[key] !== own[key])
      throw invalidParameter(
        `launchTemplate.${key}: got ${JSON.stringify(template[key])}, allowed is the one that the node group was made with, ${own[key]}`,
      );
  const release = releaseOf(request.releaseVersion, version, nodegroup.amiType ?? "");
  expectNoRollBack(nodegroup.releaseVersion ?? release, release, version);
  Object.assign(nodegroup, { version, releaseVersion: release });
  if (template !== undefined) nodegroup.launchTemplate = { ...own, ...template };
  return { version, releaseVersion: release, launchTemplateVersion: template?.version };
}
