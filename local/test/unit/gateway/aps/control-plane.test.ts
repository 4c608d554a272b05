import { describe, expect, test } from "vitest";
import { activeWorkspace, aps, arn, restartAps, useAps } from "./fakes.ts";

useAps();

const workspace = async (id: string) => (await aps.get(`/workspaces/${id}`))?.workspace;

describe("CreateWorkspace", () => {
  test("is CREATING at once, and ACTIVE with its endpoint when its server runs", async () => {
    const release = aps.workspaces.hold();
    const { status, body } = await aps.call("POST", "/workspaces", { alias: " fleet ", tags: { team: "a" } });
    expect(status).toBe(202);
    const { workspaceId: id } = body;
    expect(id).toMatch(/^ws-[0-9a-f-]{36}$/);
    expect(body).toEqual({
      workspaceId: id,
      arn: arn(`workspace/${id}`),
      status: { statusCode: "CREATING" },
      tags: { team: "a" },
    });
    await aps.settle();
    expect(await workspace(id)).toMatchObject({ alias: "fleet", status: { statusCode: "CREATING" } });
    release();
    await aps.settle();
    expect(await workspace(id)).toMatchObject({
      status: { statusCode: "ACTIVE" },
      prometheusEndpoint: `https://aps-workspaces.us-east-1.amazonaws.com/workspaces/${id}/`,
    });
    expect(aps.workspaces.running.get(id)).toEqual({ retentionDays: 150, rules: {} });
  });

  test("needs aps:CreateWorkspace without a resource, and aps:TagResource where it has tags", async () => {
    await aps.call("POST", "/workspaces", {});
    await aps.call("POST", "/workspaces", { tags: { team: "a" } });
    expect(aps.asked).toMatchObject([
      { action: "CreateWorkspace", resource: "*", also: [] },
      {
        action: "CreateWorkspace",
        resource: "*",
        also: [{ action: "TagResource", resource: arn("workspace/*") }],
      },
    ]);
  });

  test("gives a repeated request the same workspace, and refuses its token with other settings", async () => {
    const once = await aps.call("POST", "/workspaces", { alias: "a", clientToken: "t" });
    const again = await aps.call("POST", "/workspaces", { alias: "a", clientToken: "t" });
    expect(again.body.workspaceId).toBe(once.body.workspaceId);
    const other = await aps.call("POST", "/workspaces", { alias: "b", clientToken: "t" });
    expect(other).toMatchObject({ status: 409, error: "ConflictException", body: { resourceType: "workspace" } });
  });

  test("says which command builds Prometheus where it is missing, and makes nothing", async () => {
    aps.workspaces.missing = "run npm start -- --addons prometheus";
    expect(await aps.call("POST", "/workspaces", {})).toMatchObject({
      status: 400,
      error: "ValidationException",
      body: { message: expect.stringContaining("--addons prometheus"), reason: "OTHER" },
    });
    expect(await aps.get("/workspaces")).toEqual({ workspaces: [] });
  });

  test.each([
    ["a member that is not served", { unknown: 1 }, /unknown is not served/],
    ["a KMS key that doesn't exist", { kmsKeyArn: "arn:aws:kms:us-east-1:000000000000:key/none" }, /kmsKeyArn: got/],
    ["a tag of AWS's own", { tags: { "aws:team": "a" } }, /don't begin with "aws:"/],
  ])("refuses %s by name", async (_what, body, message) => {
    expect(await aps.call("POST", "/workspaces", body)).toMatchObject({
      status: 400,
      error: "ValidationException",
      body: { message: expect.stringMatching(message), reason: "FIELD_VALIDATION_FAILED" },
    });
  });

  test("takes a KMS key that is enabled", async () => {
    const kmsKeyArn = "arn:aws:kms:us-east-1:000000000000:key/good";
    expect(await workspace(await activeWorkspace({ kmsKeyArn }))).toMatchObject({ kmsKeyArn });
  });

  test("is refused with ServiceQuotaExceededException beyond 25 workspaces, and possible again after a deletion", async () => {
    for (let index = 0; index < 25; index++) await aps.call("POST", "/workspaces", { alias: `w${index}` });
    const refused = { status: 402, error: "ServiceQuotaExceededException", body: { quotaCode: "L-8873DB23" } };
    expect(await aps.finish("POST", "/workspaces", {})).toMatchObject(refused);
    const [{ workspaceId }] = (await aps.get("/workspaces?alias=w7")).workspaces;
    await aps.finish("DELETE", `/workspaces/${workspaceId}`);
    expect((await aps.call("POST", "/workspaces", {})).status).toBe(202);
  });
});

describe("a workspace", () => {
  test("takes no change until it is ACTIVE", async () => {
    aps.workspaces.hold();
    const { body } = await aps.call("POST", "/workspaces", {});
    const conflict = { status: 409, error: "ConflictException" };
    expect(await aps.call("DELETE", `/workspaces/${body.workspaceId}`)).toMatchObject(conflict);
    expect(await aps.call("POST", `/workspaces/${body.workspaceId}/alias`, { alias: "a" })).toMatchObject(conflict);
  });

  test("is gone, with its server, after its deletion", async () => {
    const id = await activeWorkspace();
    expect(await aps.finish("DELETE", `/workspaces/${id}?clientToken=t`)).toMatchObject({
      status: 202,
      body: undefined,
    });
    expect(aps.workspaces.running.has(id)).toBe(false);
    expect(await aps.call("GET", `/workspaces/${id}`)).toMatchObject({
      status: 404,
      error: "ResourceNotFoundException",
      body: { resourceId: id, resourceType: "workspace" },
    });
  });

  test("is listed without its endpoint, by the beginning of its alias, page by page", async () => {
    const one = await activeWorkspace({ alias: "fleet-a" });
    const two = await activeWorkspace({ alias: "fleet-b" });
    await activeWorkspace({ alias: "other" });
    const first = await aps.get("/workspaces?alias=fleet&maxResults=1");
    const second = await aps.get(`/workspaces?alias=fleet&maxResults=1&nextToken=${first.nextToken}`);
    const all = [...first.workspaces, ...second.workspaces];
    expect(all.map(({ workspaceId }: { workspaceId: string }) => workspaceId).sort()).toEqual([one, two].sort());
    expect(second.nextToken).toBeUndefined();
    expect(all[0]).not.toHaveProperty("prometheusEndpoint");
  });

  test("has an alias that can be changed and removed", async () => {
    const id = await activeWorkspace({ alias: "a" });
    expect(await aps.call("POST", `/workspaces/${id}/alias`, { alias: "b" })).toMatchObject({ status: 204 });
    expect(await workspace(id)).toMatchObject({ alias: "b" });
    await aps.call("POST", `/workspaces/${id}/alias`, {});
    expect(await workspace(id)).not.toHaveProperty("alias");
  });

  test("keeps data as long as its configuration says; limits per label set are refused by name", async () => {
    const id = await activeWorkspace();
    const path = `/workspaces/${id}/configuration`;
    expect((await aps.finish("PATCH", path, { retentionPeriodInDays: 30 })).body).toEqual({
      status: { statusCode: "UPDATING" },
    });
    expect((await aps.get(path)).workspaceConfiguration).toEqual({
      status: { statusCode: "ACTIVE" },
      limitsPerLabelSet: [],
      retentionPeriodInDays: 30,
    });
    expect(aps.workspaces.running.get(id)?.retentionDays).toBe(30);
    expect(await aps.call("PATCH", path, { retentionPeriodInDays: 1096 })).toMatchObject({ status: 400 });
    expect((await aps.call("PATCH", path, { limitsPerLabelSet: [] })).body.message).toMatch(/limitsPerLabelSet/);
  });

  test("is what it was for a gateway that starts again, with a number of its own", async () => {
    const id = await activeWorkspace({ alias: "kept" });
    aps.workspaces.running.clear();
    const { folder, workspaces } = aps;
    await restartAps({ folder, workspaces });
    await aps.settle();
    expect(await workspace(id)).toMatchObject({ alias: "kept", status: { statusCode: "ACTIVE" } });
    expect(workspaces.running.has(id)).toBe(true);
  });
});

test("tags are told, set and removed by ARN", async () => {
  const id = await activeWorkspace({ tags: { team: "a", stage: "one" } });
  const path = `/tags/${encodeURIComponent(arn(`workspace/${id}`))}`;
  await aps.call("POST", path, { tags: { team: "b" } });
  await aps.call("DELETE", `${path}?tagKeys=stage&tagKeys=none`);
  expect(await aps.get(path)).toEqual({ tags: { team: "b" } });
  const other = `/tags/${encodeURIComponent(arn("workspace/ws-none"))}`;
  expect((await aps.call("GET", other)).error).toBe("ResourceNotFoundException");
});

test("an operation that is not served is refused by its path", async () => {
  expect(await aps.call("POST", "/scrapers", {})).toMatchObject({
    status: 400,
    error: "ValidationException",
    body: { message: expect.stringContaining("POST /scrapers"), reason: "UNKNOWN_OPERATION" },
  });
});
