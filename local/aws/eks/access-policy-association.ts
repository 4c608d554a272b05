import {
  type AccessScopeType,
  AssociateAccessPolicyCommand,
  DisassociateAccessPolicyCommand,
  paginateListAssociatedAccessPolicies,
} from "@aws-sdk/client-eks";
import type { Aws } from "../clients.ts";
import { isGone, orGone } from "../errors.ts";
import { resource, splitImportId } from "../handler.ts";

interface Inputs {
  clusterName: string;
  principalArn: string;
  policyArn: string;
  accessScope: { type: AccessScopeType; namespaces?: string[] };
}

type Names = Omit<Inputs, "accessScope">;

const names = (id: string): Names =>
  splitImportId(id, "#", "clusterName", "principalArn", "policyArn") as unknown as Names;

async function find(aws: Aws, { clusterName, principalArn, policyArn }: Names) {
  try {
    const pages = paginateListAssociatedAccessPolicies({ client: aws.eks }, { clusterName, principalArn });
    for await (const page of pages)
      for (const item of page.associatedAccessPolicies ?? []) if (item.policyArn === policyArn) return item;
  } catch (error) {
    if (!isGone(error)) throw error; // without access entry or cluster there is no association
  }
  return undefined;
}

export const accessPolicyAssociation = resource<Inputs>({
  token: "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
  inputs: ["clusterName", "principalArn", "policyArn", "accessScope.type", "accessScope.namespaces"],
  replaceOn: ["clusterName", "principalArn", "policyArn", "accessScope"],
  sets: ["accessScope.namespaces"],

  async create(aws, inputs) {
    await aws.eks.send(
      new AssociateAccessPolicyCommand({
        clusterName: inputs.clusterName,
        principalArn: inputs.principalArn,
        policyArn: inputs.policyArn,
        accessScope: inputs.accessScope,
      }),
    );
    return `${inputs.clusterName}#${inputs.principalArn}#${inputs.policyArn}`;
  },

  async read(aws, id) {
    const actual = await find(aws, names(id));
    if (!actual) return null;
    return {
      ...names(id),
      accessScope: { type: actual.accessScope?.type, namespaces: actual.accessScope?.namespaces },
      associatedAt: actual.associatedAt?.toISOString(),
      modifiedAt: actual.modifiedAt?.toISOString(),
    };
  },

  async delete(aws, id) {
    await orGone(aws.eks.send(new DisassociateAccessPolicyCommand(names(id))));
  },
});
