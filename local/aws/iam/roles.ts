/** Roles, and what they may do. */
import * as sdk from "@aws-sdk/client-iam";
import type { Aws } from "../connection.ts";
import { fixed, out } from "../define/fields.ts";
import { define, pairTags } from "../define/resource.ts";
import { orGone } from "../errors.ts";
import { composite } from "../handler.ts";
import { api, policyDocument } from "./common.ts";

/** Takes away all policies of a role, those of others too. */
async function detachAll(aws: Aws, RoleName: string): Promise<void> {
  for await (const page of sdk.paginateListAttachedRolePolicies({ client: api(aws) }, { RoleName }))
    for (const { PolicyArn } of page.AttachedPolicies ?? [])
      await orGone(api(aws).send(new sdk.DetachRolePolicyCommand({ RoleName, PolicyArn })));
  for await (const page of sdk.paginateListRolePolicies({ client: api(aws) }, { RoleName }))
    for (const PolicyName of page.PolicyNames ?? [])
      await orGone(api(aws).send(new sdk.DeleteRolePolicyCommand({ RoleName, PolicyName })));
}

export const role = define({
  token: "aws:iam/role:Role",
  regional: false,
  crossplane: { kind: "iam/Role", named: "name" },
  idOf: ({ name }) => name as string | undefined,
  autoName: { property: "name", maxLength: 64 },
  tags: pairTags(
    (aws, RoleName, Tags) => api(aws).send(new sdk.TagRoleCommand({ RoleName, Tags })),
    (aws, RoleName, TagKeys) => api(aws).send(new sdk.UntagRoleCommand({ RoleName, TagKeys })),
  ),
  fields: {
    name: { fixed, api: "RoleName", crd: null },
    path: { fixed, default: "/" },
    assumeRolePolicy: policyDocument("AssumeRolePolicyDocument"),
    description: {},
    maxSessionDuration: { type: "number", default: 3600 },
    permissionsBoundary: {
      get: ({ PermissionsBoundary: found }) =>
        (found as { PermissionsBoundaryArn?: string } | undefined)?.PermissionsBoundaryArn,
    },
    forceDetachPolicies: { type: "boolean", default: false, api: null, unread: true },
    arn: out(),
    createDate: out(),
    uniqueId: out("RoleId"),
  },
  create: (aws, request) => api(aws).send(new sdk.CreateRoleCommand(request as never)),
  find: async (aws, RoleName) => (await api(aws).send(new sdk.GetRoleCommand({ RoleName }))).Role,
  settings: [
    {
      fields: ["assumeRolePolicy"],
      call: (aws, id, { assumeRolePolicy }) =>
        api(aws).send(new sdk.UpdateAssumeRolePolicyCommand({ RoleName: id, PolicyDocument: assumeRolePolicy })),
    },
    {
      fields: ["description", "maxSessionDuration"],
      call: (aws, RoleName, { description: Description = "", maxSessionDuration: MaxSessionDuration }) =>
        api(aws).send(new sdk.UpdateRoleCommand({ RoleName, Description, MaxSessionDuration })),
    },
    {
      fields: ["permissionsBoundary"],
      call: (aws, RoleName, { permissionsBoundary: PermissionsBoundary }) =>
        PermissionsBoundary
          ? api(aws).send(new sdk.PutRolePermissionsBoundaryCommand({ RoleName, PermissionsBoundary }))
          : api(aws).send(new sdk.DeleteRolePermissionsBoundaryCommand({ RoleName })),
    },
  ],
  async delete(aws, RoleName, { forceDetachPolicies }) {
    const profiles = await api(aws).send(new sdk.ListInstanceProfilesForRoleCommand({ RoleName }));
    for (const { InstanceProfileName } of profiles.InstanceProfiles ?? [])
      await orGone(api(aws).send(new sdk.RemoveRoleFromInstanceProfileCommand({ RoleName, InstanceProfileName })));
    if (forceDetachPolicies) await detachAll(aws, RoleName);
    await api(aws).send(new sdk.DeleteRoleCommand({ RoleName }));
  },
});

const inline = composite(":", "role", "name");

const inlineNames = (id: string) => {
  const { role: RoleName, name: PolicyName } = inline.partsOf(id);
  return { RoleName, PolicyName };
};

export const rolePolicy = define({
  token: "aws:iam/rolePolicy:RolePolicy",
  regional: false,
  crossplane: { kind: "iam/RolePolicy", named: "name" },
  idOf: inline.idOf,
  autoName: { property: "name", maxLength: 128 },
  fields: {
    name: { fixed, api: "PolicyName", crd: null },
    role: { fixed, api: "RoleName", identifier: true, ref: "iam/Role" },
    policy: policyDocument("PolicyDocument"),
  },
  create: (aws, request) => api(aws).send(new sdk.PutRolePolicyCommand(request as never)),
  find: (aws, id) => api(aws).send(new sdk.GetRolePolicyCommand(inlineNames(id))),
  settings: [
    {
      fields: ["policy"],
      call: (aws, id, { policy: PolicyDocument }) =>
        api(aws).send(new sdk.PutRolePolicyCommand({ ...inlineNames(id), PolicyDocument })),
    },
  ],
  delete: (aws, id) => api(aws).send(new sdk.DeleteRolePolicyCommand(inlineNames(id))),
});

const attachment = composite("/", "role", "policyArn");

export const rolePolicyAttachment = define({
  token: "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
  regional: false,
  crossplane: { kind: "iam/RolePolicyAttachment" },
  // Terraform invents an id; nothing but these handlers reads ours.
  idOf: attachment.idOf,
  fields: {
    role: { fixed, api: "RoleName", ref: "iam/Role" },
    policyArn: { fixed },
  },
  create: (aws, request) => api(aws).send(new sdk.AttachRolePolicyCommand(request as never)),
  async find(aws, id) {
    const { role: RoleName, policyArn } = attachment.partsOf(id);
    for await (const page of sdk.paginateListAttachedRolePolicies({ client: api(aws) }, { RoleName }))
      for (const { PolicyArn } of page.AttachedPolicies ?? [])
        if (PolicyArn === policyArn) return { RoleName, PolicyArn };
    return undefined;
  },
  delete: (aws, _id, { role: RoleName, policyArn: PolicyArn }) =>
    api(aws).send(new sdk.DetachRolePolicyCommand({ RoleName, PolicyArn })),
});
