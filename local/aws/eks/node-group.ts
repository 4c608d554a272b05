import * as sdk from "@aws-sdk/client-eks";
import { sameList } from "../compare.ts";
import { computed, fixed, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { composite } from "../handler.ts";
import { tagChanges } from "../tags.ts";
import { api, eksStates, eksTags, identity, updated } from "./common.ts";

const group = composite(":", "clusterName", "nodeGroupName");

const names = (id: string) => {
  const { clusterName, nodeGroupName: nodegroupName } = group.partsOf(id);
  return { clusterName, nodegroupName };
};

/** Template id or name, not both: EKS refuses both. */
const templateSpec = ({ id, name, version }: { id?: string; name?: string; version?: string }) => ({
  ...(id ? { id } : { name }),
  version,
});

/** Taints of one list that the other does not have. */
const without = (taints: sdk.Taint[] = [], others: sdk.Taint[] = []): sdk.Taint[] =>
  taints.filter((taint) => !others.some((other) => sameList(taint, other)));

const size = { type: "number" } as const;

export const nodeGroup = define({
  token: "aws:eks/nodeGroup:NodeGroup",
  crossplane: { kind: "eks/NodeGroup", named: "nodeGroupName", asynchronous: true },
  idOf: group.idOf,
  case: "camel",
  tags: eksTags("nodegroupArn"),
  states: eksStates("EKS node group", ["CREATING", "UPDATING"]),
  autoName: { property: "nodeGroupName", maxLength: 63 },
  failed: ["CREATE_FAILED"],
  fields: {
    clusterName: identity,
    nodeGroupName: { fixed, api: "nodegroupName", crd: null },
    nodeRoleArn: { fixed, api: "nodeRole" },
    subnetIds: { fixed, type: "set", api: "subnets" },
    amiType: { fixed, computed },
    capacityType: { fixed, computed },
    diskSize: { fixed, computed, type: "number" },
    instanceTypes: { fixed, computed, type: "strings" },
    labels: { type: "map" },
    launchTemplate: {
      computed,
      put: templateSpec,
      type: { block: { id: { fixed }, name: { fixed }, version: {} } },
    },
    releaseVersion: { computed, updated: true },
    scalingConfig: { required: true, type: { block: { desiredSize: size, maxSize: size, minSize: size } } },
    taints: { crd: "taint", unordered: true, type: { blocks: { effect: {}, key: {}, value: {} } } },
    updateConfig: { computed, type: { block: { maxUnavailable: size, maxUnavailablePercentage: size } } },
    version: { computed, updated: true },
    arn: out("nodegroupArn"),
    resources: out(
      ({ resources }) => {
        const found = resources as sdk.Nodegroup["resources"];
        return [
          {
            autoscalingGroups: (found?.autoScalingGroups ?? []).map(({ name }) => ({ name })),
            remoteAccessSecurityGroupId: found?.remoteAccessSecurityGroup,
          },
        ];
      },
      { type: { blocks: { autoscalingGroups: { type: { blocks: { name: {} } } }, remoteAccessSecurityGroupId: {} } } },
    ),
    status: out(undefined, { updated: true }),
  },
  create: (aws, request) => api(aws).send(new sdk.CreateNodegroupCommand(request as never)),
  find: async (aws, id) => (await api(aws).send(new sdk.DescribeNodegroupCommand(names(id)))).nodegroup,
  settings: [
    {
      fields: ["version", "releaseVersion", "launchTemplate"],
      async call(aws, id, { version, releaseVersion, launchTemplate }, { has }) {
        const { clusterName: cluster, nodegroupName: nodeGroup } = names(id);
        const answer = await api(aws).send(
          new sdk.UpdateNodegroupVersionCommand({
            ...names(id),
            ...(has("version") && { version }),
            ...(has("releaseVersion") && { releaseVersion }),
            ...(has("launchTemplate") && launchTemplate && { launchTemplate: templateSpec(launchTemplate) }),
          }),
        );
        await updated(aws, { cluster, nodeGroup }, answer);
      },
    },
    {
      fields: ["labels", "taints", "scalingConfig", "updateConfig"],
      async call(aws, id, { labels, taints, scalingConfig, updateConfig }, { old, has }) {
        const { set: addOrUpdateLabels, remove: removeLabels } = tagChanges(old.labels, labels);
        const [now, before] = [taints as sdk.Taint[], old.taints as sdk.Taint[]];
        const { clusterName: cluster, nodegroupName: nodeGroup } = names(id);
        const answer = await api(aws).send(
          new sdk.UpdateNodegroupConfigCommand({
            ...names(id),
            ...(has("labels") && { labels: { addOrUpdateLabels, removeLabels } }),
            ...(has("taints") && {
              taints: { addOrUpdateTaints: without(now, before), removeTaints: without(before, now) },
            }),
            ...(has("scalingConfig") && { scalingConfig }),
            ...(has("updateConfig") && { updateConfig }),
          }),
        );
        await updated(aws, { cluster, nodeGroup }, answer);
      },
    },
  ],
  delete: (aws, id) => api(aws).send(new sdk.DeleteNodegroupCommand(names(id))),
});
