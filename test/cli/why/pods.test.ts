import { expect, test } from "vitest";
import { troublesOf } from "../../../cli/why/pods.ts";
import { container, pod } from "./support.ts";

const reasons = (status: object) =>
  troublesOf([pod("shop-1", status)]).map(({ reason, message }) => `${reason}: ${message}`);

test("a pod that runs, is just starting, or has done its work has no trouble", () => {
  expect(
    reasons({ phase: "Running", containerStatuses: [{ name: "web", ready: true, state: { running: {} } }] }),
  ).toEqual([]);
  expect(reasons(container("web", "ContainerCreating"))).toEqual([]);
  expect(reasons({ phase: "Succeeded", ...container("web", "Completed") })).toEqual([]);
});

test("a pod that no node takes says what the scheduler says", () => {
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/2 nodes: cpu" }];
  expect(reasons({ conditions })).toEqual(["Unschedulable: 0/2 nodes: cpu"]);
});

test("a container that was killed for its memory says so, not only that it starts again", () => {
  const ended = { exitCode: 137, reason: "OOMKilled" };
  expect(reasons(container("web", "CrashLoopBackOff", undefined, ended))).toEqual([
    "OOMKilled: it ended with code 137 (OOMKilled)",
  ]);
});

test("a container that runs and is not ready is a trouble", () => {
  const running = { phase: "Running", containerStatuses: [{ name: "web", ready: false, state: { running: {} } }] };
  expect(reasons(running)).toEqual(["NotReady: it runs, and its readiness probe does not succeed"]);
});
