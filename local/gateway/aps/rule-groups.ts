import * as z from "zod";
import { ownTags, stringOf, tagging, text } from "../aws/operation.ts";
import { data, expectSettled, expectYaml } from "./definition.ts";
import { conflict, notFound } from "./errors.ts";
import type { NamespaceRecord, RuleGroupsNamespace, WorkspaceRecord } from "./model.ts";
import {
  type ApsContext,
  type ApsOperation,
  apsArn,
  changed,
  clientToken,
  list,
  onWorkspace,
  operation,
} from "./operation.ts";

const workspaceId = text;
// The pattern of the API reference (CreateRuleGroupsNamespace): it also makes names safe as those of files.
const name = z
  .string()
  .max(64)
  .regex(/^[0-9A-Za-z][-.0-9A-Z_a-z]*$/, {
    error: 'allowed are letters, digits, "-", "." and "_", a letter or digit first',
  });
const named = { workspaceId, name };

/** A rules file (AWS, RuleGroupsNamespaceData): groups with names; what is in them, Prometheus checks. */
const rulesFile = z.object({ groups: z.array(z.object({ name: z.string().min(1), rules: z.array(z.unknown()) })) });

const arnOf = (context: ApsContext, workspace: string, one: string): string =>
  apsArn(context, `rulegroupsnamespace/${workspace}/${one}`);

const onNamespace: ApsOperation["authorize"] = (context, request) => ({
  resource: arnOf(context, stringOf(request["workspaceId"]), stringOf(request["name"])),
});

const answered = ({ name: one, arn, status, tags }: RuleGroupsNamespace) => ({ name: one, arn, status, tags });

export const ruleGroupsOperations: readonly ApsOperation[] = [
  operation(
    "CreateRuleGroupsNamespace",
    { ...named, data, clientToken, tags: ownTags.default({}) },
    (context, request) => {
      const { resource } = onNamespace(context, request);
      return { resource, ...tagging(request["tags"], resource) };
    },
    (context, request) => {
      expectYaml(`rule groups namespace ${request.name}`, request.data, rulesFile);
      return changed(context, request.workspaceId, (record) => {
        const present = findNamespace(record, request.name);
        if (present === undefined) return answered(added(context, record, request).namespace);
        if (request.clientToken !== undefined && present.clientToken === request.clientToken)
          return answered(present.namespace);
        throw conflict(
          "rulegroupsnamespace",
          request.name,
          `Workspace ${request.workspaceId} has a rule groups namespace ${request.name}: update it with PutRuleGroupsNamespace`,
        );
      });
    },
  ),
  operation("DescribeRuleGroupsNamespace", named, onNamespace, ({ store }, request) => ({
    ruleGroupsNamespace: namespaceOf(store.get(request.workspaceId), request.name).namespace,
  })),
  operation("PutRuleGroupsNamespace", { ...named, data, clientToken }, onNamespace, (context, request) => {
    expectYaml(`rule groups namespace ${request.name}`, request.data, rulesFile);
    return changed(context, request.workspaceId, (record) => {
      const { namespace } = namespaceOf(record, request.name);
      expectSettled(namespace, "rulegroupsnamespace", request.name);
      Object.assign(namespace, { data: request.data, modifiedAt: context.now(), status: { statusCode: "UPDATING" } });
      return answered(namespace);
    });
  }),
  operation("DeleteRuleGroupsNamespace", { ...named, clientToken }, onNamespace, async (context, request) => {
    await changed(context, request.workspaceId, (record) => {
      const { namespace } = namespaceOf(record, request.name);
      expectSettled(namespace, "rulegroupsnamespace", request.name);
      namespace.status = { statusCode: "DELETING" };
    });
  }),
  list("ListRuleGroupsNamespaces", {
    member: "ruleGroupsNamespaces",
    shape: { workspaceId, name: z.string().optional() },
    authorize: onWorkspace,
    items: ({ store }, request) =>
      Object.values(store.get(request.workspaceId).namespaces)
        .map(({ namespace }) => namespace)
        .filter((namespace) => namespace.name.startsWith(request.name ?? "")),
    keyOf: (namespace) => namespace.name,
    row: ({ data: _, ...summary }) => summary,
  }),
];

function added(
  context: ApsContext,
  record: WorkspaceRecord,
  request: { name: string; data: string; tags: Record<string, string>; clientToken?: string | undefined },
): NamespaceRecord {
  const made: NamespaceRecord = {
    namespace: {
      arn: arnOf(context, record.workspace.workspaceId, request.name),
      name: request.name,
      status: { statusCode: "CREATING" },
      data: request.data,
      createdAt: context.now(),
      modifiedAt: context.now(),
      tags: request.tags,
    },
    clientToken: request.clientToken,
  };
  record.namespaces[request.name] = made;
  return made;
}

const findNamespace = ({ namespaces }: WorkspaceRecord, one: string): NamespaceRecord | undefined =>
  Object.hasOwn(namespaces, one) ? namespaces[one] : undefined;

function namespaceOf(record: WorkspaceRecord, one: string): NamespaceRecord {
  const found = findNamespace(record, one);
  if (found !== undefined) return found;
  const { workspaceId: id } = record.workspace;
  throw notFound("rulegroupsnamespace", one, `Workspace ${id} has no rule groups namespace ${one}`);
}
