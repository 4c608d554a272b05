import { randomBytes } from "node:crypto";
import * as z from "zod";
import { collection } from "./collection.ts";
import { inUse } from "./errors.ts";
import type { PodIdentityAssociation } from "./model.ts";
import { clientRequestToken, eksArn, type Operation, text } from "./operation.ts";
import { assumableRole } from "./principals.ts";

/** The service that takes roles for pods (trust policies and iam:PassedToService name it). */
const SERVICE = "pods.eks.amazonaws.com";

/** Recorded with all checks. Pods get their credentials by IRSA here: no agent serves these associations. */
export const podIdentities = collection<PodIdentityAssociation, PodIdentityAssociation>({
  noun: "PodIdentityAssociation",
  id: "associationId",
  member: "association",
  items: (record) => record.podIdentityAssociations,
  view: (association) => association,
  arn: ({ associationArn }) => associationArn,
  resource: (cluster, id) => `podidentityassociation/${cluster}/${id}`,
  notFound: (id) => `The association ID could not be found: ${id}`,
  passes: { member: "roleArn", service: SERVICE },
});

export const podIdentityOperations: readonly Operation[] = [
  podIdentities.create(
    { namespace: text, serviceAccount: text, roleArn: text },
    {
      make: async (context, { clusterName, namespace, serviceAccount, roleArn }) => {
        const associationId = `a-${randomBytes(12).toString("hex").slice(0, 17)}`;
        return {
          clusterName,
          namespace,
          serviceAccount,
          roleArn: await assumableRole(context, roleArn, SERVICE),
          associationArn: eksArn(context, `podidentityassociation/${clusterName}/${associationId}`),
          associationId,
          tags: {},
          createdAt: context.now(),
          modifiedAt: context.now(),
        };
      },
      exists: ({ associationId }) => `Association already exists: ${associationId}`,
      added: (_context, record, { namespace, serviceAccount }) => {
        const other = Object.values(record.podIdentityAssociations).find(
          (one) => one.namespace === namespace && one.serviceAccount === serviceAccount,
        );
        if (other !== undefined) throw inUse(`Association already exists: ${other.associationId}`);
      },
    },
  ),
  podIdentities.list("ListPodIdentityAssociations", {
    member: "associations",
    shape: { namespace: z.string().optional(), serviceAccount: z.string().optional() },
    keep: (item, { namespace = item.namespace, serviceAccount = item.serviceAccount }) =>
      item.namespace === namespace && item.serviceAccount === serviceAccount,
    row: ({ clusterName, namespace, serviceAccount, associationArn, associationId }) => ({
      clusterName,
      namespace,
      serviceAccount,
      associationArn,
      associationId,
    }),
  }),
  podIdentities.describe(),
  podIdentities.edit(
    "UpdatePodIdentityAssociation",
    { roleArn: text.optional(), clientRequestToken },
    async (context, { roleArn }) => {
      if (roleArn !== undefined) await assumableRole(context, roleArn, SERVICE);
      return (association) => {
        Object.assign(association, roleArn === undefined ? {} : { roleArn }, { modifiedAt: context.now() });
        return { association };
      };
    },
  ),
  podIdentities.edit("DeletePodIdentityAssociation", {}, () => (association, record) => {
    delete record.podIdentityAssociations[association.associationId];
    return { association };
  }),
];
