import {
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  DescribeAccessEntryCommand,
  UpdateAccessEntryCommand,
} from "@aws-sdk/client-eks";
import { orGone } from "../errors.ts";
import { resource, splitImportId, type Tagged } from "../handler.ts";
import { ownTags } from "../tags.ts";
import { syncEksTags } from "./common.ts";

interface Inputs extends Tagged {
  clusterName: string;
  principalArn: string;
  kubernetesGroups?: string[];
  type?: string;
  userName?: string;
}

interface Names {
  clusterName: string;
  principalArn: string;
}

const names = (id: string): Names => splitImportId(id, ":", "clusterName", "principalArn") as unknown as Names;

export const accessEntry = resource<Inputs>({
  token: "aws:eks/accessEntry:AccessEntry",
  tagged: true,
  inputs: ["clusterName", "principalArn", "kubernetesGroups", "type", "userName"],
  computed: ["kubernetesGroups", "userName"],
  replaceOn: ["clusterName", "principalArn", "type"],
  defaults: { type: "STANDARD" },
  sets: ["kubernetesGroups"],
  changedByUpdate: ["modifiedAt"],

  async create(aws, inputs) {
    await aws.eks.send(
      new CreateAccessEntryCommand({
        clusterName: inputs.clusterName,
        principalArn: inputs.principalArn,
        kubernetesGroups: inputs.kubernetesGroups,
        type: inputs.type,
        username: inputs.userName,
        tags: inputs.tagsAll,
      }),
    );
    return `${inputs.clusterName}:${inputs.principalArn}`;
  },

  async read(aws, id) {
    const actual = (await orGone(aws.eks.send(new DescribeAccessEntryCommand(names(id)))))?.accessEntry;
    if (!actual) return null;
    return {
      accessEntryArn: actual.accessEntryArn,
      clusterName: actual.clusterName,
      createdAt: actual.createdAt?.toISOString(),
      kubernetesGroups: actual.kubernetesGroups,
      modifiedAt: actual.modifiedAt?.toISOString(),
      principalArn: actual.principalArn,
      tagsAll: ownTags(actual.tags),
      type: actual.type,
      userName: actual.username,
    };
  },

  async update(aws, id, change) {
    if (change.has("kubernetesGroups", "userName"))
      await aws.eks.send(
        new UpdateAccessEntryCommand({
          ...names(id),
          kubernetesGroups: change.new.kubernetesGroups ?? [],
          username: change.new.userName,
        }),
      );
    if (change.has("tagsAll")) {
      const { accessEntry } = await aws.eks.send(new DescribeAccessEntryCommand(names(id)));
      await syncEksTags(aws, accessEntry?.accessEntryArn as string, change);
    }
  },

  async delete(aws, id) {
    await orGone(aws.eks.send(new DeleteAccessEntryCommand(names(id))));
  },
});
