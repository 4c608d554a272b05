import {
  type AMITypes,
  type CapacityTypes,
  CreateNodegroupCommand,
  DeleteNodegroupCommand,
  DescribeNodegroupCommand,
  type Nodegroup,
  type Taint,
  UpdateNodegroupConfigCommand,
  type UpdateNodegroupConfigRequest,
  UpdateNodegroupVersionCommand,
} from "@aws-sdk/client-eks";
import type { Aws } from "../clients.ts";
import { isGone, orGone } from "../errors.ts";
import { type Change, finishing, type Properties, resource, splitImportId, type Tagged } from "../handler.ts";
import { poll } from "../poll.ts";
import { ownTags, tagChanges } from "../tags.ts";
import { healthText, syncEksTags, updated } from "./common.ts";

interface Inputs extends Tagged {
  clusterName: string;
  nodeGroupName: string;
  nodeRoleArn: string;
  subnetIds: string[];
  scalingConfig: { minSize: number; maxSize: number; desiredSize: number };
  amiType?: AMITypes;
  capacityType?: CapacityTypes;
  diskSize?: number;
  forceUpdateVersion?: boolean;
  instanceTypes?: string[];
  labels?: Record<string, string>;
  launchTemplate?: { id?: string; name?: string; version: string };
  releaseVersion?: string;
  taints?: Taint[];
  updateConfig?: { maxUnavailable?: number; maxUnavailablePercentage?: number };
  version?: string;
}

interface Names {
  clusterName: string;
  nodegroupName: string;
}

const names = (id: string): Names => splitImportId(id, ":", "clusterName", "nodegroupName") as unknown as Names;

async function find(aws: Aws, id: string): Promise<Nodegroup | undefined> {
  return (await orGone(aws.eks.send(new DescribeNodegroupCommand(names(id)))))?.nodegroup;
}

async function active(aws: Aws, id: string): Promise<true | undefined> {
  const actual = await find(aws, id);
  if (actual?.status === "ACTIVE") return true;
  if (actual?.status === "CREATING" || actual?.status === "UPDATING") return undefined;
  throw new Error(`EKS node group ${id} is ${actual?.status ?? "gone"}: ${healthText(actual?.health?.issues)}`);
}

const ready = (aws: Aws, id: string) =>
  poll({ what: `EKS node group ${id} to become ACTIVE`, timeout: aws.timeout }, () => active(aws, id));

function properties(actual: Nodegroup): Properties {
  const { launchTemplate, resources, updateConfig: update, scalingConfig: scaling } = actual;
  return {
    amiType: actual.amiType,
    arn: actual.nodegroupArn,
    capacityType: actual.capacityType,
    clusterName: actual.clusterName,
    diskSize: actual.diskSize,
    instanceTypes: actual.instanceTypes,
    labels: actual.labels,
    ...(launchTemplate && {
      launchTemplate: { id: launchTemplate.id, name: launchTemplate.name, version: launchTemplate.version },
    }),
    nodeGroupName: actual.nodegroupName,
    nodeRoleArn: actual.nodeRole,
    releaseVersion: actual.releaseVersion,
    resources: [
      {
        autoscalingGroups: (resources?.autoScalingGroups ?? []).map(({ name }) => ({ name })),
        remoteAccessSecurityGroupId: resources?.remoteAccessSecurityGroup,
      },
    ],
    scalingConfig: { minSize: scaling?.minSize, maxSize: scaling?.maxSize, desiredSize: scaling?.desiredSize },
    status: actual.status,
    subnetIds: actual.subnets,
    tagsAll: ownTags(actual.tags),
    taints: (actual.taints ?? []).map(({ key, value, effect }) => ({ key, value, effect })),
    updateConfig: {
      maxUnavailable: update?.maxUnavailable,
      maxUnavailablePercentage: update?.maxUnavailablePercentage,
    },
    version: actual.version,
  };
}

/** Template id or name, not both: EKS refuses both. */
const templateSpec = (template: Inputs["launchTemplate"]) =>
  template && { ...(template.id ? { id: template.id } : { name: template.name }), version: template.version };

function configChange(change: Change<Inputs>): Partial<UpdateNodegroupConfigRequest> {
  const { old, new: inputs } = change;
  const labels = tagChanges(old.labels, inputs.labels);
  const key = (taint: Taint) => `${taint.key}=${taint.value ?? ""}:${taint.effect}`;
  const keys = (taints: Taint[] | undefined) => (taints ?? []).map(key);
  return {
    ...(change.has("labels") && { labels: { addOrUpdateLabels: labels.set, removeLabels: labels.remove } }),
    ...(change.has("taints") && {
      taints: {
        addOrUpdateTaints: inputs.taints?.filter((taint) => !keys(old.taints).includes(key(taint))),
        removeTaints: old.taints?.filter((taint) => !keys(inputs.taints).includes(key(taint))),
      },
    }),
    ...(change.has("scalingConfig") && { scalingConfig: inputs.scalingConfig }),
    ...(change.has("updateConfig") && { updateConfig: inputs.updateConfig }),
  };
}

export const nodeGroup = resource<Inputs>({
  token: "aws:eks/nodeGroup:NodeGroup",
  tagged: true,
  inputs: [
    ...["clusterName", "nodeGroupName", "nodeRoleArn", "subnetIds", "amiType", "capacityType", "diskSize"],
    ...["forceUpdateVersion", "instanceTypes", "labels.*", "releaseVersion", "version"],
    ...["minSize", "maxSize", "desiredSize"].map((name) => `scalingConfig.${name}`),
    ...["id", "name", "version"].map((name) => `launchTemplate.${name}`),
    ...["key", "value", "effect"].map((name) => `taints.${name}`),
    ...["maxUnavailable", "maxUnavailablePercentage"].map((name) => `updateConfig.${name}`),
  ],
  computed: [
    ...["amiType", "capacityType", "diskSize", "instanceTypes", "launchTemplate", "releaseVersion", "version"],
    "updateConfig",
  ],
  replaceOn: [
    ...["clusterName", "nodeGroupName", "nodeRoleArn", "subnetIds", "amiType", "capacityType", "diskSize"],
    ...["instanceTypes", "launchTemplate.id", "launchTemplate.name"],
  ],
  autoName: { property: "nodeGroupName", maxLength: 63 },
  sets: ["subnetIds", "taints"],
  unread: ["forceUpdateVersion"],
  changedByUpdate: ["releaseVersion", "status", "version"],
  failed: ["CREATE_FAILED"],

  async create(aws, inputs) {
    await aws.eks.send(
      new CreateNodegroupCommand({
        clusterName: inputs.clusterName,
        nodegroupName: inputs.nodeGroupName,
        nodeRole: inputs.nodeRoleArn,
        subnets: inputs.subnetIds,
        scalingConfig: inputs.scalingConfig,
        amiType: inputs.amiType,
        capacityType: inputs.capacityType,
        diskSize: inputs.diskSize,
        instanceTypes: inputs.instanceTypes,
        labels: inputs.labels,
        launchTemplate: templateSpec(inputs.launchTemplate),
        releaseVersion: inputs.releaseVersion,
        taints: inputs.taints,
        updateConfig: inputs.updateConfig,
        version: inputs.version,
        tags: inputs.tagsAll,
      }),
    );
    return finishing(`${inputs.clusterName}:${inputs.nodeGroupName}`, (id) => ready(aws, id));
  },

  ready,

  async read(aws, id) {
    const actual = await find(aws, id);
    return actual && actual.status !== "DELETING" ? properties(actual) : null;
  },

  async update(aws, id, change) {
    const { new: inputs } = change;
    const of = { cluster: inputs.clusterName, nodeGroup: inputs.nodeGroupName };
    if (change.has("version", "releaseVersion", "launchTemplate")) {
      const { update } = await aws.eks.send(
        new UpdateNodegroupVersionCommand({
          ...names(id),
          ...(change.has("version") && { version: inputs.version }),
          ...(change.has("releaseVersion") && { releaseVersion: inputs.releaseVersion }),
          ...(change.has("launchTemplate") && { launchTemplate: templateSpec(inputs.launchTemplate) }),
          force: inputs.forceUpdateVersion,
        }),
      );
      await updated(aws, of, update);
    }
    const config = configChange(change);
    if (Object.keys(config).length > 0) {
      const { update } = await aws.eks.send(new UpdateNodegroupConfigCommand({ ...names(id), ...config }));
      await updated(aws, of, update);
    }
    await syncEksTags(aws, (await find(aws, id))?.nodegroupArn as string, change);
  },

  async delete(aws, id) {
    try {
      await aws.eks.send(new DeleteNodegroupCommand(names(id)));
    } catch (error) {
      // A deletion that runs already (an interrupted destroy) is waited for.
      if (!isGone(error) && (await find(aws, id))?.status !== "DELETING") throw error;
    }
    await poll({ what: `EKS node group ${id} to be deleted`, timeout: aws.timeout }, async () => {
      const actual = await find(aws, id);
      if (actual?.status === "DELETE_FAILED")
        throw new Error(`EKS could not delete node group ${id}: ${healthText(actual.health?.issues)}`);
      return actual ? undefined : true;
    });
  },
});
