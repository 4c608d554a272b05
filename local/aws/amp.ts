/** Managed Prometheus: workspaces, their rules and what their alert manager does. */
import * as sdk from "@aws-sdk/client-amp";
import type { Aws } from "./connection.ts";
import { fixed, type Item, out } from "./define/fields.ts";
import { define, type TagCalls } from "./define/resource.ts";
import { orGone } from "./errors.ts";
import type { Handler } from "./handler.ts";
import { ownTags } from "./tags.ts";

const api = (aws: Aws) => aws.client(sdk.AmpClient);

const tags: TagCalls = {
  request: (all) => ({ tags: all }),
  of: (_aws, _id, { tags: found }) => ownTags(found as Record<string, string> | undefined),
  set: (aws, resourceArn, all) => api(aws).send(new sdk.TagResourceCommand({ resourceArn, tags: all })),
  remove: (aws, resourceArn, tagKeys) => api(aws).send(new sdk.UntagResourceCommand({ resourceArn, tagKeys })),
  target: ({ arn }) => arn as string,
};

type Status = { readonly statusCode?: string; readonly statusReason?: string } | undefined;

/** What AWS works on in its own time. */
const states = (what: string) => ({
  what,
  of: ({ status }: Item) => (status as Status)?.statusCode,
  usable: ["ACTIVE"],
  pending: ["CREATING", "UPDATING"],
  leaving: ["DELETING"],
  reason: ({ status }: Item) => (status as Status)?.statusReason,
});

/** A document that the API has as bytes. */
const document = {
  api: "data",
  put: (text: string) => Buffer.from(text),
  get: ({ data }: Item) => Buffer.from(data as Uint8Array).toString("utf8"),
} as const;

const workspace = define({
  token: "aws:amp/workspace:Workspace",
  case: "camel",
  tags,
  states: states("Prometheus workspace"),
  fields: {
    alias: {},
    kmsKeyArn: { fixed },
    arn: out(),
    prometheusEndpoint: out(),
  },
  create: async (aws, request) => (await api(aws).send(new sdk.CreateWorkspaceCommand(request))).workspaceId,
  find: async (aws, workspaceId) => {
    const { workspace: found } = await api(aws).send(new sdk.DescribeWorkspaceCommand({ workspaceId }));
    // The provider reads it too, and needs the right to (terraform-provider-aws, internal/service/amp/workspace.go).
    await orGone(api(aws).send(new sdk.DescribeLoggingConfigurationCommand({ workspaceId })));
    return found;
  },
  settings: [
    {
      fields: ["alias"],
      call: (aws, workspaceId, { alias }) =>
        api(aws).send(new sdk.UpdateWorkspaceAliasCommand({ workspaceId, ...(alias && { alias }) })),
      settles: true,
    },
  ],
  delete: (aws, workspaceId) => api(aws).send(new sdk.DeleteWorkspaceCommand({ workspaceId })),
});

/** The workspace and the name in the ARN of a rule groups namespace, which is its id (as in Terraform). */
function namespaceOf(arn: string): { workspaceId: string; name: string } {
  const [, workspaceId, name] = /:rulegroupsnamespace\/([^/]+)\/([^/]+)$/.exec(arn) ?? [];
  if (workspaceId === undefined || name === undefined)
    throw new Error(`id "${arn}" is not the ARN of a rule groups namespace, …:rulegroupsnamespace/<workspace>/<name>`);
  return { workspaceId, name };
}

const ruleGroupNamespace = define({
  token: "aws:amp/ruleGroupNamespace:RuleGroupNamespace",
  case: "camel",
  autoName: { property: "name", maxLength: 64 },
  tags,
  states: states("rule groups namespace"),
  fields: {
    workspaceId: { fixed, get: (_item, { id }) => namespaceOf(id).workspaceId },
    name: { fixed },
    data: document,
    arn: out(),
  },
  create: async (aws, request) => (await api(aws).send(new sdk.CreateRuleGroupsNamespaceCommand(request as never))).arn,
  find: async (aws, id) =>
    (await api(aws).send(new sdk.DescribeRuleGroupsNamespaceCommand(namespaceOf(id)))).ruleGroupsNamespace,
  settings: [
    {
      fields: ["data"],
      call: (aws, id, { data = "" }) =>
        api(aws).send(new sdk.PutRuleGroupsNamespaceCommand({ ...namespaceOf(id), data: document.put(data) })),
      settles: true,
    },
  ],
  delete: (aws, id) => api(aws).send(new sdk.DeleteRuleGroupsNamespaceCommand(namespaceOf(id))),
});

const alertManagerDefinition = define({
  token: "aws:amp/alertManagerDefinition:AlertManagerDefinition",
  case: "camel",
  // A workspace has one at most.
  deleteBeforeReplace: true,
  idOf: ({ workspaceId }) => workspaceId as string | undefined,
  states: states("alert manager definition of workspace"),
  fields: {
    workspaceId: { fixed, get: (_item, { id }) => id },
    definition: document,
  },
  create: (aws, request) => api(aws).send(new sdk.CreateAlertManagerDefinitionCommand(request as never)),
  find: async (aws, workspaceId) =>
    (await api(aws).send(new sdk.DescribeAlertManagerDefinitionCommand({ workspaceId }))).alertManagerDefinition,
  settings: [
    {
      fields: ["definition"],
      call: (aws, workspaceId, { definition = "" }) =>
        api(aws).send(new sdk.PutAlertManagerDefinitionCommand({ workspaceId, data: document.put(definition) })),
      settles: true,
    },
  ],
  delete: (aws, workspaceId) => api(aws).send(new sdk.DeleteAlertManagerDefinitionCommand({ workspaceId })),
});

export const ampResources: readonly Handler[] = [workspace, ruleGroupNamespace, alertManagerDefinition];
