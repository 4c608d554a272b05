import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startGrafana } from "../../../../gateway/grafana/service.ts";
import { scratch } from "../../../support/scratch.ts";
import { ACCOUNT, callsOf, place, settling } from "../calls.ts";

const role = (name: string) => `arn:aws:iam::${ACCOUNT}:role/${name}`;
const arn = (id: string) => `arn:aws:grafana:us-east-1:${ACCOUNT}:/workspaces/${id}`;
const settings = {
  accountAccessType: "CURRENT_ACCOUNT",
  permissionType: "CUSTOMER_MANAGED",
  authenticationProviders: ["AWS_SSO"],
  workspaceRoleArn: role("reader"),
};
const [alice, bob] = ["0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", "1a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"];

const endings: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of endings.splice(0)) await end();
});

async function fakeGrafana(folder = scratch("fleet-grafana-")) {
  const { answer, idle, stop } = await startGrafana({
    ...place,
    folder,
    aws: { role: async (name) => (name === "gone" ? undefined : { id: "AROA", arn: role(name), trustPolicy: "" }) },
    now: () => 1_000_000,
    log: () => {},
  });
  endings.push(stop);
  return settling(Object.assign(callsOf(answer), { folder, stop }), async () => {
    await new Promise((done) => setImmediate(done));
    await idle();
  });
}

let grafana: Awaited<ReturnType<typeof fakeGrafana>>;
beforeEach(async () => {
  grafana = await fakeGrafana();
});

const described = async (id: string) => (await grafana.get(`/workspaces/${id}`))?.workspace;
const create = (over: object = {}) => grafana.call("POST", "/workspaces", { ...settings, ...over });
async function active(over: object = {}): Promise<string> {
  const { body } = await create(over);
  await grafana.settle();
  return body.workspace.id;
}

describe("CreateWorkspace", () => {
  test("is CREATING at once, then ACTIVE, with what was asked for", async () => {
    const { status, body } = await create({
      workspaceName: "fleet",
      workspaceDataSources: ["PROMETHEUS"],
      tags: { a: "b" },
    });
    expect(status).toBe(202);
    const { id } = body.workspace;
    expect(id).toMatch(/^g-[0-9a-f]{10}$/);
    expect(body.workspace.status).toBe("CREATING");
    await grafana.settle();
    expect(await described(id)).toMatchObject({
      ...{ id, name: "fleet", status: "ACTIVE", dataSources: ["PROMETHEUS"], grafanaVersion: "12.4", tags: { a: "b" } },
      ...{ endpoint: `${id}.grafana-workspace.us-east-1.amazonaws.com`, workspaceRoleArn: role("reader") },
      authentication: { providers: ["AWS_SSO"] },
    });
  });

  test("needs the role to be passed, the tags to be given, and IAM Identity Center to be asked where people sign in by it", async () => {
    await create({ tags: { a: "b" } });
    await create({ authenticationProviders: ["SAML"] });
    const [byCenter, bySaml] = grafana.asked;
    expect(byCenter).toMatchObject({
      ...{ action: "CreateWorkspace", resource: "*" },
      passRoles: [{ arn: role("reader"), service: "grafana.amazonaws.com" }],
      also: expect.arrayContaining([
        { action: "TagResource", resource: arn("*") },
        { action: "sso:CreateManagedApplicationInstance", resource: "*" },
      ]),
    });
    expect(bySaml?.also).toEqual([]);
  });

  test("gives a repeated request the same workspace", async () => {
    const ids = [await active({ clientToken: "t" }), await active({ clientToken: "t" }), await active()];
    expect(new Set(ids).size).toBe(2);
  });

  test.each([
    ["no role", { workspaceRoleArn: undefined }, /workspaceRoleArn/],
    ["a role that doesn't exist", { workspaceRoleArn: role("gone") }, /workspaceRoleArn: got/],
    ["roles that AWS makes", { permissionType: "SERVICE_MANAGED" }, /permissionType/],
    ["a version that AWS doesn't offer", { grafanaVersion: "8.4" }, /allowed are 9.4, 10.4, 12.4/],
    ["a name with a space", { workspaceName: "my fleet" }, /workspaceName/],
    ["a configuration that isn't JSON", { configuration: "plugins: {}" }, /configuration: is not valid JSON/],
    ["a network", { vpcConfiguration: {} }, /vpcConfiguration is not served/],
    ["a tag of AWS's own", { tags: { "aws:team": "a" } }, /don't begin with "aws:"/],
  ])("refuses %s by name, and makes nothing", async (_what, over, message) => {
    expect(await create(over)).toMatchObject({
      status: 400,
      error: "ValidationException",
      body: { message: expect.stringMatching(message), reason: "FIELD_VALIDATION_FAILED" },
    });
    expect(await grafana.get("/workspaces")).toEqual({ workspaces: [] });
  });

  test("makes nothing for somebody who lacks a right", async () => {
    grafana.allows = () => false;
    expect(await create()).toMatchObject({ status: 403, error: "AccessDeniedException" });
    grafana.allows = () => true;
    expect(await grafana.get("/workspaces")).toEqual({ workspaces: [] });
  });
});

describe("a workspace", () => {
  test("takes no change until it is ACTIVE", async () => {
    await grafana.stop();
    const { body } = await create();
    const conflict = { status: 409, error: "ConflictException", body: { resourceId: body.workspace.id } };
    expect(await grafana.call("DELETE", `/workspaces/${body.workspace.id}`)).toMatchObject(conflict);
    expect(await grafana.call("PUT", `/workspaces/${body.workspace.id}`, {})).toMatchObject(conflict);
  });

  test("is changed where it is told, and only there", async () => {
    const id = await active({ workspaceName: "a", workspaceDescription: "b" });
    const { status, body } = await grafana.call("PUT", `/workspaces/${id}`, { workspaceName: "c" });
    expect([status, body.workspace.status]).toEqual([202, "UPDATING"]);
    await grafana.settle();
    expect(await described(id)).toMatchObject({ name: "c", description: "b", status: "ACTIVE" });
  });

  test("gets another role only from whoever may pass that one", async () => {
    const id = await active();
    await grafana.call("PUT", `/workspaces/${id}`, { workspaceRoleArn: role("other") });
    expect(grafana.asked.at(-1)).toMatchObject({
      resource: arn(id),
      passRoles: [{ arn: role("other"), service: "grafana.amazonaws.com" }],
    });
  });

  test("is raised to a newer version, keeps its configuration, and never goes back", async () => {
    const id = await active({ grafanaVersion: "10.4" });
    const path = `/workspaces/${id}/configuration`;
    const configuration = '{"plugins":{"pluginAdminEnabled":true}}';
    await grafana.stop();
    expect((await grafana.call("PUT", path, { configuration, grafanaVersion: "12.4" })).status).toBe(202);
    expect((await described(id)).status).toBe("VERSION_UPDATING");
    grafana = await fakeGrafana(grafana.folder);
    await grafana.settle();
    expect(await grafana.get(path)).toEqual({ configuration, grafanaVersion: "12.4" });
    expect(await grafana.call("PUT", path, { configuration, grafanaVersion: "10.4" })).toMatchObject({
      error: "ValidationException",
      body: { message: expect.stringContaining("can't go back to 10.4") },
    });
  });

  test("is gone after its deletion, for which IAM Identity Center is asked too", async () => {
    const id = await active();
    expect((await grafana.call("DELETE", `/workspaces/${id}`)).body.workspace.status).toBe("DELETING");
    expect(grafana.asked.at(-1)?.also).toContainEqual({
      action: "sso:DeleteManagedApplicationInstance",
      resource: "*",
    });
    await grafana.settle();
    const missing = { status: 404, error: "ResourceNotFoundException", body: { resourceId: id } };
    expect(await grafana.call("GET", `/workspaces/${id}`)).toMatchObject(missing);
    expect(await grafana.call("DELETE", `/workspaces/${id}`)).toMatchObject(missing);
  });

  test("is what it was for a gateway that starts again, which ends what was begun", async () => {
    const id = await active();
    await grafana.stop();
    await grafana.call("DELETE", `/workspaces/${id}`);
    grafana = await fakeGrafana(grafana.folder);
    await grafana.settle();
    expect(await grafana.get("/workspaces")).toEqual({ workspaces: [] });
  });

  test("has tags that are told, set and removed by ARN, and that rights can follow", async () => {
    const id = await active({ tags: { team: "a", stage: "one" } });
    const path = `/tags/${encodeURIComponent(arn(id))}`;
    await grafana.call("POST", path, { tags: { team: "b" } });
    await grafana.call("DELETE", `${path}?tagKeys=stage`);
    expect(await grafana.get(path)).toEqual({ tags: { team: "b" } });
    await grafana.call("DELETE", `/workspaces/${id}`);
    expect(grafana.asked.at(-1)?.context).toEqual({ "aws:ResourceTag/team": "b" });
    expect((await grafana.call("GET", `/tags/${encodeURIComponent(arn("g-none"))}`)).error).toBe(
      "ResourceNotFoundException",
    );
  });
});

describe("permissions", () => {
  const group = (id: string | undefined) => ({ id, type: "SSO_GROUP" });
  const update = (id: string, ...updateInstructionBatch: object[]) =>
    grafana.call("PATCH", `/workspaces/${id}/permissions`, { updateInstructionBatch });
  const granted = async (id: string, query = "") =>
    (await grafana.get(`/workspaces/${id}/permissions${query}`)).permissions;

  test("are given, replaced by another role, and revoked", async () => {
    const id = await active();
    const users = [group(alice), group(bob)];
    expect((await update(id, { action: "ADD", role: "ADMIN", users })).body).toEqual({ errors: [] });
    await update(id, { action: "ADD", role: "EDITOR", users: [group(bob)] });
    expect(await granted(id)).toEqual([
      { user: group(alice), role: "ADMIN" },
      { user: group(bob), role: "EDITOR" },
    ]);
    await update(id, { action: "REVOKE", role: "ADMIN", users: [group(alice)] });
    expect(await granted(id)).toEqual([{ user: group(bob), role: "EDITOR" }]);
    expect(await granted(id, `?groupId=${alice}`)).toEqual([]);
  });

  test("that nobody has can't be revoked: an error says whose", async () => {
    const id = await active();
    const { status, body } = await update(id, { action: "REVOKE", role: "ADMIN", users: [group(alice)] });
    expect(status).toBe(200);
    expect(body.errors).toEqual([
      {
        code: 404,
        message: expect.stringContaining(alice as string),
        causedBy: expect.objectContaining({ role: "ADMIN" }),
      },
    ]);
  });

  test("are for who has an ID of IAM Identity Center, in workspaces that use it", async () => {
    const saml = await active({ authenticationProviders: ["SAML"] });
    const one = { action: "ADD", role: "ADMIN", users: [group(alice)] };
    expect((await update(saml, one)).body.message).toMatch(/SAML identity provider says/);
    expect((await update(await active(), { ...one, users: [group("platform")] })).error).toBe("ValidationException");
  });

  test("need IAM Identity Center to be asked with the caller's rights", async () => {
    const id = await active();
    await update(id, { action: "ADD", role: "ADMIN", users: [group(alice)] });
    expect(grafana.asked.at(-1)).toMatchObject({
      ...{ action: "UpdatePermissions", resource: arn(id) },
      also: expect.arrayContaining([{ action: "sso:GetSharedSsoConfiguration", resource: "*" }]),
    });
  });
});

test("an operation that is not served is refused by its path", async () => {
  expect(await grafana.call("POST", `/workspaces/${await active()}/serviceaccounts`, {})).toMatchObject({
    status: 400,
    error: "ValidationException",
    body: { message: expect.stringContaining("/serviceaccounts"), reason: "UNKNOWN_OPERATION" },
  });
});
