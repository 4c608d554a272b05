/** Roles, and what they may do. */
import * as sdk from "@aws-sdk/client-iam";
import type { Aws } from "../connection.ts";
import { fixed, out } from "../define/fields.ts";
import { define, joined, named, pairTags } from "../define/resource.ts";
import { orGone } from "../errors.ts";
import { splitImportId } from "../handler.ts";
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
  crossplane: { kind: "iam/Role", externalName: named("name") },
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
  async create(aws, request, { name }) {
    await api(aws).send(new sdk.CreateRoleCommand(request as never));
    return name;
  },
  find: async (aws, id) => ({ ...(await api(aws).send(new sdk.GetRoleCommand({ RoleName: id }))).Role }),
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

const inline = (id: string) => {
  const { role: RoleName = "", name: PolicyName = "" } = splitImportId(id, ":", "role", "name") as Record<
    string,
    string
  >;
  return { RoleName, PolicyName };
};

export const rolePolicy = define({
  ...{ token: "aws:iam/rolePolicy:RolePolicy", regional: false },
  crossplane: {
    kind: "iam/RolePolicy",
    externalName: { kind: "name", input: "name", id: joined(":", "role", "name") },
  },
  autoName: { property: "name", maxLength: 128 },
  fields: {
    name: { fixed, api: "PolicyName", crd: null },
    role: { fixed, api: "RoleName", identifier: true },
    policy: policyDocument("PolicyDocument"),
  },
  async create(aws, request, inputs) {
    await api(aws).send(new sdk.PutRolePolicyCommand(request as never));
    return `${inputs.role}:${inputs.name}`;
  },
  find: async (aws, id) => ({ ...(await api(aws).send(new sdk.GetRolePolicyCommand(inline(id)))) }),
  settings: [
    {
      fields: ["policy"],
      call: (aws, id, { policy: PolicyDocument }) =>
        api(aws).send(new sdk.PutRolePolicyCommand({ ...inline(id), PolicyDocument })),
    },
  ],
  delete: (aws, id) => api(aws).send(new sdk.DeleteRolePolicyCommand(inline(id))),
});

export const rolePolicyAttachment = define({
  ...{ token: "aws:iam/rolePolicyAttachment:RolePolicyAttachment", regional: false },
  // Terraform invents upstream's id; nothing but this controller reads it.
  crossplane: {
    kind: "iam/RolePolicyAttachment",
    externalName: { kind: "derived", id: joined("/", "role", "policyArn") },
  },
  fields: {
    role: { fixed, api: "RoleName" },
    policyArn: { fixed },
  },
  async create(aws, request, inputs) {
    await api(aws).send(new sdk.AttachRolePolicyCommand(request as never));
    return `${inputs.role}/${inputs.policyArn}`;
  },
  async find(aws, id) {
    const { role: RoleName, policyArn } = splitImportId(id, "/", "role", "policyArn") as Record<string, string>;
    for await (const page of sdk.paginateListAttachedRolePolicies({ client: api(aws) }, { RoleName }))
      for (const { PolicyArn } of page.AttachedPolicies ?? [])
        if (PolicyArn === policyArn) return { RoleName, PolicyArn };
    return undefined;
  },
  delete: (aws, _id, { role: RoleName, policyArn: PolicyArn }) =>
    api(aws).send(new sdk.DetachRolePolicyCommand({ RoleName, PolicyArn })),
});
