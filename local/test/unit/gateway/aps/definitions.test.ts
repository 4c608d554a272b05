import { beforeEach, describe, expect, test } from "vitest";
import { activeWorkspace, aps, arn, base64, rules, useAps } from "./fakes.ts";

useAps();

describe("a rule groups namespace", () => {
  let id: string;
  let path: string;
  beforeEach(async () => {
    id = await activeWorkspace();
    path = `/workspaces/${id}/rulegroupsnamespaces`;
  });
  const create = (name: string, data: string, over: object = {}) =>
    aps.call("POST", path, { name, data: base64(data), ...over });
  const described = async (name: string) => (await aps.get(`${path}/${name}`)).ruleGroupsNamespace;

  test("is CREATING, then ACTIVE with its rules in the server; updated; deleted with its rules", async () => {
    const made = await create("fleet", rules("1"), { tags: { team: "a" } });
    expect(made).toMatchObject({
      status: 202,
      body: { name: "fleet", arn: arn(`rulegroupsnamespace/${id}/fleet`), status: { statusCode: "CREATING" } },
    });
    await aps.settle();
    expect(await described("fleet")).toMatchObject({ status: { statusCode: "ACTIVE" }, data: base64(rules("1")) });
    expect(aps.workspaces.running.get(id)?.rules).toEqual({ fleet: rules("1") });
    const put = await aps.call("PUT", `${path}/fleet`, { data: base64(rules("2")) });
    expect(put.body).toMatchObject({ status: { statusCode: "UPDATING" }, tags: { team: "a" } });
    await aps.settle();
    expect(aps.workspaces.running.get(id)?.rules).toEqual({ fleet: rules("2") });
    expect((await aps.finish("DELETE", `${path}/fleet`)).status).toBe(202);
    expect(aps.workspaces.running.get(id)?.rules).toEqual({});
    expect((await aps.call("GET", `${path}/fleet`)).error).toBe("ResourceNotFoundException");
  });

  test("is authorized on its own ARN, with its own tags; the list on the workspace's", async () => {
    await create("fleet", rules("1"), { tags: { team: "a" } });
    await aps.settle();
    await aps.call("GET", `${path}/fleet`);
    await aps.call("GET", path);
    const own = arn(`rulegroupsnamespace/${id}/fleet`);
    expect(aps.asked.slice(-3)).toMatchObject([
      { action: "CreateRuleGroupsNamespace", resource: own, also: [{ action: "TagResource", resource: own }] },
      { action: "DescribeRuleGroupsNamespace", resource: own, context: { "aws:ResourceTag/team": "a" } },
      { action: "ListRuleGroupsNamespaces", resource: arn(`workspace/${id}`), context: {} },
    ]);
  });

  test("fails with Prometheus's own reason where its rules are wrong, and the others stay", async () => {
    await create("good", rules("1"));
    await create("bad", rules("not promql"));
    await aps.settle();
    expect((await described("good")).status).toEqual({ statusCode: "ACTIVE" });
    expect((await described("bad")).status).toEqual({
      statusCode: "CREATION_FAILED",
      statusReason: "bad: could not parse expression",
    });
    await aps.finish("PUT", `${path}/good`, { data: base64(rules("not promql")) });
    expect((await described("good")).status.statusCode).toBe("UPDATE_FAILED");
    expect(aps.workspaces.running.get(id)?.rules).toEqual({ good: rules("1") });
  });

  test("refuses what is not a rules file, a second one of its name, and an update of one that isn't there", async () => {
    expect((await create("fleet", "groups: 1")).body).toMatchObject({ message: expect.stringMatching(/groups/) });
    expect((await create("fleet", "a: [")).body).toMatchObject({ message: expect.stringMatching(/not valid YAML/) });
    expect((await create("../up", rules("1"))).error).toBe("ValidationException");
    await create("fleet", rules("1"), { clientToken: "t" });
    expect((await create("fleet", rules("1"), { clientToken: "t" })).status).toBe(202);
    expect((await create("fleet", rules("1"), { clientToken: "u" })).error).toBe("ConflictException");
    const put = await aps.call("PUT", `${path}/other`, { data: base64(rules("1")) });
    expect(put.error).toBe("ResourceNotFoundException");
  });

  test("is listed by the beginning of its name, without its rules", async () => {
    await create("fleet-a", rules("1"));
    await create("other", rules("1"));
    const { ruleGroupsNamespaces: found } = await aps.get(`${path}?name=fleet`);
    expect(found.map(({ name }: { name: string }) => name)).toEqual(["fleet-a"]);
    expect(found[0]).not.toHaveProperty("data");
  });
});

test("an alert manager definition is created, described, updated and deleted, and must be one", async () => {
  const id = await activeWorkspace();
  const path = `/workspaces/${id}/alertmanager/definition`;
  const given = (receivers: string) =>
    base64(`alertmanager_config: |\n  route: { receiver: a }\n  receivers: ${receivers}\n`);
  const definition = (topic: string) =>
    given(
      `[{ name: a, sns_configs: [{ topic_arn: "arn:aws:sns:eu-west-1:111122223333:${topic}", sigv4: { region: eu-west-1 } }] }]`,
    );
  for (const wrong of [
    base64("route: {}"),
    base64("alertmanager_config: '{'"),
    given("[{ name: b }]"),
    given("[{ name: a, sns_configs: [{ topic_arn: alerts, sigv4: { region: eu-west-1 } }] }]"),
    given('[{ name: a, sns_configs: [{ topic_arn: "arn:aws:sns:eu-west-1:111122223333:alerts" }] }]'),
    given("[{ name: a, webhook_configs: [] }]"),
  ])
    expect((await aps.call("POST", path, { data: wrong })).error, atob(wrong)).toBe("ValidationException");
  expect((await aps.call("GET", path)).error).toBe("ResourceNotFoundException");
  const created = await aps.call("POST", path, { data: definition("a") });
  expect(created).toMatchObject({ status: 202, body: { status: { statusCode: "CREATING" } } });
  await aps.settle();
  expect((await aps.call("POST", path, { data: definition("a") })).error).toBe("ConflictException");
  await aps.finish("PUT", path, { data: definition("b") });
  expect((await aps.get(path)).alertManagerDefinition).toMatchObject({
    status: { statusCode: "ACTIVE" },
    data: definition("b"),
  });
  expect((await aps.finish("DELETE", path)).status).toBe(202);
  expect((await aps.call("GET", path)).error).toBe("ResourceNotFoundException");
});
