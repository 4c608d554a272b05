import { randomBytes } from "node:crypto";
import { assumableRole } from "./cluster-config.ts";
import { EksError } from "./errors.ts";
import type { ClusterRecord, PodIdentityAssociation } from "./model.ts";
import {
  type Call,
  type EksContext,
  eksArn,
  type Operation,
  onCluster,
  optionalString,
  page,
  passedRole,
  pathPart,
  requiredString,
  tagsOf,
} from "./operation.ts";

/** The service that takes roles for pods (trust policies and iam:PassedToService name it). */
const SERVICE = "pods.eks.amazonaws.com";
const PATH = "/clusters/{name}/pod-identity-associations/{associationId}";

const onAssociation = (context: EksContext, call: Omit<Call, "caller">) => ({
  resource: eksArn(context, `podidentityassociation/${call.path["name"] ?? ""}/${call.path["associationId"] ?? ""}`),
});

/** Recorded with all checks. Pods get their credentials by IRSA here: no agent serves these associations. */
export const podIdentityOperations: readonly Operation[] = [
  {
    name: "CreatePodIdentityAssociation",
    method: "POST",
    path: "/clusters/{name}/pod-identity-associations",
    accepts: ["namespace", "serviceAccount", "roleArn", "clientRequestToken", "tags"],
    authorize: (context, call) => ({
      ...onCluster(context, call),
      passRoles: passedRole(call.body["roleArn"], SERVICE),
    }),
    run: async (context, call) => {
      const clusterName = pathPart(call, "name");
      const namespace = requiredString(call.body, "namespace");
      const serviceAccount = requiredString(call.body, "serviceAccount");
      const roleArn = await assumableRole(context, requiredString(call.body, "roleArn"), SERVICE);
      const associationId = `a-${randomBytes(12).toString("hex").slice(0, 17)}`;
      const association: PodIdentityAssociation = {
        clusterName,
        namespace,
        serviceAccount,
        roleArn,
        associationArn: eksArn(context, `podidentityassociation/${clusterName}/${associationId}`),
        associationId,
        tags: tagsOf(call.body),
        createdAt: context.now(),
        modifiedAt: context.now(),
      };
      await context.store.change(clusterName, (record) => {
        const taken = Object.values(record.podIdentityAssociations).find(
          (other) => other.namespace === namespace && other.serviceAccount === serviceAccount,
        );
        if (taken !== undefined)
          throw new EksError("ResourceInUseException", `Association already exists: ${taken.associationId}`);
        record.podIdentityAssociations[associationId] = association;
      });
      return { association };
    },
  },
  {
    name: "ListPodIdentityAssociations",
    method: "GET",
    path: "/clusters/{name}/pod-identity-associations",
    authorize: onCluster,
    run: (context, call) => {
      const namespace = call.query.get("namespace");
      const serviceAccount = call.query.get("serviceAccount");
      const all = Object.values(context.store.get(pathPart(call, "name")).podIdentityAssociations).filter(
        (item) =>
          (namespace === null || item.namespace === namespace) &&
          (serviceAccount === null || item.serviceAccount === serviceAccount),
      );
      const { items, ...rest } = page(all, call.query, (item) => item.associationId);
      const associations = items.map(
        ({ clusterName, namespace: space, serviceAccount: account, associationArn, associationId }) => ({
          clusterName,
          namespace: space,
          serviceAccount: account,
          associationArn,
          associationId,
        }),
      );
      return { associations, ...rest };
    },
  },
  {
    name: "DescribePodIdentityAssociation",
    method: "GET",
    path: PATH,
    authorize: onAssociation,
    run: (context, call) => ({
      association: associationOf(context.store.get(pathPart(call, "name")), pathPart(call, "associationId")),
    }),
  },
  {
    name: "UpdatePodIdentityAssociation",
    method: "POST",
    path: PATH,
    accepts: ["roleArn", "clientRequestToken"],
    authorize: (context, call) => ({
      ...onAssociation(context, call),
      passRoles: passedRole(call.body["roleArn"], SERVICE),
    }),
    run: async (context, call) => {
      const asked = optionalString(call.body, "roleArn");
      const roleArn = asked === undefined ? undefined : await assumableRole(context, asked, SERVICE);
      const association = await context.store.change(pathPart(call, "name"), (record) => {
        const found = associationOf(record, pathPart(call, "associationId"));
        if (roleArn !== undefined) found.roleArn = roleArn;
        found.modifiedAt = context.now();
        return found;
      });
      return { association };
    },
  },
  {
    name: "DeletePodIdentityAssociation",
    method: "DELETE",
    path: PATH,
    authorize: onAssociation,
    run: async (context, call) => {
      const association = await context.store.change(pathPart(call, "name"), (record) => {
        const found = associationOf(record, pathPart(call, "associationId"));
        delete record.podIdentityAssociations[found.associationId];
        return found;
      });
      return { association };
    },
  },
];

function associationOf(record: ClusterRecord, id: string): PodIdentityAssociation {
  const found = record.podIdentityAssociations[id];
  if (found === undefined)
    throw new EksError("ResourceNotFoundException", `The association ID could not be found: ${id}`);
  return found;
}
