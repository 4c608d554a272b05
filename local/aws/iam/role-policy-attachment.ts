import {
  AttachRolePolicyCommand,
  DetachRolePolicyCommand,
  paginateListAttachedRolePolicies,
} from "@aws-sdk/client-iam";
import type { Aws } from "../clients.ts";
import { isGone, orGone } from "../errors.ts";
import { resource, splitImportId } from "../handler.ts";

interface Inputs {
  role: string;
  policyArn: string;
}

async function isAttached(aws: Aws, role: string, policyArn: string): Promise<boolean> {
  try {
    for await (const page of paginateListAttachedRolePolicies({ client: aws.iam }, { RoleName: role }))
      if (page.AttachedPolicies?.some(({ PolicyArn }) => PolicyArn === policyArn)) return true;
  } catch (error) {
    if (!isGone(error)) throw error; // a role that is gone has no attachments
  }
  return false;
}

export const rolePolicyAttachment = resource<Inputs>({
  token: "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
  regional: false,
  inputs: ["role", "policyArn"],
  replaceOn: ["role", "policyArn"],

  async create(aws, { role, policyArn }) {
    await aws.iam.send(new AttachRolePolicyCommand({ RoleName: role, PolicyArn: policyArn }));
    return `${role}/${policyArn}`;
  },

  async read(aws, id) {
    const { role, policyArn } = splitImportId(id, "/", "role", "policyArn") as { role: string; policyArn: string };
    return (await isAttached(aws, role, policyArn)) ? { role, policyArn } : null;
  },

  async delete(aws, _id, { role, policyArn }) {
    await orGone(aws.iam.send(new DetachRolePolicyCommand({ RoleName: role, PolicyArn: policyArn })));
  },
});
