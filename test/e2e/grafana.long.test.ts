import { join } from "node:path";
import { AmpClient, ListWorkspacesCommand as ListMetricsWorkspaces } from "@aws-sdk/client-amp";
import {
  DescribeWorkspaceCommand,
  GrafanaClient,
  ListPermissionsCommand,
  ListWorkspacesCommand,
} from "@aws-sdk/client-grafana";
import {
  CreateRoleCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  DeleteUserPolicyCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  PutRolePolicyCommand,
  PutUserPolicyCommand,
} from "@aws-sdk/client-iam";
import { prepareAddons } from "@eks-gitops-fleet/local/cli";
import { signedCalls } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deployerPolicies } from "../../lib/iam/deployer.ts";
import { serviceAccountTrust } from "../../lib/iam/trust.ts";
import { fleetNames } from "../../lib/names.ts";
import { outcome, succeeds } from "../support/process.ts";
import { account, instance, outputs, pulumi, scratch, tryPulumi, upWith } from "./support/fleet.ts";
import { actingAs, assume, serviceAccountToken } from "./support/identity.ts";

/** Grafana over the fleet's metrics (docs/guides/metrics.md), as far as AWS's API goes: no Grafana runs here. */

const region = "us-east-1";
const accountId = "000000000000";
const client = { region, endpoint: instance.awsEndpoint, credentials: account.sts.config.credentials };
const [grafana, amp] = [new GrafanaClient(client), new AmpClient(client)];
const call = signedCalls({ instance }, `aps-workspaces.${region}.amazonaws.com`, { service: "aps", region });

const [first, second] = ["0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", "1a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"] as const;
const deployerPolicy = { UserName: "deployer", PolicyName: "deployer-grafana" };
const RoleName = fleetNames("fleet").grafanaRole;
const roleArn = `arn:aws:iam::${accountId}:role/${RoleName}`;
/** May what Grafana's role may, and is assumed by a service account, which Grafana's is not. */
const twin = { RoleName: `${RoleName}-twin`, arn: `${roleArn}-twin`, PolicyName: "twin" };
const anybody = { namespace: "default", name: "default" };

const up = (groups: readonly string[]) =>
  upWith((config) => ({ ...config, metrics: "amp", grafana: "amg", grafanaAdminGroups: groups }));
const workspaces = async () => (await grafana.send(new ListWorkspacesCommand())).workspaces ?? [];
const granted = async (workspaceId: string) =>
  (await grafana.send(new ListPermissionsCommand({ workspaceId }))).permissions;
const policyOf = async (): Promise<string> => {
  const { PolicyDocument = "" } = await account.iam.send(new GetRolePolicyCommand({ RoleName, PolicyName: RoleName }));
  return decodeURIComponent(PolicyDocument);
};

let id = "";
let metrics = "";

beforeAll(() => prepareAddons(instance, ["prometheus"]));
afterAll(async () => {
  await pulumi(["up", "--yes", "--skip-preview"]);
  await outcome(account.iam.send(new DeleteUserPolicyCommand(deployerPolicy)));
  expect(await workspaces()).toEqual([]);
  expect((await amp.send(new ListMetricsWorkspaces())).workspaces).toEqual([]);
});

test("a deployer without the policy for it makes no Grafana, and goes on once it has the policy", async () => {
  await expect(up([first])).rejects.toThrow("grafana:CreateWorkspace");
  expect(await workspaces()).toEqual([]);
  const scope = { fleet: "fleet", region, accountId, partition: "aws", dnsSuffix: "amazonaws.com" };
  const policies = deployerPolicies({ ...scope, grafana: "AWS_SSO" });
  const PolicyDocument = JSON.stringify(policies["deployer-grafana"]);
  await account.iam.send(new PutUserPolicyCommand({ ...deployerPolicy, PolicyDocument }));
  await up([first]);
  const found = await workspaces();
  expect(found).toHaveLength(1);
  id = found[0]?.id ?? "";
  metrics = (await outputs()).bridgeData.metrics_workspace_arn.split("/").at(-1);
});

describe("the fleet's Grafana", () => {
  test("is made as the stack says, and its address is an output", async () => {
    const { workspace } = await grafana.send(new DescribeWorkspaceCommand({ workspaceId: id }));
    expect(workspace).toMatchObject({
      ...{ name: "fleet", status: "ACTIVE", workspaceRoleArn: roleArn, dataSources: ["PROMETHEUS"] },
      ...{ accountAccessType: "CURRENT_ACCOUNT", permissionType: "CUSTOMER_MANAGED" },
      authentication: { providers: ["AWS_SSO"] },
      tags: { "fleet.internal/fleet": "fleet" },
    });
    expect((await outputs()).grafanaUrl).toBe(`https://${workspace?.endpoint}`);
  });

  test("is left alone by a second run", async () => {
    const file = join(scratch, "Pulumi.local.yaml");
    await succeeds(tryPulumi(["preview", "--expect-no-changes", "--config-file", file]));
  });

  test("has the stack's groups as administrators, and no longer those that the stack named before", async () => {
    const admin = (group: string) => ({ user: { id: group, type: "SSO_GROUP" }, role: "ADMIN" });
    expect(await granted(id)).toEqual([admin(first)]);
    await up([second]);
    expect(await granted(id)).toEqual([admin(second)]);
  });
});

describe("the role of Grafana", () => {
  beforeAll(async () => {
    const { oidcIssuer: issuer, oidcProviderArn: providerArn } = await outputs();
    const trust = serviceAccountTrust({ issuer, providerArn }, { namespace: "default", serviceAccount: "default" });
    const AssumeRolePolicyDocument = JSON.stringify(trust);
    await account.iam.send(new CreateRoleCommand({ RoleName: twin.RoleName, AssumeRolePolicyDocument }));
    await account.iam.send(new PutRolePolicyCommand({ ...twin, PolicyDocument: await policyOf() }));
  });
  afterAll(async () => {
    await account.iam.send(new DeleteRolePolicyCommand(twin));
    await account.iam.send(new DeleteRoleCommand({ RoleName: twin.RoleName }));
  });

  test("is Grafana's alone, for workspaces of this account, while its twin is assumed by whom that one trusts", async () => {
    const { Role } = await account.iam.send(new GetRoleCommand({ RoleName }));
    expect(JSON.parse(decodeURIComponent(Role?.AssumeRolePolicyDocument ?? "")).Statement).toEqual([
      expect.objectContaining({
        Principal: { Service: "grafana.amazonaws.com" },
        Condition: {
          StringEquals: { "aws:SourceAccount": accountId },
          ArnLike: { "aws:SourceArn": `arn:aws:grafana:${region}:${accountId}:/workspaces/*` },
        },
      }),
    ]);
    const token = await serviceAccountToken(anybody);
    expect(await outcome(assume(roleArn, token))).toMatch(/^AccessDenied/);
    expect(await outcome(assume(twin.arn, token))).toBe("allowed");
  });

  test("queries the fleet's metrics, writes none, and reads no other workspace", async () => {
    const reader = await actingAs(twin.arn, anybody);
    const status = async (workspace: string, method: string, path: string) =>
      (await call(reader, { method, path: `/workspaces/${workspace}/api/v1/${path}` })).status;
    for (const path of ["query?query=up", "labels", "series?match[]=up", "metadata"]) {
      expect(await status(metrics, "GET", path), path).toBe(200);
      expect(await status("ws-other", "GET", path), path).toBe(403);
    }
    expect(await status(metrics, "POST", "remote_write")).toBe(403);
    const credentials = reader.sts.config.credentials;
    expect(await outcome(new AmpClient({ ...client, credentials }).send(new ListMetricsWorkspaces()))).toBe(
      "AccessDeniedException",
    );
  });
});

test("Grafana that is turned off goes with its role, and the metrics stay", async () => {
  await upWith((config) => ({ ...config, metrics: "amp" }));
  expect(await workspaces()).toEqual([]);
  expect(await outcome(account.iam.send(new GetRoleCommand({ RoleName })))).toMatch(/^NoSuchEntity/);
  expect((await amp.send(new ListMetricsWorkspaces())).workspaces).toHaveLength(1);
  expect((await outputs()).grafanaUrl ?? null).toBeNull();
});
