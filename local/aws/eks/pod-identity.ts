import * as sdk from "@aws-sdk/client-eks";
import { computed, fixed, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { composite } from "../handler.ts";
import { api, eksTags } from "./common.ts";

export const podIdentityAssociation = define({
  token: "aws:eks/podIdentityAssociation:PodIdentityAssociation",
  crossplane: { kind: "eks/PodIdentityAssociation" },
  case: "camel",
  tags: eksTags("associationArn"),
  fields: {
    clusterName: { fixed },
    namespace: { fixed, required: true },
    serviceAccount: { fixed, required: true },
    roleArn: { ref: "iam/Role" },
    disableSessionTags: { type: "boolean", computed },
    associationArn: out(),
    associationId: out(),
  },
  // AWS gives the id, which alone does not find it.
  importId: async (_aws, importId) => {
    const { clusterName, id } = composite(",", "clusterName", "id").partsOf(importId);
    return { id, properties: { clusterName } };
  },
  create: async (aws, request) =>
    (await api(aws).send(new sdk.CreatePodIdentityAssociationCommand(request as never))).association?.associationId,
  find: async (aws, associationId, { clusterName }) =>
    (await api(aws).send(new sdk.DescribePodIdentityAssociationCommand({ clusterName, associationId }))).association,
  settings: [
    {
      fields: ["roleArn", "disableSessionTags"],
      call: (aws, associationId, { clusterName, roleArn, disableSessionTags }) => {
        const change = { clusterName, associationId, roleArn, disableSessionTags };
        return api(aws).send(new sdk.UpdatePodIdentityAssociationCommand(change));
      },
    },
  ],
  delete: (aws, associationId, { clusterName }) =>
    api(aws).send(new sdk.DeletePodIdentityAssociationCommand({ clusterName, associationId })),
});
