import { inUse, invalidParameter, invalidRequest } from "./errors.ts";
import type { NodegroupRecord, Update } from "./model.ts";
import { expectNoRollBack, releaseOf } from "./node-releases.ts";
import { labelsOf, scalingOf, taintsOf, updateConfigOf } from "./nodegroup-config.ts";
import { expectRoom, NODEGROUP_PATH, nodegroupOf, onNodegroup } from "./nodegroups.ts";
import {
  type Call,
  type EksContext,
  type Operation,
  optionalBoolean,
  optionalString,
  pathPart,
  stringList,
  structure,
} from "./operation.ts";
import { beginUpdate } from "./updates.ts";
import { minorOf } from "./versions.ts";

export const nodegroupUpdateOperations: readonly Operation[] = [
  {
    name: "UpdateNodegroupConfig",
    method: "POST",
    path: `${NODEGROUP_PATH}/update-config`,
    accepts: ["labels", "taints", "scalingConfig", "updateConfig", "clientRequestToken"],
    authorize: onNodegroup,
    run: (context, call) => updateNodegroup(context, call, "ConfigUpdate", (group) => configParams(group, call)),
  },
  {
    name: "UpdateNodegroupVersion",
    method: "POST",
    path: `${NODEGROUP_PATH}/update-version`,
    accepts: ["version", "releaseVersion", "launchTemplate", "force", "clientRequestToken"],
    authorize: onNodegroup,
    run: (context, call) => {
      const clusterVersion = context.store.get(pathPart(call, "name")).cluster.version;
      return updateNodegroup(context, call, "VersionUpdate", (group) => {
        const { version, releaseVersion, launchTemplate } = group.nodegroup;
        const params = versionParams(group, call, clusterVersion);
        const force = optionalBoolean(call.body, "force") ?? false;
        group.versionUpdate = { force, before: { version, releaseVersion, launchTemplate } };
        return params;
      });
    },
  },
];

async function updateNodegroup(
  context: EksContext,
  call: Call,
  type: NonNullable<Update["type"]>,
  edit: (group: NodegroupRecord) => Record<string, unknown>,
): Promise<{ update: Update }> {
  const name = pathPart(call, "name");
  const nodegroupName = pathPart(call, "nodegroupName");
  const update = await context.store.change(name, (record) => {
    const group = nodegroupOf(record, nodegroupName);
    if (group.nodegroup.status === "UPDATING") throw inUse(`Nodegroup ${nodegroupName} has an update in progress`);
    if (group.nodegroup.status !== "ACTIVE" && group.nodegroup.status !== "DEGRADED")
      throw invalidRequest(`Nodegroup ${nodegroupName} can't be updated while its status is ${group.nodegroup.status}`);
    const params = edit(group);
    expectRoom(record, group.nodegroup);
    group.nodegroup.status = "UPDATING";
    group.nodegroup.modifiedAt = context.now();
    return beginUpdate(context, record, type, params, { nodegroupName });
  });
  context.wake(name);
  return { update };
}

function configParams({ nodegroup }: NodegroupRecord, call: Call): Record<string, unknown> {
  const labels = structure(call.body, "labels", ["addOrUpdateLabels", "removeLabels"]);
  const taints = structure(call.body, "taints", ["addOrUpdateTaints", "removeTaints"]);
  const params: Record<string, unknown> = {};
  if (labels !== undefined) {
    const next = { ...nodegroup.labels, ...labelsOf(labels["addOrUpdateLabels"]) };
    for (const name of stringList(labels, "removeLabels") ?? []) delete next[name];
    nodegroup.labels = next;
    Object.assign(params, { LabelsToAdd: labels["addOrUpdateLabels"], LabelsToRemove: labels["removeLabels"] });
  }
  if (taints !== undefined) {
    const added = taintsOf(taints["addOrUpdateTaints"]);
    const gone = [...taintsOf(taints["removeTaints"]), ...added];
    const kept = (nodegroup.taints ?? []).filter(
      (taint) => !gone.some((other) => other.key === taint.key && other.effect === taint.effect),
    );
    nodegroup.taints = [...kept, ...added];
    Object.assign(params, { TaintsToAdd: taints["addOrUpdateTaints"], TaintsToRemove: taints["removeTaints"] });
  }
  if (call.body["scalingConfig"] !== undefined) {
    const { minSize: min = 0, maxSize: max = 1, desiredSize: desired = 0 } = nodegroup.scalingConfig;
    nodegroup.scalingConfig = scalingOf(call.body, { minSize: min, maxSize: max, desiredSize: desired });
    const { minSize, maxSize, desiredSize } = nodegroup.scalingConfig;
    Object.assign(params, { MinSize: minSize, MaxSize: maxSize, DesiredSize: desiredSize });
  }
  const updateConfig = updateConfigOf(call.body);
  if (updateConfig !== undefined) {
    nodegroup.updateConfig = updateConfig;
    Object.assign(
      params,
      updateConfig.maxUnavailable === undefined
        ? { MaxUnavailablePercentage: updateConfig.maxUnavailablePercentage }
        : { MaxUnavailable: updateConfig.maxUnavailable },
    );
  }
  if (Object.keys(params).length === 0)
    throw invalidParameter("an update of a node group needs labels, taints, scalingConfig or updateConfig");
  return params;
}

/** The nodes are replaced one by one when the version, the release or the launch template changes. Without a version it stays. */
function versionParams({ nodegroup }: NodegroupRecord, call: Call, clusterVersion: string): Record<string, unknown> {
  const version = optionalString(call.body, "version") ?? nodegroup.version;
  if (minorOf(version) > minorOf(clusterVersion) || minorOf(version) < minorOf(nodegroup.version))
    throw invalidParameter(
      `version: got ${version}, allowed are versions from the node group's ${nodegroup.version} to the cluster's ${clusterVersion}`,
    );
  const template = structure(call.body, "launchTemplate", ["name", "version", "id"]);
  if (template !== undefined) {
    if (nodegroup.launchTemplate === undefined)
      throw invalidParameter("launchTemplate: the node group was made without one");
    for (const key of ["id", "name"] as const)
      if (
        template[key] !== undefined &&
        nodegroup.launchTemplate[key] !== undefined &&
        template[key] !== nodegroup.launchTemplate[key]
      )
        throw invalidParameter(
          `launchTemplate.${key}: got ${JSON.stringify(template[key])}, allowed is the one that the node group was made with, ${nodegroup.launchTemplate[key]}`,
        );
  }
  const release = releaseOf(optionalString(call.body, "releaseVersion"), version, nodegroup.amiType ?? "");
  expectNoRollBack(nodegroup.releaseVersion ?? release, release, version);
  if (template !== undefined) nodegroup.launchTemplate = { ...nodegroup.launchTemplate, ...template };
  nodegroup.version = version;
  nodegroup.releaseVersion = release;
  return {
    Version: version,
    ReleaseVersion: nodegroup.releaseVersion,
    ...(template === undefined ? {} : { LaunchTemplateVersion: template["version"] }),
  };
}
