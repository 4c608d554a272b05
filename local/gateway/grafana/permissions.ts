import * as sdk from "@aws-sdk/client-grafana";
import * as z from "zod";
import { text } from "../aws/operation.ts";
import {
  type GrafanaOperation,
  invalid,
  list,
  onWorkspace,
  operation,
  type Permission,
  type WorkspaceRecord,
} from "./model.ts";

const workspaceId = text;
/** Of users and groups in IAM Identity Center (API reference, "User"). There is none here: every ID of this form counts as somebody. */
const id = z.string().regex(/^([0-9a-f]{10}-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, {
  error: "allowed is the ID of a user or group in IAM Identity Center",
});
const userType = z.enum(Object.values(sdk.UserType));
const instruction = z.strictObject({
  action: z.enum(Object.values(sdk.UpdateAction)),
  role: z.enum(Object.values(sdk.Role)),
  users: z.array(z.strictObject({ id, type: userType })),
});

type Instruction = z.output<typeof instruction>;

/** AWS's policy AWSGrafanaWorkspacePermissionManagementV2, without what only its console asks for. */
const DIRECTORY = ["sso:DescribeRegisteredRegions", "sso:GetSharedSsoConfiguration"];

export const permissionOperations: readonly GrafanaOperation[] = [
  list("ListPermissions", {
    member: "permissions",
    shape: {
      workspaceId,
      userType: userType.optional(),
      userId: z.string().optional(),
      groupId: z.string().optional(),
    },
    authorize: onWorkspace,
    items: ({ store }, { workspaceId: workspace, userType: type, userId, groupId }) =>
      store
        .get(workspace)
        .permissions.filter(
          ({ user }) =>
            (type === undefined || user?.type === type) &&
            (userId === undefined || (user?.type === "SSO_USER" && user.id === userId)) &&
            (groupId === undefined || (user?.type === "SSO_GROUP" && user.id === groupId)),
        ),
    keyOf: ({ user }) => `${user?.type} ${user?.id}`,
    row: (permission) => permission,
  }),
  operation(
    "UpdatePermissions",
    { workspaceId, updateInstructionBatch: z.array(instruction).max(20) },
    (context, request) => ({
      ...onWorkspace(context, request),
      also: DIRECTORY.map((action) => ({ action, resource: "*" })),
    }),
    async ({ store }, { workspaceId: workspace, updateInstructionBatch }) => {
      const record = store.get(workspace);
      if (!record.workspace.authentication.providers?.includes("AWS_SSO"))
        throw invalid(
          `Workspace ${workspace} does not use IAM Identity Center: its SAML identity provider says who has which role`,
        );
      return {
        errors: await store.change(record, (copy) => updateInstructionBatch.flatMap((one) => carriedOut(copy, one))),
      };
    },
  ),
];

/** Carries out what can be; an error for what can't. Whoever gets a role loses the one before. */
function carriedOut(record: WorkspaceRecord, { action, role, users }: Instruction): object[] {
  const has =
    (user: Instruction["users"][number]) =>
    ({ user: present }: Permission) =>
      present?.id === user.id && present.type === user.type;
  return users.flatMap((user) => {
    const present = record.permissions.find(has(user));
    if (action === "REVOKE" && present?.role !== role)
      return [{ code: 404, message: `${user.id} has no role ${role}`, causedBy: { action, role, users: [user] } }];
    record.permissions = record.permissions.filter((each) => each !== present);
    if (action === "ADD") record.permissions.push({ user, role });
    return [];
  });
}
