import { parse } from "yaml";
import * as z from "zod";
import { text } from "../aws/operation.ts";
import { data, expectSettled, expectYaml } from "./definition.ts";
import { conflict, notFound } from "./errors.ts";
import type { AlertManagerRecord, WorkspaceRecord } from "./model.ts";
import { type ApsOperation, changed, clientToken, onWorkspace, operation } from "./operation.ts";

const workspaceId = text;

/**
 * Alertmanager's configuration, as far as it is looked at. Of its receivers AMP has SNS and PagerDuty, and an SNS message is signed for a
 * region (User Guide, "Create an alert manager configuration").
 */
const configuration = z
  .object({
    route: z.looseObject({ receiver: z.string().min(1) }),
    receivers: z.array(
      z.strictObject({
        name: z.string().min(1),
        sns_configs: z
          .array(
            z.looseObject({
              topic_arn: z.string().regex(/^arn:[^:]+:sns:[^:]+:\d{12}:[\w-]+$/),
              sigv4: z.looseObject({ region: z.string().min(1) }),
            }),
          )
          .optional(),
        pagerduty_configs: z.array(z.looseObject({})).optional(),
      }),
    ),
  })
  .refine(({ route, receivers }) => receivers.some(({ name }) => name === route.receiver), {
    message: "the route's receiver is not among the receivers",
  });

/** An alert manager definition (AWS, AlertManagerDefinitionData): Alertmanager's configuration as a text, and templates. */
const definition = z.object({
  alertmanager_config: z
    .string()
    .min(1)
    .transform((text, { addIssue }) => {
      try {
        return parse(text) as unknown;
      } catch (error) {
        addIssue(`is not valid YAML: ${(error as Error).message}`);
        return z.NEVER;
      }
    })
    .pipe(configuration),
  template_files: z.record(z.string(), z.string()).optional(),
});

export const alertManagerOperations: readonly ApsOperation[] = [
  operation("CreateAlertManagerDefinition", { workspaceId, data, clientToken }, onWorkspace, (context, request) => {
    expectYaml("alert manager definition", request.data, definition);
    return changed(context, request.workspaceId, (record) => {
      const { alertManager } = record;
      if (alertManager === undefined) {
        const [createdAt, status] = [context.now(), { statusCode: "CREATING" } as const];
        record.alertManager = {
          definition: { data: request.data, createdAt, modifiedAt: createdAt, status },
          clientToken: request.clientToken,
        };
        return { status };
      }
      if (request.clientToken !== undefined && alertManager.clientToken === request.clientToken)
        return { status: alertManager.definition.status };
      throw conflict(
        "alertmanagerdefinition",
        request.workspaceId,
        `Workspace ${request.workspaceId} has an alert manager definition: update it with PutAlertManagerDefinition`,
      );
    });
  }),
  operation("DescribeAlertManagerDefinition", { workspaceId }, onWorkspace, ({ store }, request) => ({
    alertManagerDefinition: definitionOf(store.get(request.workspaceId)).definition,
  })),
  operation("PutAlertManagerDefinition", { workspaceId, data, clientToken }, onWorkspace, (context, request) => {
    expectYaml("alert manager definition", request.data, definition);
    return changed(context, request.workspaceId, (record) => {
      const { definition: present } = definitionOf(record);
      expectSettled(present, "alertmanagerdefinition", request.workspaceId);
      const status = { statusCode: "UPDATING" } as const;
      Object.assign(present, { data: request.data, modifiedAt: context.now(), status });
      return { status };
    });
  }),
  operation("DeleteAlertManagerDefinition", { workspaceId, clientToken }, onWorkspace, async (context, request) => {
    await changed(context, request.workspaceId, (record) => {
      const { definition: present } = definitionOf(record);
      expectSettled(present, "alertmanagerdefinition", request.workspaceId);
      present.status = { statusCode: "DELETING" };
    });
  }),
];

function definitionOf({ alertManager, workspace: { workspaceId: id } }: WorkspaceRecord): AlertManagerRecord {
  if (alertManager === undefined)
    throw notFound("alertmanagerdefinition", id, `Workspace ${id} has no alert manager definition`);
  return alertManager;
}
