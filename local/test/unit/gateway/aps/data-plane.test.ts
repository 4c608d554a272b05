import { beforeEach, describe, expect, test } from "vitest";
import { activeWorkspace, aps, useAps } from "./fakes.ts";

useAps();
let id: string;
beforeEach(async () => {
  id = await activeWorkspace({ tags: { team: "a" } });
});

const host = "aps-workspaces.us-east-1.amazonaws.com";
const at = (path: string, workspace = id) => `/workspaces/${workspace}/api/v1/${path}`;

describe("a request for a workspace's server", () => {
  test.each([
    ["POST", "remote_write", "RemoteWrite", "/api/v1/write"],
    ["GET", "query?query=up&time=1", "QueryMetrics", "/api/v1/query?query=up&time=1"],
    ["POST", "query_range", "QueryMetrics", "/api/v1/query_range"],
    ["GET", "labels", "GetLabels", "/api/v1/labels"],
    ["GET", "label/job%2Fname/values", "GetLabels", "/api/v1/label/job%2Fname/values"],
    ["GET", "series?match[]=up", "GetSeries", "/api/v1/series?match[]=up"],
    ["GET", "metadata", "GetMetricMetadata", "/api/v1/metadata"],
    ["GET", "rules", "ListRules", "/api/v1/rules"],
    ["GET", "alerts", "ListAlerts", "/api/v1/alerts"],
  ])("%s %s needs aps:%s on the workspace", async (method, path, action, url) => {
    const answer = await aps.call(method, at(path), method === "POST" ? "\x00snappy\xff" : "");
    expect(aps.asked.at(-1)).toMatchObject({
      action,
      resource: `arn:aws:aps:us-east-1:000000000000:workspace/${id}`,
      context: { "aws:ResourceTag/team": "a" },
    });
    expect(aps.workspaces.got).toMatchObject([{ method, url, body: method === "POST" ? "\x00snappy\xff" : "" }]);
    expect(answer.status).toBe(path === "remote_write" ? 204 : 200);
  });

  test("keeps its content headers and leaves the caller's credentials behind", async () => {
    const headers = {
      host,
      authorization: "AWS4-HMAC-SHA256 Credential=…",
      "x-amz-date": "20261121T100000Z",
      "x-amz-security-token": "secret",
      "content-encoding": "snappy",
    };
    await aps.call("POST", at("remote_write"), "body", { headers });
    const [got] = aps.workspaces.got;
    expect(got?.headers).toMatchObject({ "content-encoding": "snappy" });
    expect(Object.keys(got?.headers ?? {}).filter((name) => /^(authorization|x-amz-)/.test(name))).toEqual([]);
    expect(got?.headers["host"]).not.toBe(host);
  });

  test("does not reach the server without the right, and gets ministack's refusal", async () => {
    aps.allows = ({ action }) => action !== "RemoteWrite";
    expect(await aps.call("POST", at("remote_write"), "body")).toMatchObject({
      status: 403,
      error: "AccessDeniedException",
    });
    expect(aps.workspaces.got).toEqual([]);
    expect((await aps.call("GET", at("labels"))).status).toBe(200);
  });

  test("finds no workspace that isn't there or isn't ACTIVE, but tells only whom it would serve", async () => {
    aps.workspaces.hold();
    const { body } = await aps.call("POST", "/workspaces", {});
    for (const workspace of ["ws-none", body.workspaceId])
      expect(await aps.call("GET", at("labels", workspace))).toMatchObject({
        status: 404,
        error: "ResourceNotFoundException",
      });
    aps.allows = () => false;
    expect((await aps.call("GET", at("labels", "ws-none"))).status).toBe(403);
  });

  test.each([
    ["GET", "remote_write"],
    ["POST", "metadata"],
    ["GET", "admin/tsdb/delete_series"],
    ["POST", "write"],
    ["GET", "label/../../-/reload/values"],
  ])("%s %s is not served", async (method, path) => {
    expect(await aps.call(method, at(path))).toMatchObject({ status: 400, error: "ValidationException" });
    expect(aps.workspaces.got).toEqual([]);
  });

  test("under the servers' own name, only they answer", async () => {
    expect((await aps.call("GET", "/workspaces", "", { headers: { host } })).error).toBe("ValidationException");
    const api = { host: "aps.us-east-1.amazonaws.com" };
    expect((await aps.call("GET", "/workspaces", "", { headers: api })).status).toBe(200);
  });
});
