import { randomBytes } from "node:crypto";
import * as z from "zod";
import { collection } from "./collection.ts";
import { invalidParameter, invalidRequest } from "./errors.ts";
import type { ClusterRecord, PodIdentityAssociation, PodIdentityRecord } from "./model.ts";
import { clientRequestToken, type EksContext, eksArn, type Operation, text } from "./operation.ts";
import { parsePrincipal } from "./principals.ts";

/** The service that assumes roles for pods: trust policies and iam:PassedToService name it, and it is the audience of their tokens. */
export const POD_IDENTITY_SERVICE = "pods.eks.amazonaws.com";

export const podIdentities = collection<PodIdentityRecord, PodIdentityAssociation>({
  noun: "PodIdentityAssociation",
  id: "associationId",
  member: "association",
  items: (record) => record.podIdentityAssociations,
  view: ({ association }) => association,
  arn: ({ associationArn }) => associationArn,
  resource: (cluster, id) => `podidentityassociation/${cluster}/${id}`,
  notFound: (id) => `The association ID could not be found: ${id}`,
  passes: { member: "roleArn", service: POD_IDENTITY_SERVICE },
});

interface ServiceAccount {
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** The association of a service account; there is one at most. */
export function associationOf(
  record: Pick<ClusterRecord, "podIdentityAssociations">,
  { namespace, serviceAccount }: ServiceAccount,
): PodIdentityRecord | undefined {
  return Object.values(record.podIdentityAssociations).find(
    ({ association: one }) => one.namespace === namespace && one.serviceAccount === serviceAccount,
  );
}

export const podIdentityOperations: readonly Operation[] = [
  podIdentities.create(
    // targetRoleArn and policy are refused by name: a session of this API is neither chained nor narrowed here.
    { namespace: text, serviceAccount: text, roleArn: text, disableSessionTags: z.boolean().default(false) },
    {
      tokenOf: (record) => record.clientRequestToken,
      same: (record, request) => associationOf(record, request),
      make: async (context, request) => {
        const { clusterName, namespace, serviceAccount, roleArn, disableSessionTags } = request;
        const associationId = `a-${randomBytes(9).toString("hex").slice(0, 17)}`;
        await expectRole(context, roleArn);
        return {
          association: {
            clusterName,
            namespace,
            serviceAccount,
            roleArn,
            disableSessionTags,
            associationArn: eksArn(context, `podidentityassociation/${clusterName}/${associationId}`),
            associationId,
            tags: {},
            createdAt: context.now(),
            modifiedAt: context.now(),
          },
          clientRequestToken: request.clientRequestToken,
        };
      },
      exists: ({ associationId }) => `Association already exists: ${associationId}`,
    },
  ),
  podIdentities.list("ListPodIdentityAssociations", "associations", {
    filters: ["namespace", "serviceAccount"],
    // PodIdentityAssociationSummary, API reference.
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
    { roleArn: text.optional(), disableSessionTags: z.boolean().optional(), clientRequestToken },
    async (context, { roleArn, disableSessionTags }) => {
      if (roleArn === undefined && disableSessionTags === undefined)
        throw invalidRequest("nothing is to be updated: set roleArn or disableSessionTags");
      if (roleArn !== undefined) await expectRole(context, roleArn);
      return ({ association }) => {
        if (roleArn !== undefined) association.roleArn = roleArn;
        if (disableSessionTags !== undefined) association.disableSessionTags = disableSessionTags;
        association.modifiedAt = context.now();
        return { association };
      };
    },
  ),
  podIdentities.edit("DeletePodIdentityAssociation", {}, () => ({ association }, record) => {
    delete record.podIdentityAssociations[association.associationId];
    return { association };
  }),
];

/** Throws InvalidParameterException, in EKS's words, unless the role exists in the cluster's account and trusts EKS Pod Identity. */
async function expectRole(context: EksContext, arn: string): Promise<void> {
  const role = await context.aws.role(parsePrincipal(arn)?.name ?? arn);
  if (role?.arn !== arn) throw invalidParameter(`Role provided in the request does not exist: ${arn}`);
  if (!role.trustPolicy.includes(POD_IDENTITY_SERVICE))
    throw invalidParameter(
      `Trust policy of the role provided is invalid: that of ${arn} doesn't name ${POD_IDENTITY_SERVICE}`,
    );
}
