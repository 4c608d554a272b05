import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Amp } from "@aws-sdk/client-amp";
import { beforeAll, describe, expect, test } from "vitest";
import { createAws, type Handler, handlers } from "../../aws/index.ts";
import { notePrepared } from "../../clusters/addons.ts";
import { ACCOUNT, REGION } from "../../gateway/ministack.ts";
import { supervisorOf } from "../../supervisor/client.ts";
import { ampCases } from "../support/amp-handler-cases.ts";
import { allow, type Clients, cloud, configOf, outcome, useGatewayCloud, wait } from "../support/gateway.ts";
import { HandlerRunner } from "../support/handler-runner.ts";
import { proveCase } from "../support/prove-case.ts";
import { signedCalls } from "../support/signed-call.ts";

const HOST = `aps-workspaces.${REGION}.amazonaws.com`;

let calls: ReturnType<typeof signedCalls>;
useGatewayCloud(async () => {
  calls = signedCalls(cloud, HOST, { service: "aps", region: REGION });
});

const amp = (by: Clients) => new Amp(configOf(by));
const arnOf = (resource: string) => `arn:aws:aps:${REGION}:${ACCOUNT}:${resource}`;
const create = (by: Clients, tags: Record<string, string> = {}) => amp(by).createWorkspace({ tags });

/** AWS as the handlers of the Pulumi plugin call it. */
const awsOf = (by: Clients) => createAws(configOf(by));

/** Creates a workspace as the deployer and waits until it is ACTIVE; its id. */
async function workspace(tags: Record<string, string> = {}): Promise<string> {
  const { workspaceId } = await create(cloud.deployer, tags);
  const client = amp(cloud.deployer);
  await client.waitUntilWorkspaceActive({ workspaceId }, wait);
  return workspaceId ?? "";
}

/** What a request for a workspace's server ends with. */
async function reached(by: Clients | undefined, id: string, path: string, method = "GET"): Promise<number> {
  const body = method === "POST" ? "\u0000 samples" : "";
  return (await calls(by, { method, path: `/workspaces/${id}/api/v1/${path}`, body })).status;
}

describe("without the program of Prometheus", () => {
  test("a workspace is refused with the command that builds it", async () => {
    await expect(create(cloud.deployer)).rejects.toThrow(/npm start -- --addons prometheus/);
    expect(await amp(cloud.deployer).listWorkspaces()).toMatchObject({ workspaces: [] });
  });
});

describe("with it", () => {
  let own: string;
  let other: string;
  beforeAll(async () => {
    const prometheus = join(import.meta.dirname, "..", "support", "prometheus.mjs");
    await notePrepared(cloud.instance, { names: [], images: [], charts: "", programs: { prometheus } });
    own = await workspace({ team: "a" });
    other = await workspace({ team: "b" });
  });

  test("a role writes to the workspace that its policy names, and to no other, and reads nothing", async () => {
    const writer = await cloud.roleWith(
      "writer",
      allow({ Action: "aps:RemoteWrite", Resource: arnOf(`workspace/${own}`) }),
    );
    expect(await reached(writer, own, "remote_write", "POST")).toBe(204);
    expect(await reached(writer, other, "remote_write", "POST")).toBe(403);
    expect(await reached(writer, own, "query?query=up")).toBe(403);
  });

  test.each([
    ["query?query=up", "aps:QueryMetrics"],
    ["labels", "aps:GetLabels"],
    ["label/job/values", "aps:GetLabels"],
    ["series?match[]=up", "aps:GetSeries"],
    ["metadata", "aps:GetMetricMetadata"],
    ["rules", "aps:ListRules"],
    ["alerts", "aps:ListAlerts"],
  ])("%s is answered to whom has %s, and to whom has all rights but that one", async (path, action) => {
    const name = path.replaceAll(/\W/g, "-");
    const reader = await cloud.roleWith(`${name}-reader`, allow({ Action: action }));
    const rest = await cloud.roleWith(`${name}-rest`, allow({ Action: "aps:*" }, { Effect: "Deny", Action: action }));
    expect(await reached(reader, own, path)).toBe(200);
    expect(await reached(rest, own, path)).toBe(403);
  });

  test("nobody is answered without a signature, or with that of another key", async () => {
    expect(await reached(undefined, own, "labels")).toBe(403);
    const { credentials } = cloud.deployer;
    const forged = cloud.as({ accessKeyId: credentials?.accessKeyId ?? "", secretAccessKey: "made up" });
    expect(await reached(forged, own, "labels")).toBe(403);
    expect(await reached(cloud.deployer, own, "labels")).toBe(200);
  });

  test("rights follow the tags of a workspace", async () => {
    const team = await cloud.roleWith(
      "team-a",
      allow({
        Action: ["aps:QueryMetrics", "aps:DescribeWorkspace"],
        Condition: { StringEquals: { "aws:ResourceTag/team": "a" } },
      }),
    );
    expect(await reached(team, own, "query?query=up")).toBe(200);
    expect(await reached(team, other, "query?query=up")).toBe(403);
    const describing = (workspaceId: string) => outcome(amp(team).describeWorkspace({ workspaceId }));
    expect(await describing(own)).toBe("allowed");
    expect(await describing(other)).toBe("AccessDeniedException");
  });

  test("a workspace is created with the tags that a policy asks for; with tags, aps:TagResource is needed too", async () => {
    const tagged = {
      StringEquals: { "aws:RequestTag/team": "a" },
      "ForAllValues:StringEquals": { "aws:TagKeys": ["team"] },
    };
    const creator = await cloud.roleWith(
      "creator",
      allow(
        { Action: "aps:CreateWorkspace", Condition: tagged },
        { Action: "aps:TagResource", Resource: arnOf("workspace/*") },
      ),
    );
    const untagging = await cloud.roleWith("create-only", allow({ Action: "aps:CreateWorkspace" }));
    expect(await outcome(create(creator, { team: "a" }))).toBe("allowed");
    expect(await outcome(create(creator, { team: "b" }))).toBe("AccessDeniedException");
    expect(await outcome(create(creator, { team: "a", more: "c" }))).toBe("AccessDeniedException");
    expect(await outcome(create(creator))).toBe("AccessDeniedException");
    expect(await outcome(create(untagging))).toBe("allowed");
    expect(await outcome(create(untagging, { team: "a" }))).toBe("AccessDeniedException");
  });

  test("tags are changed and removed within what a policy says of their keys", async () => {
    const tagger = await cloud.roleWith(
      "tagger",
      allow({
        Action: ["aps:TagResource", "aps:UntagResource"],
        Resource: arnOf(`workspace/${own}`),
        Condition: { "ForAllValues:StringEquals": { "aws:TagKeys": ["stage"] } },
      }),
    );
    const resourceArn = arnOf(`workspace/${own}`);
    const tag = (tags: Record<string, string>) => outcome(amp(tagger).tagResource({ resourceArn, tags }));
    const untag = (key: string) => outcome(amp(tagger).untagResource({ resourceArn, tagKeys: [key] }));
    expect(await tag({ stage: "one" })).toBe("allowed");
    expect(await tag({ team: "b" })).toBe("AccessDeniedException");
    expect(await untag("team")).toBe("AccessDeniedException");
    expect(await untag("stage")).toBe("allowed");
  });

  test("a rule groups namespace has an ARN of its own, and its rules reach the server", async () => {
    const author = await cloud.roleWith(
      "author",
      allow({ Action: "aps:*RuleGroupsNamespace", Resource: arnOf(`rulegroupsnamespace/${own}/fleet`) }),
    );
    const make = (name: string, expression: string) => {
      const data = Buffer.from(`groups: [{ name: a, rules: [{ record: b, expr: ${expression} }] }]`);
      return outcome(amp(author).createRuleGroupsNamespace({ workspaceId: own, name, data }));
    };
    expect(await make("other", "up")).toBe("AccessDeniedException");
    expect(await make("fleet", "up")).toBe("allowed");
    const found = async () => await amp(author).describeRuleGroupsNamespace({ workspaceId: own, name: "fleet" });
    await expect.poll(async () => (await found()).ruleGroupsNamespace?.status?.statusCode).toBe("ACTIVE");
    expect(readdirSync(join(cloud.instance.paths.workspaces, own, "rules"))).toEqual(["fleet.yaml"]);
  });

  test.each(ampCases)("$token is created, read without drift, changed, deleted, and then gone", async (one) => {
    await proveCase(new HandlerRunner(awsOf(cloud.deployer), { fleet: "handler-test" }), one);
  });

  test("a workspace is read by whoever may also see whether it writes logs, which the AWS provider asks for", async () => {
    const handler = handlers.get("aws:amp/workspace:Workspace") as Handler;
    const reads = async (name: string, ...Action: string[]) =>
      outcome(handler.read(awsOf(await cloud.roleWith(name, allow({ Action }))), own, {}));
    expect(await reads("describer", "aps:DescribeWorkspace")).toBe("AccessDeniedException");
    expect(await reads("provider", "aps:DescribeWorkspace", "aps:DescribeLoggingConfiguration")).toBe("allowed");
  });

  test("a deleted workspace leaves no process and no files", async () => {
    const client = amp(cloud.deployer);
    const running = async () => (await supervisorOf(cloud.instance).list()).map(({ id }) => id);
    expect(await running()).toContain(`prometheus.${other}`);
    await client.deleteWorkspace({ workspaceId: other });
    await client.waitUntilWorkspaceDeleted({ workspaceId: other }, wait);
    expect(await running()).not.toContain(`prometheus.${other}`);
    expect(readdirSync(cloud.instance.paths.workspaces)).not.toContain(other);
  });
});
