import {
  type Addon,
  CreateAddonCommand,
  DeleteAddonCommand,
  DescribeAddonCommand,
  type ResolveConflicts,
  UpdateAddonCommand,
} from "@aws-sdk/client-eks";
import type { Aws } from "../clients.ts";
import { sameJson } from "../compare.ts";
import { isGone, orGone } from "../errors.ts";
import { finishing, resource, splitImportId, type Tagged } from "../handler.ts";
import { poll } from "../poll.ts";
import { ownTags } from "../tags.ts";
import { healthText, syncEksTags, updated } from "./common.ts";

interface Inputs extends Tagged {
  clusterName: string;
  addonName: string;
  addonVersion?: string;
  configurationValues?: string;
  preserve?: boolean;
  resolveConflictsOnCreate?: ResolveConflicts;
  resolveConflictsOnUpdate?: ResolveConflicts;
  serviceAccountRoleArn?: string;
}

interface Names {
  clusterName: string;
  addonName: string;
}

const names = (id: string): Names => splitImportId(id, ":", "clusterName", "addonName") as unknown as Names;

async function find(aws: Aws, id: string): Promise<Addon | undefined> {
  return (await orGone(aws.eks.send(new DescribeAddonCommand(names(id)))))?.addon;
}

async function active(aws: Aws, id: string): Promise<true | undefined> {
  const actual = await find(aws, id);
  if (actual?.status === "ACTIVE") return true;
  if (actual?.status === "CREATING" || actual?.status === "UPDATING" || actual?.status === "DEGRADED") return undefined;
  throw new Error(`EKS add-on ${id} is ${actual?.status ?? "gone"}: ${healthText(actual?.health?.issues)}`);
}

const ready = (aws: Aws, id: string) =>
  poll({ what: `EKS add-on ${id} to become ACTIVE`, timeout: aws.timeout }, () => active(aws, id));

export const addon = resource<Inputs>({
  token: "aws:eks/addon:Addon",
  tagged: true,
  inputs: [
    ...["clusterName", "addonName", "addonVersion", "configurationValues", "preserve", "serviceAccountRoleArn"],
    ...["resolveConflictsOnCreate", "resolveConflictsOnUpdate"],
  ],
  computed: ["addonVersion", "configurationValues"],
  replaceOn: ["clusterName", "addonName"],
  compare: { configurationValues: sameJson },
  unread: ["preserve", "resolveConflictsOnCreate", "resolveConflictsOnUpdate"],
  changedByUpdate: ["modifiedAt"],

  async create(aws, inputs) {
    await aws.eks.send(
      new CreateAddonCommand({
        clusterName: inputs.clusterName,
        addonName: inputs.addonName,
        addonVersion: inputs.addonVersion,
        configurationValues: inputs.configurationValues,
        resolveConflicts: inputs.resolveConflictsOnCreate,
        serviceAccountRoleArn: inputs.serviceAccountRoleArn,
        tags: inputs.tagsAll,
      }),
    );
    return finishing(`${inputs.clusterName}:${inputs.addonName}`, (id) => ready(aws, id));
  },

  ready,

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual || actual.status === "DELETING") return null;
    return {
      addonName: actual.addonName,
      addonVersion: actual.addonVersion,
      arn: actual.addonArn,
      clusterName: actual.clusterName,
      configurationValues: actual.configurationValues || undefined,
      createdAt: actual.createdAt?.toISOString(),
      modifiedAt: actual.modifiedAt?.toISOString(),
      serviceAccountRoleArn: actual.serviceAccountRoleArn || undefined,
      tagsAll: ownTags(actual.tags),
    };
  },

  async update(aws, id, change) {
    const { new: inputs } = change;
    if (change.has("addonVersion", "configurationValues", "serviceAccountRoleArn")) {
      const { update } = await aws.eks.send(
        new UpdateAddonCommand({
          ...names(id),
          addonVersion: inputs.addonVersion,
          configurationValues: inputs.configurationValues,
          resolveConflicts: inputs.resolveConflictsOnUpdate,
          serviceAccountRoleArn: inputs.serviceAccountRoleArn,
        }),
      );
      await updated(aws, { cluster: inputs.clusterName, addon: inputs.addonName }, update);
    }
    await syncEksTags(aws, (await find(aws, id))?.addonArn as string, change);
  },

  async delete(aws, id, last) {
    try {
      await aws.eks.send(new DeleteAddonCommand({ ...names(id), preserve: last.preserve }));
    } catch (error) {
      // A deletion that runs already (an interrupted destroy) is waited for.
      if (!isGone(error) && (await find(aws, id))?.status !== "DELETING") throw error;
    }
    await poll({ what: `EKS add-on ${id} to be deleted`, timeout: aws.timeout }, async () => {
      const actual = await find(aws, id);
      if (actual?.status === "DELETE_FAILED")
        throw new Error(`EKS could not delete add-on ${id}: ${healthText(actual.health?.issues)}`);
      return actual ? undefined : true;
    });
  },
});
