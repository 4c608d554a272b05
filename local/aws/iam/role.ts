import {
  CreateRoleCommand,
  DeleteRoleCommand,
  DeleteRolePermissionsBoundaryCommand,
  DeleteRolePolicyCommand,
  DetachRolePolicyCommand,
  GetRoleCommand,
  ListInstanceProfilesForRoleCommand,
  PutRolePermissionsBoundaryCommand,
  paginateListAttachedRolePolicies,
  paginateListRolePolicies,
  RemoveRoleFromInstanceProfileCommand,
  TagRoleCommand,
  UntagRoleCommand,
  UpdateAssumeRolePolicyCommand,
  UpdateRoleCommand,
} from "@aws-sdk/client-iam";
import type { Aws } from "../clients.ts";
import { samePolicy } from "../compare.ts";
import { orGone } from "../errors.ts";
import { resource, type Tagged } from "../handler.ts";
import { syncTags, tagPairs, tagsFrom } from "../tags.ts";
import { iamTags } from "./tags.ts";

interface Inputs extends Tagged {
  name: string;
  path?: string;
  assumeRolePolicy: string;
  description?: string;
  maxSessionDuration?: number;
  permissionsBoundary?: string;
  forceDetachPolicies?: boolean;
}

async function detachAll(aws: Aws, role: string): Promise<void> {
  for await (const page of paginateListAttachedRolePolicies({ client: aws.iam }, { RoleName: role }))
    for (const { PolicyArn } of page.AttachedPolicies ?? [])
      await orGone(aws.iam.send(new DetachRolePolicyCommand({ RoleName: role, PolicyArn })));
  for await (const page of paginateListRolePolicies({ client: aws.iam }, { RoleName: role }))
    for (const name of page.PolicyNames ?? [])
      await orGone(aws.iam.send(new DeleteRolePolicyCommand({ RoleName: role, PolicyName: name })));
}

async function leaveInstanceProfiles(aws: Aws, role: string): Promise<void> {
  const profiles = await orGone(aws.iam.send(new ListInstanceProfilesForRoleCommand({ RoleName: role })));
  for (const { InstanceProfileName } of profiles?.InstanceProfiles ?? [])
    await orGone(aws.iam.send(new RemoveRoleFromInstanceProfileCommand({ RoleName: role, InstanceProfileName })));
}

export const role = resource<Inputs>({
  token: "aws:iam/role:Role",
  regional: false,
  tagged: true,
  inputs: [
    ...["name", "path", "assumeRolePolicy", "description", "maxSessionDuration", "permissionsBoundary"],
    "forceDetachPolicies",
  ],
  replaceOn: ["name", "path"],
  defaults: { path: "/", maxSessionDuration: 3600, forceDetachPolicies: false },
  autoName: { property: "name", maxLength: 64 },
  compare: { assumeRolePolicy: samePolicy },
  unread: ["forceDetachPolicies"],

  async create(aws, inputs) {
    await aws.iam.send(
      new CreateRoleCommand({
        RoleName: inputs.name,
        Path: inputs.path,
        AssumeRolePolicyDocument: inputs.assumeRolePolicy,
        Description: inputs.description,
        MaxSessionDuration: inputs.maxSessionDuration,
        PermissionsBoundary: inputs.permissionsBoundary,
        ...iamTags(inputs.tagsAll),
      }),
    );
    return inputs.name;
  },

  async read(aws, id) {
    const actual = (await orGone(aws.iam.send(new GetRoleCommand({ RoleName: id }))))?.Role;
    if (!actual) return null;
    return {
      arn: actual.Arn,
      assumeRolePolicy: decodeURIComponent(actual.AssumeRolePolicyDocument ?? ""),
      createDate: actual.CreateDate?.toISOString(),
      description: actual.Description || undefined,
      maxSessionDuration: actual.MaxSessionDuration,
      name: actual.RoleName,
      path: actual.Path,
      permissionsBoundary: actual.PermissionsBoundary?.PermissionsBoundaryArn || undefined,
      tagsAll: tagsFrom(actual.Tags),
      uniqueId: actual.RoleId,
    };
  },

  async update(aws, id, change) {
    const { new: inputs } = change;
    const role = { RoleName: id };
    if (change.has("assumeRolePolicy"))
      await aws.iam.send(new UpdateAssumeRolePolicyCommand({ ...role, PolicyDocument: inputs.assumeRolePolicy }));
    if (change.has("description", "maxSessionDuration"))
      await aws.iam.send(
        new UpdateRoleCommand({
          ...role,
          Description: inputs.description ?? "",
          MaxSessionDuration: inputs.maxSessionDuration,
        }),
      );
    if (change.has("permissionsBoundary"))
      await (inputs.permissionsBoundary
        ? aws.iam.send(
            new PutRolePermissionsBoundaryCommand({ ...role, PermissionsBoundary: inputs.permissionsBoundary }),
          )
        : aws.iam.send(new DeleteRolePermissionsBoundaryCommand(role)));
    await syncTags(
      change,
      (tags) => aws.iam.send(new TagRoleCommand({ ...role, Tags: tagPairs(tags) })),
      (keys) => aws.iam.send(new UntagRoleCommand({ ...role, TagKeys: keys })),
    );
  },

  async delete(aws, id, last) {
    await leaveInstanceProfiles(aws, id);
    if (last.forceDetachPolicies) await detachAll(aws, id);
    await orGone(aws.iam.send(new DeleteRoleCommand({ RoleName: id })));
  },
});
