import { randomBytes } from "node:crypto";
import * as sdk from "@aws-sdk/client-grafana";
import * as z from "zod";
import { type Authorization, ownTags, passedRole, tagging, text, type Unchecked } from "../aws/operation.ts";
import {
  changed,
  type GrafanaContext,
  type GrafanaOperation,
  invalid,
  list,
  onWorkspace,
  operation,
  type WorkspaceRecord,
  workspaceArn,
} from "./model.ts";

/** The versions that AWS offers (@pulumi/aws 7.48.0, `grafanaVersion` of aws.grafana.Workspace), oldest first. */
const VERSIONS = ["9.4", "10.4", "12.4"] as const;
const LATEST = "12.4";

const workspaceId = text;
const grafanaVersion = z.enum(VERSIONS);
const configuration = z.string().min(2).max(65_536);

/** What a workspace is made of, and what an update may change. Of the kinds of access and permissions it has those without stack sets. */
const settings = {
  workspaceName: z.string().regex(/^[\w.~-]{1,255}$/, { error: "allowed are 1 to 255 letters, digits and -._~" }),
  workspaceDescription: z.string().max(2048),
  workspaceDataSources: z.array(z.enum(Object.values(sdk.DataSourceType))),
  workspaceRoleArn: text,
};
const changes = z.object(settings).partial().shape;
const kinds = { accountAccessType: z.literal("CURRENT_ACCOUNT"), permissionType: z.literal("CUSTOMER_MANAGED") };

type Changes = z.output<z.ZodObject<typeof changes>>;

/**
 * What IAM Identity Center is asked for with the caller's rights, for a workspace whose people sign in by it (Service Authorization
 * Reference; handlers of CloudFormation's AWS::Grafana::Workspace).
 */
const SIGN_IN = {
  made: [
    ...["organizations:DescribeOrganization", "sso:CreateManagedApplicationInstance"],
    ...["sso:DescribeRegisteredRegions", "sso:GetSharedSsoConfiguration"],
  ],
  removed: ["sso:DeleteManagedApplicationInstance", "sso:DescribeRegisteredRegions"],
};

const signIn = (providers: unknown, rights: readonly string[]): NonNullable<Authorization["also"]> =>
  Array.isArray(providers) && providers.includes("AWS_SSO") ? rights.map((action) => ({ action, resource: "*" })) : [];

const handingOver = ({ workspaceRoleArn }: Unchecked) => ({
  passRoles: passedRole(workspaceRoleArn, "grafana.amazonaws.com"),
});

export const workspaceOperations: readonly GrafanaOperation[] = [
  operation(
    "CreateWorkspace",
    {
      ...changes,
      ...kinds,
      workspaceRoleArn: text,
      authenticationProviders: z.array(z.enum(["AWS_SSO", "SAML"])).min(1),
      grafanaVersion: grafanaVersion.default(LATEST),
      configuration: configuration.default("{}"),
      clientToken: z.string().optional(),
      tags: ownTags.default({}),
    },
    (context, request) => ({
      resource: "*",
      ...handingOver(request),
      also: [
        ...(tagging(request["tags"], workspaceArn(context, "*")).also ?? []),
        ...signIn(request["authenticationProviders"], SIGN_IN.made),
      ],
    }),
    async (context, request) => {
      const { clientToken, authenticationProviders, grafanaVersion: version, tags, ...rest } = request;
      const same = context.store
        .all()
        .find((record) => clientToken !== undefined && record.clientToken === clientToken);
      if (same !== undefined) return { workspace: same.workspace };
      expectJson(rest.configuration);
      await expectRole(context, rest.workspaceRoleArn);
      const id = `g-${randomBytes(5).toString("hex")}`;
      const record: WorkspaceRecord = {
        workspace: {
          id,
          ...described(rest),
          ...{ accountAccessType: rest.accountAccessType, permissionType: rest.permissionType },
          dataSources: rest.workspaceDataSources ?? [],
          authentication: {
            providers: authenticationProviders,
            ...(authenticationProviders.includes("SAML") && { samlConfigurationStatus: "NOT_CONFIGURED" }),
          },
          endpoint: `${id}.grafana-workspace.${context.region}.amazonaws.com`,
          grafanaVersion: version,
          ...{ created: context.now(), modified: context.now(), status: "CREATING", tags },
          ...{ notificationDestinations: [], organizationalUnits: [] },
        },
        clientToken,
        configuration: rest.configuration,
        permissions: [],
      };
      await context.store.add(record);
      context.wake(id);
      return { workspace: record.workspace };
    },
  ),
  operation("DescribeWorkspace", { workspaceId }, onWorkspace, ({ store }, { workspaceId: id }) => ({
    workspace: store.get(id).workspace,
  })),
  list("ListWorkspaces", {
    member: "workspaces",
    shape: {},
    authorize: () => ({ resource: "*" }),
    items: ({ store }) => store.all().map(({ workspace }) => workspace),
    keyOf: ({ id }) => id,
    row: ({
      dataSources: _,
      accountAccessType: _a,
      organizationalUnits: _o,
      permissionType: _p,
      workspaceRoleArn: _r,
      ...summary
    }) => summary,
  }),
  operation(
    "UpdateWorkspace",
    { workspaceId, ...changes, ...z.object(kinds).partial().shape },
    (context, request) => ({ ...onWorkspace(context, request), ...handingOver(request) }),
    async (context, { workspaceId: id, ...request }) => {
      if (request.workspaceRoleArn !== undefined) await expectRole(context, request.workspaceRoleArn);
      const workspace = await changed(context, id, "UPDATING", (record) =>
        Object.assign(record.workspace, described(request)),
      );
      return { workspace };
    },
  ),
  operation(
    "DeleteWorkspace",
    { workspaceId },
    (context, request) => {
      const { providers } = context.store.find(String(request["workspaceId"]))?.workspace.authentication ?? {};
      return { ...onWorkspace(context, request), also: signIn(providers, SIGN_IN.removed) };
    },
    async (context, { workspaceId: id }) => ({ workspace: await changed(context, id, "DELETING") }),
  ),
  operation("DescribeWorkspaceConfiguration", { workspaceId }, onWorkspace, ({ store }, { workspaceId: id }) => {
    const { configuration: present, workspace } = store.get(id);
    return { configuration: present, grafanaVersion: workspace.grafanaVersion };
  }),
  operation(
    "UpdateWorkspaceConfiguration",
    { workspaceId, configuration, grafanaVersion: grafanaVersion.optional() },
    onWorkspace,
    async (context, { workspaceId: id, configuration: wanted, grafanaVersion: version }) => {
      expectJson(wanted);
      const { grafanaVersion: present } = context.store.get(id).workspace;
      const raised = version !== undefined && version !== present;
      if (raised && Number(version) < Number(present))
        throw invalid(`grafanaVersion: workspace ${id} runs ${present}, and can't go back to ${version}`);
      await changed(context, id, raised ? "VERSION_UPDATING" : "UPDATING", (record) => {
        record.configuration = wanted;
        if (raised) record.workspace.grafanaVersion = version;
      });
      return {};
    },
  ),
];

/** Members of a workspace as a request calls them and as a description does. */
const described = ({ workspaceName, workspaceDescription, workspaceDataSources, workspaceRoleArn }: Changes) => ({
  ...(workspaceName !== undefined && { name: workspaceName }),
  ...(workspaceDescription !== undefined && { description: workspaceDescription }),
  ...(workspaceDataSources !== undefined && { dataSources: workspaceDataSources }),
  ...(workspaceRoleArn !== undefined && { workspaceRoleArn }),
});

async function expectRole({ aws }: GrafanaContext, arn: string): Promise<void> {
  const role = await aws.role(arn.split("/").at(-1) ?? "");
  if (role?.arn !== arn) throw invalid(`workspaceRoleArn: got ${arn}, allowed is the ARN of a role of this account`);
}

function expectJson(document: string): void {
  try {
    JSON.parse(document);
  } catch (error) {
    throw invalid(`configuration: is not valid JSON: ${(error as Error).message}`);
  }
}
