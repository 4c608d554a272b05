import { randomUUID } from "node:crypto";
import * as z from "zod";
import { ownTags, tagging, text } from "../aws/operation.ts";
import { conflict, invalid, notFound, notPossible } from "./errors.ts";
import type { Workspace, WorkspaceRecord } from "./model.ts";
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

/** AWS's default, and its limits (User Guide, "Configure your workspace"). */
const RETENTION_DAYS = { default: 150, most: 1095 };

const workspaceId = text;
const alias = z.string().trim().min(1).max(100).optional();

const onNothing: ApsOperation["authorize"] = () => ({ resource: "*" });

const created = ({ workspaceId: id, arn, status, tags, kmsKeyArn }: Workspace) => ({
  workspaceId: id,
  arn,
  status,
  tags,
  kmsKeyArn,
});

export const workspaceOperations: readonly ApsOperation[] = [
  operation(
    "CreateWorkspace",
    { alias, clientToken, tags: ownTags.default({}), kmsKeyArn: text.optional() },
    (context, { tags }) => ({ resource: "*", ...tagging(tags, apsArn(context, "workspace/*")) }),
    async (context, request) => {
      const { clientToken: token } = request;
      const same = context.store.list().find((record) => token !== undefined && record.clientToken === token);
      if (same !== undefined) return created(sameRequest(same, request).workspace);
      const missing = await context.workspaces.unavailable();
      if (missing !== undefined) throw notPossible(missing);
      if (request.kmsKeyArn !== undefined && !(await context.aws.keyEnabled(request.kmsKeyArn)))
        throw invalid(
          `kmsKeyArn: got ${request.kmsKeyArn}, allowed is the ARN of a KMS key that exists and is enabled`,
        );
      const record = recordOf(context, request);
      await context.store.add(record);
      context.wake(record.workspace.workspaceId);
      return created(record.workspace);
    },
  ),
  operation("DescribeWorkspace", { workspaceId }, onWorkspace, ({ store }, request) => ({
    workspace: store.get(request.workspaceId).workspace,
  })),
  // Nothing here writes vended logs: a workspace never has a logging configuration.
  operation("DescribeLoggingConfiguration", { workspaceId }, onWorkspace, ({ store }, { workspaceId: id }) => {
    store.get(id);
    throw notFound("loggingconfiguration", id, `Logging configuration not found: ${id}`);
  }),
  list("ListWorkspaces", {
    member: "workspaces",
    shape: { alias },
    authorize: onNothing,
    items: ({ store }, { alias: prefix = "" }) =>
      store
        .list()
        .map(({ workspace }) => workspace)
        .filter((workspace) => (workspace.alias ?? "").startsWith(prefix)),
    keyOf: (workspace) => workspace.workspaceId,
    row: ({ prometheusEndpoint: _, ...summary }) => summary,
  }),
  operation("UpdateWorkspaceAlias", { workspaceId, alias, clientToken }, onWorkspace, async (context, request) => {
    await changed(context, request.workspaceId, ({ workspace }) => {
      if (request.alias === undefined) delete workspace.alias;
      else workspace.alias = request.alias;
    });
  }),
  operation("DeleteWorkspace", { workspaceId, clientToken }, onWorkspace, async (context, request) => {
    await changed(context, request.workspaceId, ({ workspace }) => {
      workspace.status = { statusCode: "DELETING" };
    });
  }),
  operation("DescribeWorkspaceConfiguration", { workspaceId }, onWorkspace, ({ store }, request) => {
    const { status, retentionDays } = store.get(request.workspaceId).configuration;
    return {
      workspaceConfiguration: {
        status: { statusCode: status },
        limitsPerLabelSet: [],
        retentionPeriodInDays: retentionDays,
      },
    };
  }),
  operation(
    "UpdateWorkspaceConfiguration",
    {
      workspaceId,
      clientToken,
      retentionPeriodInDays: z.number().int().min(1).max(RETENTION_DAYS.most).optional(),
    },
    onWorkspace,
    (context, { workspaceId: id, retentionPeriodInDays }) =>
      changed(context, id, ({ configuration }) => {
        if (configuration.status !== "ACTIVE")
          throw conflict(
            "workspace",
            id,
            `The configuration of workspace ${id} is ${configuration.status}: wait for it`,
          );
        configuration.status = "UPDATING";
        configuration.retentionDays = retentionPeriodInDays ?? configuration.retentionDays;
        return { status: { statusCode: configuration.status } };
      }),
  ),
];

interface Creation {
  readonly alias?: string | undefined;
  readonly clientToken?: string | undefined;
  readonly kmsKeyArn?: string | undefined;
  readonly tags: Record<string, string>;
}

/** The workspace that the same request made. Throws where its token now comes with another one. */
function sameRequest(record: WorkspaceRecord, { alias: wanted, kmsKeyArn }: Creation): WorkspaceRecord {
  const { workspaceId: id, alias: present, kmsKeyArn: key } = record.workspace;
  if (wanted === present && kmsKeyArn === key) return record;
  throw conflict(
    "workspace",
    id,
    `Workspace ${id} was created with this clientToken and other settings: use a new token`,
  );
}

function recordOf(
  context: ApsContext,
  { alias: name, clientToken: token, kmsKeyArn, tags }: Creation,
): WorkspaceRecord {
  const id = `ws-${randomUUID()}`;
  return {
    number: context.store.freeNumber(),
    workspace: {
      workspaceId: id,
      ...(name === undefined ? {} : { alias: name }),
      arn: apsArn(context, `workspace/${id}`),
      status: { statusCode: "CREATING" },
      prometheusEndpoint: `https://aps-workspaces.${context.region}.amazonaws.com/workspaces/${id}/`,
      createdAt: context.now(),
      tags,
      ...(kmsKeyArn === undefined ? {} : { kmsKeyArn }),
    },
    clientToken: token,
    configuration: { status: "ACTIVE", retentionDays: RETENTION_DAYS.default },
    namespaces: {},
  };
}
