/** Managed Grafana: workspaces, and which users and groups of IAM Identity Center have a role in them. */
import type * as Sdk from "@aws-sdk/client-grafana";
import { sameJson } from "./compare.ts";
import type { Aws } from "./connection.ts";
import { computed, fixed, type Item, out } from "./define/fields.ts";
import { define } from "./define/resource.ts";
import { composite, type Handler } from "./handler.ts";
import { ownTags } from "./tags.ts";

/** Hardly any stack calls it: the SDK's client is loaded by the first call. */
async function call<T>(aws: Aws, run: (client: Sdk.GrafanaClient, sdk: typeof Sdk) => Promise<T>): Promise<T> {
  const sdk = await import("@aws-sdk/client-grafana");
  return run(aws.client(sdk.GrafanaClient), sdk);
}

/** A member of a description, which a request calls otherwise. */
const described = (name: string) => (item: Item) => item[name];

const workspace = define({
  token: "aws:grafana/workspace:Workspace",
  case: "camel",
  autoName: { property: "name", maxLength: 255 },
  tags: {
    request: (tags) => ({ tags }),
    of: (_aws, _id, { tags }) => ownTags(tags as Record<string, string> | undefined),
    set: (aws, resourceArn, tags) =>
      call(aws, (client, sdk) => client.send(new sdk.TagResourceCommand({ resourceArn, tags }))),
    remove: (aws, resourceArn, tagKeys) =>
      call(aws, (client, sdk) => client.send(new sdk.UntagResourceCommand({ resourceArn, tagKeys }))),
    target: ({ arn }) => arn as string,
  },
  states: {
    what: "Grafana workspace",
    of: ({ status }) => status as string | undefined,
    usable: ["ACTIVE"],
    pending: ["CREATING", "UPDATING", "VERSION_UPDATING"],
    leaving: ["DELETING"],
  },
  fields: {
    accountAccessType: {},
    authenticationProviders: {
      fixed,
      type: "strings",
      get: ({ authentication }) => (authentication as Item | undefined)?.["providers"],
    },
    configuration: { computed, same: sameJson },
    dataSources: { type: "strings", api: "workspaceDataSources", get: described("dataSources") },
    description: { api: "workspaceDescription", get: described("description") },
    grafanaVersion: { computed },
    name: { computed, api: "workspaceName", get: described("name") },
    permissionType: {},
    roleArn: { api: "workspaceRoleArn" },
    arn: out(),
    endpoint: out(),
    samlConfigurationStatus: out(
      ({ authentication }) => (authentication as Item | undefined)?.["samlConfigurationStatus"],
    ),
  },
  create: (aws, request) =>
    call(aws, async (client, sdk) => {
      const { workspace: made } = await client.send(new sdk.CreateWorkspaceCommand(request as never));
      return made?.id;
    }),
  find: async (aws, workspaceId) => {
    const { workspace: found } = await call(aws, (client, sdk) =>
      client.send(new sdk.DescribeWorkspaceCommand({ workspaceId })),
    );
    const account = `${aws.partition}:grafana:${aws.region}:${await aws.accountId()}`;
    return { ...found, arn: `arn:${account}:/workspaces/${workspaceId}` };
  },
  // The provider reads it at once (terraform-provider-aws, internal/service/grafana/workspace.go).
  also: async (aws, workspaceId) => {
    const { configuration } = await call(aws, (client, sdk) =>
      client.send(new sdk.DescribeWorkspaceConfigurationCommand({ workspaceId })),
    );
    // The SDK has JSON as an object of its own.
    return { configuration: String(configuration) };
  },
  settings: [
    {
      fields: ["accountAccessType", "dataSources", "description", "name", "permissionType", "roleArn"],
      call: (aws, workspaceId, inputs, { has }) =>
        call(aws, (client, sdk) =>
          client.send(
            new sdk.UpdateWorkspaceCommand({
              workspaceId,
              ...(has("accountAccessType") && { accountAccessType: inputs.accountAccessType as never }),
              ...(has("dataSources") && { workspaceDataSources: (inputs.dataSources ?? []) as never }),
              ...(has("description") && { workspaceDescription: inputs.description ?? "" }),
              ...(has("name") && { workspaceName: inputs.name }),
              ...(has("permissionType") && { permissionType: inputs.permissionType as never }),
              ...(has("roleArn") && { workspaceRoleArn: inputs.roleArn }),
            }),
          ),
        ),
      settles: true,
    },
    {
      fields: ["configuration", "grafanaVersion"],
      call: (aws, workspaceId, { configuration, grafanaVersion }, { old, has }) =>
        call(aws, (client, sdk) =>
          client.send(
            new sdk.UpdateWorkspaceConfigurationCommand({
              workspaceId,
              configuration: configuration ?? old.configuration ?? "{}",
              ...(has("grafanaVersion") && { grafanaVersion }),
            }),
          ),
        ),
      settles: true,
    },
  ],
  delete: (aws, workspaceId) =>
    call(aws, (client, sdk) => client.send(new sdk.DeleteWorkspaceCommand({ workspaceId }))),
});

const association = composite("/", "workspaceId", "role");

interface Members {
  readonly role?: string;
  readonly groupIds?: string[];
  readonly userIds?: string[];
}

/** Gives users and groups a role, or takes it away. */
async function update(aws: Aws, id: string, action: Sdk.UpdateAction, { role, groupIds, userIds }: Members) {
  const instructions = Object.entries({ SSO_GROUP: groupIds, SSO_USER: userIds }).flatMap(([type, ids = []]) =>
    ids.length === 0 ? [] : [{ action, role, users: ids.map((one) => ({ id: one, type })) } as Sdk.UpdateInstruction],
  );
  const { workspaceId } = association.partsOf(id);
  const request = { workspaceId, updateInstructionBatch: instructions };
  const { errors = [] } = await call(aws, (client, sdk) => client.send(new sdk.UpdatePermissionsCommand(request)));
  if (errors.length > 0) throw new Error(errors.map(({ code, message }) => `${code}: ${message}`).join("; "));
}

const roleAssociation = define({
  token: "aws:grafana/roleAssociation:RoleAssociation",
  case: "camel",
  idOf: association.idOf,
  fields: {
    workspaceId: { fixed },
    role: {},
    groupIds: { type: "set" },
    userIds: { type: "set" },
  },
  create: (aws, _request, inputs) => update(aws, association.idOf(inputs) as string, "ADD", inputs),
  // All who have the role, whoever gave it to them.
  async find(aws, id, { role = association.partsOf(id).role }) {
    const { workspaceId } = association.partsOf(id);
    const found = await call(aws, async (client, sdk) => {
      const all: Sdk.PermissionEntry[] = [];
      for await (const { permissions = [] } of sdk.paginateListPermissions({ client }, { workspaceId }))
        all.push(...permissions);
      return all.filter((permission) => permission.role === role);
    });
    const ids = (type: Sdk.UserType) => found.flatMap(({ user }) => (user?.type === type && user.id ? user.id : []));
    return found.length > 0 ? { workspaceId, role, groupIds: ids("SSO_GROUP"), userIds: ids("SSO_USER") } : undefined;
  },
  settings: [
    {
      // As the provider: who is not named any more keeps the role (terraform-provider-aws, internal/service/grafana/role_association.go).
      fields: ["role", "groupIds", "userIds"],
      call: (aws, id, inputs) => update(aws, id, "ADD", inputs),
    },
  ],
  delete: (aws, id, last) => update(aws, id, "REVOKE", last),
});

export const grafanaResources: readonly Handler[] = [workspace, roleAssociation];
