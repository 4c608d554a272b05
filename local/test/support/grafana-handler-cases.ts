/** The cases of Managed Grafana. */
import type { HandlerCase } from "./aws-handler-cases.ts";

type Make = Parameters<HandlerCase["inputs"]>[0];

const tags = { team: "platform" };
const otherTags = { stage: "two" };

const trust = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { Service: "grafana.amazonaws.com" }, Action: "sts:AssumeRole" }],
});
async function roleArn(make: Make, name: string): Promise<string> {
  const role = { name, path: "/", assumeRolePolicy: trust, maxSessionDuration: 3600 };
  return `arn:aws:iam::000000000000:role/${await make("aws:iam/role:Role", role)}`;
}

const settings = async (make: Make) => ({
  accountAccessType: "CURRENT_ACCOUNT",
  authenticationProviders: ["AWS_SSO"],
  permissionType: "CUSTOMER_MANAGED",
  roleArn: await roleArn(make, "case-grafana"),
  name: "case",
});

const [first, second] = ["0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", "1a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"];

export const grafanaCases: readonly HandlerCase[] = [
  {
    token: "aws:grafana/workspace:Workspace",
    inputs: async (make) => ({ ...(await settings(make)), grafanaVersion: "10.4", dataSources: ["PROMETHEUS"], tags }),
    change: { name: "other", description: "case", grafanaVersion: "12.4", tags: otherTags },
  },
  {
    token: "aws:grafana/roleAssociation:RoleAssociation",
    inputs: async (make) => ({
      workspaceId: await make("aws:grafana/workspace:Workspace", await settings(make)),
      role: "ADMIN",
      groupIds: [first],
    }),
    change: { groupIds: [second, first] },
  },
];
