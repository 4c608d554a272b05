import {
  CreatePodIdentityAssociationCommand,
  DeletePodIdentityAssociationCommand,
  DescribePodIdentityAssociationCommand,
  UpdatePodIdentityAssociationCommand,
} from "@aws-sdk/client-eks";
import { orGone } from "../errors.ts";
import { resource, splitImportId, type Tagged } from "../handler.ts";
import { ownTags } from "../tags.ts";
import { syncEksTags } from "./common.ts";

interface Inputs extends Tagged {
  clusterName: string;
  namespace: string;
  serviceAccount: string;
  roleArn: string;
  targetRoleArn?: string;
  disableSessionTags?: boolean;
}

export const podIdentityAssociation = resource<Inputs>({
  token: "aws:eks/podIdentityAssociation:PodIdentityAssociation",
  tagged: true,
  inputs: ["clusterName", "namespace", "serviceAccount", "roleArn", "targetRoleArn", "disableSessionTags"],
  computed: ["disableSessionTags"],
  replaceOn: ["clusterName", "namespace", "serviceAccount"],

  async create(aws, inputs) {
    const { association } = await aws.eks.send(
      new CreatePodIdentityAssociationCommand({
        clusterName: inputs.clusterName,
        namespace: inputs.namespace,
        serviceAccount: inputs.serviceAccount,
        roleArn: inputs.roleArn,
        targetRoleArn: inputs.targetRoleArn,
        disableSessionTags: inputs.disableSessionTags,
        tags: inputs.tagsAll,
      }),
    );
    return association?.associationId as string;
  },

  async read(aws, id, { clusterName }) {
    const query = new DescribePodIdentityAssociationCommand({ clusterName, associationId: id });
    const actual = (await orGone(aws.eks.send(query)))?.association;
    if (!actual) return null;
    return {
      associationArn: actual.associationArn,
      associationId: actual.associationId,
      clusterName: actual.clusterName,
      disableSessionTags: actual.disableSessionTags ?? false,
      externalId: actual.externalId,
      namespace: actual.namespace,
      roleArn: actual.roleArn,
      serviceAccount: actual.serviceAccount,
      tagsAll: ownTags(actual.tags),
      targetRoleArn: actual.targetRoleArn || undefined,
    };
  },

  async update(aws, id, change) {
    const query = { clusterName: change.new.clusterName, associationId: id };
    if (change.has("roleArn", "targetRoleArn", "disableSessionTags"))
      await aws.eks.send(
        new UpdatePodIdentityAssociationCommand({
          ...query,
          roleArn: change.new.roleArn,
          targetRoleArn: change.new.targetRoleArn,
          disableSessionTags: change.new.disableSessionTags,
        }),
      );
    if (change.has("tagsAll")) {
      const { association } = await aws.eks.send(new DescribePodIdentityAssociationCommand(query));
      await syncEksTags(aws, association?.associationArn as string, change);
    }
  },

  async delete(aws, id, { clusterName }) {
    await orGone(aws.eks.send(new DeletePodIdentityAssociationCommand({ clusterName, associationId: id })));
  },

  importId(_aws, importId) {
    const { clusterName, id } = splitImportId(importId, ",", "clusterName", "id") as Record<string, string>;
    return Promise.resolve({ id: id as string, properties: { clusterName } });
  },
});
