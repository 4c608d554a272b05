import { instanceProfile } from "../../../aws/iam/instance-profile.ts";
import { openIdConnectProvider } from "../../../aws/iam/open-id-connect-provider.ts";
import { policy } from "../../../aws/iam/policy.ts";
import { role } from "../../../aws/iam/role.ts";
import { rolePolicy } from "../../../aws/iam/role-policy.ts";
import { rolePolicyAttachment } from "../../../aws/iam/role-policy-attachment.ts";
import { arn, from, id, reference, required } from "../fields.ts";
import { assigned, joined, type Kind, named } from "../kind.ts";

const group = "iam";

export const kinds: readonly Kind[] = [
  {
    ...{ group, kind: "Role", plural: "roles", handler: role, externalName: named("name") },
    spec: {
      assumeRolePolicy: required("string"),
      description: "string",
      forceDetachPolicies: "boolean",
      maxSessionDuration: "number",
      path: "string",
      permissionsBoundary: "string",
    },
    status: { arn: "string", createDate: "string", uniqueId: "string" },
  },
  {
    ...{ group, kind: "RolePolicy", plural: "rolepolicies", handler: rolePolicy },
    externalName: { kind: "name", input: "name", id: joined(":", "role", "name") },
    spec: { policy: required("string"), role: reference("iam/Role", id, { identifier: true }) },
    status: {},
  },
  {
    ...{ group, kind: "RolePolicyAttachment", plural: "rolepolicyattachments", handler: rolePolicyAttachment },
    // Upstream's id is made up by Terraform; nothing but this controller reads it.
    externalName: { kind: "derived", id: joined("/", "role", "policyArn") },
    spec: { policyArn: reference("iam/Policy", arn), role: reference("iam/Role") },
    status: {},
  },
  {
    ...{ group, kind: "Policy", plural: "policies", handler: policy },
    externalName: {
      kind: "name",
      input: "name",
      id: ({ name, path = "/" }, { accountId, partition }) =>
        `arn:${partition}:iam::${accountId}:policy${String(path)}${String(name)}`,
    },
    spec: { description: "string", path: "string", policy: required("string") },
    status: { arn: "string", attachmentCount: "number", policyId: "string" },
  },
  {
    ...{ group, kind: "OpenIDConnectProvider", plural: "openidconnectproviders", handler: openIdConnectProvider },
    externalName: assigned,
    recover: async (aws, { url }) => {
      const provider = String(url).replace("https://", "");
      const found = `arn:${aws.partition}:iam::${await aws.accountId()}:oidc-provider/${provider}`;
      return (await openIdConnectProvider.read(aws, found, {})) ? found : undefined;
    },
    spec: {
      clientIdList: required("set", { from: "clientIdLists" }),
      thumbprintList: from("thumbprintLists", "strings"),
      url: required("string"),
    },
    status: { arn: "string" },
  },
  {
    ...{ group, kind: "InstanceProfile", plural: "instanceprofiles", handler: instanceProfile },
    externalName: named("name"),
    spec: { path: "string", role: reference("iam/Role") },
    status: { arn: "string", createDate: "string", uniqueId: "string" },
  },
];
