import { type FunctionHandler, fromObject, Ready, to } from "@crossplane-org/function-sdk-typescript";
import { expect, test } from "vitest";
import { life } from "../../../cli/diff/life.ts";
import type { Spoke } from "../../../functions/spoke/api.ts";

const spoke = (name: string, region = "eu-west-1") =>
  ({
    apiVersion: "fleet.internal/v1alpha1",
    kind: "Spoke",
    metadata: { name, namespace: "spokes" },
    spec: { region },
  }) as unknown as Spoke;

/** A function that composes an object with the Spoke's specification, and how often it was called. */
function counted() {
  const calls: string[] = [];
  const handler: FunctionHandler = {
    RunFunction: async (request) => {
      const response = to(request);
      const spec: unknown = request.observed?.composite?.resource?.["spec"];
      calls.push(JSON.stringify(spec));
      const map = { apiVersion: "v1", kind: "ConfigMap", metadata: {}, spec };
      if (response.desired) response.desired.resources["map"] = fromObject(map, undefined, Ready.READY_TRUE);
      return response;
    },
  };
  return { calls, handler };
}

const options = { input: {}, hub: {}, others: [] };

test("equal new Spokes are composed once, and each other one by itself", async () => {
  const { calls, handler } = counted();
  const first = await life({ ...options, handler, spoke: spoke("blue") });
  const once = calls.length;
  expect(first.composed.get("map")?.spec).toEqual({ region: "eu-west-1" });
  expect(await life({ ...options, handler, spoke: spoke("blue") })).toEqual(first);
  expect(calls.length).toBe(once);
  const others = [
    { spoke: spoke("blue", "eu-north-1") },
    { spoke: spoke("blue"), hub: { fleet: "other" } },
    { spoke: spoke("blue"), input: { kubernetesVersions: {} } },
    { spoke: spoke("blue"), others: [spoke("green")] },
    { spoke: spoke("blue"), before: first.observed },
  ];
  for (const other of others) {
    const before = calls.length;
    await life({ ...options, handler, ...other });
    expect(calls.length, JSON.stringify(other)).toBeGreaterThan(before);
  }
  const code = counted();
  await life({ ...options, handler: code.handler, spoke: spoke("blue") });
  expect(code.calls.length).toBe(once);
});
