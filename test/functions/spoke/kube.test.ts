import { describe, expect, test } from "vitest";
import { at, condition, goesOn, isReady, type KubeObject } from "../../../functions/spoke/kube.ts";

const object = (status: object, kind = "Kustomization"): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "x", generation: 2 },
  status: status as Record<string, unknown>,
});
const ready = (status: string, more: object = {}) => ({ conditions: [{ type: "Ready", status }], ...more });

describe("an object is ready", () => {
  test("when its condition says so of the newest specification, or does not say of which", () => {
    expect(isReady(object(ready("True", { observedGeneration: 2 })))).toBe(true);
    expect(isReady(object(ready("True")))).toBe(true);
    expect(isReady(object(ready("True", { observedGeneration: 1 })))).toBe(false);
    expect(isReady(object(ready("False", { observedGeneration: 2 })))).toBe(false);
    expect(isReady(object({}))).toBe(false);
    expect(isReady(object({ conditions: [{ type: "Synced", status: "True" }] }))).toBe(false);
  });

  test("when it is there, if its kind knows no conditions", () => {
    expect(isReady(object({}, "ConfigMap"))).toBe(true);
    expect(isReady(object({}, "Secret"))).toBe(true);
    expect(isReady(undefined)).toBe(false);
  });
});

describe("Flux goes on with what works", () => {
  const history = (lastReconciledStatus: string) => ({ history: [{ lastReconciledStatus }] });
  const worked = history("ReconciliationSucceeded");

  test("while it takes up the next commit after one that ended well", () => {
    expect(goesOn(object(ready("Unknown", worked)))).toBe(true);
    const canceled = { conditions: [{ type: "Ready", status: "False", reason: "HealthCheckCanceled" }], ...worked };
    expect(goesOn(object(canceled))).toBe(true);
  });

  test("while it takes up another specification, before it has begun and until it is done", () => {
    expect(goesOn(object(ready("Unknown", { ...worked, observedGeneration: 1 })))).toBe(true);
    expect(goesOn(object(ready("True", { ...worked, observedGeneration: 1 })))).toBe(true);
  });

  test("and not when the last commit failed, or nothing is under way", () => {
    expect(goesOn(object(ready("Unknown", history("HealthCheckFailed"))))).toBe(false);
    expect(goesOn(object(ready("Unknown")))).toBe(false);
    expect(goesOn(object(ready("False", worked)))).toBe(false);
    expect(goesOn(object(ready("True", { ...worked, observedGeneration: 2 })))).toBe(false);
  });
});

test("what a status does not have is undefined, however deep", () => {
  expect(condition(undefined, "Ready")).toBeUndefined();
  expect(condition(object({ conditions: "none" }), "Ready")).toBeUndefined();
  expect(at({ a: [{ b: 1 }] }, "a", 0, "b")).toBe(1);
  expect(at({ a: [] }, "a", 0, "b")).toBeUndefined();
  expect(at(undefined, "a")).toBeUndefined();
  expect(at(null, "a")).toBeUndefined();
});
