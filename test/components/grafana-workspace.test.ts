import { describe, expect, it } from "vitest";
import { GrafanaWorkspace, type GrafanaWorkspaceArgs } from "../../components/grafana-workspace.ts";
import { type Registered, recorded } from "../support/program.ts";

const metricsWorkspaceArn = "arn:aws:aps:eu-central-1:222222222222:workspace/ws-1";
const made = async (args: Partial<GrafanaWorkspaceArgs> = {}) =>
  (await recorded("test", async () => new GrafanaWorkspace("shop", { metricsWorkspaceArn, ...args }))).resources;
const one = (resources: readonly Registered[], type: string) =>
  resources.find((resource) => resource.type.endsWith(`:${type}`)) as Registered;
const document = (resource: Registered, input: string) => JSON.parse(String(resource.inputs[input])).Statement;

describe("GrafanaWorkspace", () => {
  it("makes a workspace for this account with a role of its own, called after the component", async () => {
    const resources = await made();
    expect(resources.filter(({ custom }) => custom).map(({ type }) => type.split(":").at(-1))).toEqual(
      expect.arrayContaining(["Role", "RolePolicy", "Workspace"]),
    );
    expect(one(resources, "Workspace").inputs).toEqual({
      name: "shop",
      accountAccessType: "CURRENT_ACCOUNT",
      authenticationProviders: ["AWS_SSO"],
      permissionType: "CUSTOMER_MANAGED",
      roleArn: "arn:aws:iam::222222222222:role/shop",
      dataSources: ["PROMETHEUS"],
      grafanaVersion: expect.stringMatching(/^\d+\.\d+$/),
    });
  });

  it("lets Grafana assume the role for workspaces of this account and region alone", async () => {
    expect(document(one(await made(), "Role"), "assumeRolePolicy")).toEqual([
      {
        Effect: "Allow",
        Principal: { Service: "grafana.amazonaws.com" },
        Action: ["sts:AssumeRole"],
        Condition: {
          StringEquals: { "aws:SourceAccount": "222222222222" },
          ArnLike: { "aws:SourceArn": "arn:aws:grafana:eu-central-1:222222222222:/workspaces/*" },
        },
      },
    ]);
  });

  it("lets the role query the one workspace for metrics, and do nothing else", async () => {
    const resources = await made();
    expect(document(one(resources, "RolePolicy"), "policy")).toEqual([
      {
        Sid: "QueryMetrics",
        Effect: "Allow",
        Action: ["aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics"],
        Resource: [metricsWorkspaceArn],
      },
    ]);
    expect(resources.filter(({ type }) => type.endsWith(":RolePolicyAttachment"))).toEqual([]);
  });

  it("gives the role the permissions boundary that it is told", async () => {
    const permissionsBoundary = "arn:aws:iam::222222222222:policy/platform";
    expect(one(await made({ permissionsBoundary }), "Role").inputs).toMatchObject({ permissionsBoundary });
  });

  it("takes SAML, and then names no administrators", async () => {
    const resources = await made({ authentication: "SAML" });
    expect(one(resources, "Workspace").inputs["authenticationProviders"]).toEqual(["SAML"]);
    expect(one(resources, "RoleAssociation")).toBeUndefined();
  });

  it("makes the members of groups administrators", async () => {
    const adminGroups = ["0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"];
    expect(one(await made({ adminGroups }), "RoleAssociation").inputs).toMatchObject({
      role: "ADMIN",
      groupIds: adminGroups,
    });
  });
});
