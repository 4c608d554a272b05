/** Roles, what they may do, and who may assume them by web identity. */
import {
  AddClientIDToOpenIDConnectProviderCommand,
  AttachRolePolicyCommand,
  CreateOpenIDConnectProviderCommand,
  CreatePolicyCommand,
  CreatePolicyVersionCommand,
  CreateRoleCommand,
  DeleteOpenIDConnectProviderCommand,
  DeletePolicyCommand,
  DeletePolicyVersionCommand,
  DeleteRoleCommand,
  DeleteRolePermissionsBoundaryCommand,
  DeleteRolePolicyCommand,
  DetachRolePolicyCommand,
  GetOpenIDConnectProviderCommand,
  GetPolicyCommand,
  GetPolicyVersionCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  ListInstanceProfilesForRoleCommand,
  ListPolicyVersionsCommand,
  PutRolePermissionsBoundaryCommand,
  PutRolePolicyCommand,
  paginateListAttachedRolePolicies,
  paginateListRolePolicies,
  RemoveClientIDFromOpenIDConnectProviderCommand,
  RemoveRoleFromInstanceProfileCommand,
  TagOpenIDConnectProviderCommand,
  TagPolicyCommand,
  TagRoleCommand,
  UntagOpenIDConnectProviderCommand,
  UntagPolicyCommand,
  UntagRoleCommand,
  UpdateAssumeRolePolicyCommand,
  UpdateOpenIDConnectProviderThumbprintCommand,
  UpdateRoleCommand,
} from "@aws-sdk/client-iam";
import { samePolicy } from "../compare.ts";
import type { Aws } from "../connection.ts";
import { computed, type Field, fixed, out } from "../define/fields.ts";
import { define, joined, named, type TagCalls } from "../define/resource.ts";
import { orGone } from "../errors.ts";
import { type Handler, splitImportId, type Tags } from "../handler.ts";
import { tagPairs, tagsFrom } from "../tags.ts";

const global = { regional: false } as const;

const tagged = (
  set: (aws: Aws, id: string, Tags: ReturnType<typeof tagPairs>) => Promise<unknown>,
  remove: TagCalls["remove"],
): TagCalls => ({
  request: (tags) => ({ Tags: tagPairs(tags) }),
  of: (_aws, _id, item) => tagsFrom(item["Tags"] as Parameters<typeof tagsFrom>[0]),
  set: (aws, id, tags: Tags) => set(aws, id, tagPairs(tags)),
  remove,
});

/** A policy document: IAM answers with it in the form of a URL. */
const policyDocument = (api: string): Field => ({
  ...{ api, same: samePolicy, required: true },
  get: ({ [api]: document }) => decodeURIComponent((document as string | undefined) ?? ""),
});

/** Takes away all policies of a role, those of others too. */
async function detachAll(aws: Aws, RoleName: string): Promise<void> {
  for await (const page of paginateListAttachedRolePolicies({ client: aws.iam }, { RoleName }))
    for (const { PolicyArn } of page.AttachedPolicies ?? [])
      await orGone(aws.iam.send(new DetachRolePolicyCommand({ RoleName, PolicyArn })));
  for await (const page of paginateListRolePolicies({ client: aws.iam }, { RoleName }))
    for (const PolicyName of page.PolicyNames ?? [])
      await orGone(aws.iam.send(new DeleteRolePolicyCommand({ RoleName, PolicyName })));
}

const role = define({
  ...{ token: "aws:iam/role:Role", ...global },
  crossplane: { kind: "iam/Role", externalName: named("name") },
  autoName: { property: "name", maxLength: 64 },
  tags: tagged(
    (aws, RoleName, Tags) => aws.iam.send(new TagRoleCommand({ RoleName, Tags })),
    (aws, RoleName, TagKeys) => aws.iam.send(new UntagRoleCommand({ RoleName, TagKeys })),
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
    await aws.iam.send(new CreateRoleCommand(request as never));
    return name;
  },
  find: async (aws, id) => ({ ...(await aws.iam.send(new GetRoleCommand({ RoleName: id }))).Role }),
  settings: [
    {
      fields: ["assumeRolePolicy"],
      call: (aws, id, { assumeRolePolicy }) =>
        aws.iam.send(new UpdateAssumeRolePolicyCommand({ RoleName: id, PolicyDocument: assumeRolePolicy })),
    },
    {
      fields: ["description", "maxSessionDuration"],
      call: (aws, RoleName, { description: Description = "", maxSessionDuration: MaxSessionDuration }) =>
        aws.iam.send(new UpdateRoleCommand({ RoleName, Description, MaxSessionDuration })),
    },
    {
      fields: ["permissionsBoundary"],
      call: (aws, RoleName, { permissionsBoundary: PermissionsBoundary }) =>
        PermissionsBoundary
          ? aws.iam.send(new PutRolePermissionsBoundaryCommand({ RoleName, PermissionsBoundary }))
          : aws.iam.send(new DeleteRolePermissionsBoundaryCommand({ RoleName })),
    },
  ],
  async delete(aws, RoleName, { forceDetachPolicies }) {
    const profiles = await aws.iam.send(new ListInstanceProfilesForRoleCommand({ RoleName }));
    for (const { InstanceProfileName } of profiles.InstanceProfiles ?? [])
      await orGone(aws.iam.send(new RemoveRoleFromInstanceProfileCommand({ RoleName, InstanceProfileName })));
    if (forceDetachPolicies) await detachAll(aws, RoleName);
    await aws.iam.send(new DeleteRoleCommand({ RoleName }));
  },
});

const inline = (id: string) => {
  const { role: RoleName = "", name: PolicyName = "" } = splitImportId(id, ":", "role", "name") as Record<
    string,
    string
  >;
  return { RoleName, PolicyName };
};

const rolePolicy = define({
  ...{ token: "aws:iam/rolePolicy:RolePolicy", ...global },
  crossplane: {
    kind: "iam/RolePolicy",
    externalName: { kind: "name", input: "name", id: joined(":", "role", "name") },
  },
  autoName: { property: "name", maxLength: 128 },
  fields: {
    name: { fixed, api: "PolicyName", crd: null },
    role: { fixed, api: "RoleName", identifier: true, ref: { to: "iam/Role", observed: "id" } },
    policy: policyDocument("PolicyDocument"),
  },
  async create(aws, request, inputs) {
    await aws.iam.send(new PutRolePolicyCommand(request as never));
    return `${inputs.role}:${inputs.name}`;
  },
  find: async (aws, id) => ({ ...(await aws.iam.send(new GetRolePolicyCommand(inline(id)))) }),
  settings: [
    {
      fields: ["policy"],
      call: (aws, id, { policy: PolicyDocument }) =>
        aws.iam.send(new PutRolePolicyCommand({ ...inline(id), PolicyDocument })),
    },
  ],
  delete: (aws, id) => aws.iam.send(new DeleteRolePolicyCommand(inline(id))),
});

const rolePolicyAttachment = define({
  ...{ token: "aws:iam/rolePolicyAttachment:RolePolicyAttachment", ...global },
  // Upstream's id is made up by Terraform; nothing but this controller reads it.
  crossplane: {
    kind: "iam/RolePolicyAttachment",
    externalName: { kind: "derived", id: joined("/", "role", "policyArn") },
  },
  fields: {
    role: { fixed, api: "RoleName", ref: { to: "iam/Role" } },
    policyArn: { fixed },
  },
  async create(aws, request, inputs) {
    await aws.iam.send(new AttachRolePolicyCommand(request as never));
    return `${inputs.role}/${inputs.policyArn}`;
  },
  async find(aws, id) {
    const { role: RoleName, policyArn } = splitImportId(id, "/", "role", "policyArn") as Record<string, string>;
    for await (const page of paginateListAttachedRolePolicies({ client: aws.iam }, { RoleName }))
      for (const { PolicyArn } of page.AttachedPolicies ?? [])
        if (PolicyArn === policyArn) return { RoleName, PolicyArn };
    return undefined;
  },
  delete: (aws, _id, { role: RoleName, policyArn: PolicyArn }) =>
    aws.iam.send(new DetachRolePolicyCommand({ RoleName, PolicyArn })),
});

/** AWS keeps at most five versions of a policy. */
const maxVersions = 5;

async function otherVersions(aws: Aws, PolicyArn: string) {
  const versions = await orGone(aws.iam.send(new ListPolicyVersionsCommand({ PolicyArn })));
  return (versions?.Versions ?? [])
    .filter(({ IsDefaultVersion }) => !IsDefaultVersion)
    .sort((a, b) => (a.CreateDate?.getTime() ?? 0) - (b.CreateDate?.getTime() ?? 0));
}

const policy = define({
  ...{ token: "aws:iam/policy:Policy", ...global },
  autoName: { property: "name", maxLength: 128 },
  tags: tagged(
    (aws, PolicyArn, Tags) => aws.iam.send(new TagPolicyCommand({ PolicyArn, Tags })),
    (aws, PolicyArn, TagKeys) => aws.iam.send(new UntagPolicyCommand({ PolicyArn, TagKeys })),
  ),
  fields: {
    name: { fixed, api: "PolicyName" },
    path: { fixed, default: "/" },
    description: { fixed },
    policy: policyDocument("PolicyDocument"),
    arn: out(),
    attachmentCount: out(undefined, { type: "number" }),
    policyId: out(),
  },
  create: async (aws, request) => (await aws.iam.send(new CreatePolicyCommand(request as never))).Policy?.Arn,
  find: async (aws, PolicyArn) => ({ ...(await aws.iam.send(new GetPolicyCommand({ PolicyArn }))).Policy }),
  async also(aws, PolicyArn, { DefaultVersionId }) {
    const version = new GetPolicyVersionCommand({ PolicyArn, VersionId: DefaultVersionId as string });
    return { PolicyDocument: (await aws.iam.send(version)).PolicyVersion?.Document };
  },
  settings: [
    {
      fields: ["policy"],
      async call(aws, PolicyArn, { policy: PolicyDocument }) {
        const others = await otherVersions(aws, PolicyArn);
        if (others.length + 1 >= maxVersions)
          await orGone(aws.iam.send(new DeletePolicyVersionCommand({ PolicyArn, VersionId: others[0]?.VersionId })));
        await aws.iam.send(new CreatePolicyVersionCommand({ PolicyArn, PolicyDocument, SetAsDefault: true }));
      },
    },
  ],
  async delete(aws, PolicyArn) {
    for (const { VersionId } of await otherVersions(aws, PolicyArn))
      await orGone(aws.iam.send(new DeletePolicyVersionCommand({ PolicyArn, VersionId })));
    await aws.iam.send(new DeletePolicyCommand({ PolicyArn }));
  },
});

const withScheme = (url: unknown): string => `https://${String(url).replace("https://", "")}`;

async function provider(aws: Aws, OpenIDConnectProviderArn: string) {
  const found = await aws.iam.send(new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn }));
  return { ...found, Arn: OpenIDConnectProviderArn };
}

const openIdConnectProvider = define({
  ...{ token: "aws:iam/openIdConnectProvider:OpenIdConnectProvider", ...global },
  crossplane: {
    kind: "iam/OpenIDConnectProvider",
    async recover(aws, { url }) {
      const name = String(url).replace("https://", "");
      const arn = `arn:${aws.partition}:iam::${await aws.accountId()}:oidc-provider/${name}`;
      return (await orGone(provider(aws, arn))) && arn;
    },
  },
  tags: tagged(
    (aws, id, Tags) => aws.iam.send(new TagOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: id, Tags })),
    (aws, id, TagKeys) =>
      aws.iam.send(new UntagOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: id, TagKeys })),
  ),
  fields: {
    // AWS returns the URL without its scheme.
    url: { fixed, required: true, same: (a, b) => withScheme(a) === withScheme(b) },
    clientIdLists: { type: "set", api: "ClientIDList", crd: "clientIdList", required: true },
    thumbprintLists: { computed, type: "strings", api: "ThumbprintList", crd: "thumbprintList" },
    arn: out(),
  },
  create: async (aws, request) =>
    (await aws.iam.send(new CreateOpenIDConnectProviderCommand(request as never))).OpenIDConnectProviderArn,
  find: provider,
  settings: [
    {
      fields: ["clientIdLists"],
      async call(aws, OpenIDConnectProviderArn, { clientIdLists: now = [] }, { old: { clientIdLists: before = [] } }) {
        const of = { OpenIDConnectProviderArn };
        for (const ClientID of now.filter((id) => !before.includes(id)))
          await aws.iam.send(new AddClientIDToOpenIDConnectProviderCommand({ ...of, ClientID }));
        for (const ClientID of before.filter((id) => !now.includes(id)))
          await aws.iam.send(new RemoveClientIDFromOpenIDConnectProviderCommand({ ...of, ClientID }));
      },
    },
    {
      fields: ["thumbprintLists"],
      call: (aws, OpenIDConnectProviderArn, { thumbprintLists: ThumbprintList }) =>
        aws.iam.send(new UpdateOpenIDConnectProviderThumbprintCommand({ OpenIDConnectProviderArn, ThumbprintList })),
    },
  ],
  delete: (aws, id) => aws.iam.send(new DeleteOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: id })),
});

export const iamResources: readonly Handler[] = [
  ...[openIdConnectProvider, policy, role, rolePolicy, rolePolicyAttachment],
];
