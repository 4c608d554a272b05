import { describe, expect, test } from "vitest";
import { annotateAll, type KubernetesObject, problemOf, unready, untilReady, waitingLine } from "../../../cli/flux.ts";
import { CommandError } from "../../../instance/index.ts";

const kustomization = (status: KubernetesObject["status"], spec = {}): KubernetesObject => ({
  kind: "Kustomization",
  metadata: { name: "hub", namespace: "flux-system", generation: 2 },
  spec,
  ...(status === undefined ? {} : { status }),
});
const ready = {
  observedGeneration: 2,
  lastAppliedRevision: "main@sha1:b",
  conditions: [{ type: "Ready", status: "True" }],
};

describe("an object is Ready", () => {
  test("when its condition says so for its newest generation and revision", () => {
    expect(unready(kustomization(ready), "main@sha1:b")).toBeUndefined();
    expect(unready({ kind: "Pod", metadata: { name: "job" }, status: { phase: "Succeeded" } })).toBeUndefined();
  });

  test.each([
    ["it has no status", kustomization(undefined), "Kustomization flux-system/hub: no status yet"],
    [
      "its condition is false",
      kustomization({ conditions: [{ type: "Ready", status: "False", message: "no such path" }] }),
      "Kustomization flux-system/hub: no such path",
    ],
    ["it is suspended", kustomization(ready, { suspend: true }), "Kustomization flux-system/hub is suspended"],
    [
      "an older generation was observed",
      kustomization({ ...ready, observedGeneration: 1 }),
      /newest specification is not observed/,
    ],
    [
      "another revision is applied",
      kustomization({ ...ready, lastAppliedRevision: "main@sha1:a" }),
      /has main@sha1:a, not yet main@sha1:b/,
    ],
  ])("but not when %s", (_, object, message) => {
    expect(unready(object, "main@sha1:b")).toMatch(message);
  });
});

test("waiting ends when all is ready, says once what it waits for, and gives up with it", async () => {
  const states = [[], ["a: starting"], ["a: starting"], [undefined, undefined]];
  const said: string[] = [];
  const report = (detail: string) => void said.push(detail);
  await untilReady(async () => states.shift() ?? [], { seconds: 60, report, pause: 1 });
  expect(said).toEqual(["waiting: nothing is there yet", "waiting for a: starting"]);
  const broken = async () => ["a: broken"];
  await expect(untilReady(broken, { seconds: -1, report })).rejects.toThrow("not ready after -1 s: a: broken");
});

test("waiting ends with its signal", async () => {
  const signal = AbortSignal.abort();
  await expect(untilReady(async () => ["a: starting"], { seconds: 60, report: () => {}, signal })).rejects.toThrow(
    expect.objectContaining({ name: "AbortError" }),
  );
});

test("what hinders a Crossplane resource is told in its own words, and nothing while it is only being made", () => {
  const queue = (status: string, message?: string): KubernetesObject => ({
    kind: "Queue",
    metadata: { name: "events" },
    status: { conditions: [{ type: "Synced", status, ...(message === undefined ? {} : { message }) }] },
  });
  expect(problemOf(queue("False", "AccessDenied"))).toBe("Queue events: AccessDenied");
  expect(problemOf(queue("True"))).toBeUndefined();
  expect(problemOf({ kind: "Queue", metadata: { name: "events" } })).toBeUndefined();
});

test("what is waited for is one line: what others wait for comes first, the rest is a number", () => {
  const dependent = (name: string) => `Kustomization ${name}: dependency 'flux-system/api' is not ready`;
  expect(waitingLine([dependent("a"), "Kustomization api: Reconciliation in progress", dependent("b")], 9)).toBe(
    "waiting for 3 of 9: Kustomization api: Reconciliation in progress; and 2 more",
  );
  expect(waitingLine([dependent("a"), dependent("b")], 2)).toBe(
    `waiting for 2 of 2: ${dependent("a")}; ${dependent("b")}`,
  );
});

describe("asking all objects of a kind for another look", () => {
  const kubectl = (stderr: string) => async (args: readonly string[]) => {
    throw new CommandError(["kubectl", ...args], 1, stderr, "");
  };
  const notFound = (name: string) =>
    `Error from server (NotFound): kustomizations.kustomize.toolkit.fluxcd.io "${name}" not found`;
  const ask = (stderr: string) => annotateAll(kubectl(stderr), "kustomizations", "asked=now");

  test("does not fail for those that are removed meanwhile", async () => {
    await expect(ask(`${notFound("green-access")}\n`)).resolves.toBeUndefined();
    await expect(
      ask(`Warning: an old version\n${notFound("green-access")}\n${notFound("green-flux")}\n`),
    ).resolves.toBe(undefined);
  });

  test.each([
    ["also another error", `${notFound("green-access")}\nError from server (Forbidden): no patch for you`],
    [
      "a kind that the server does not serve",
      'Error from server (NotFound): Unable to list "kustomizations": the server could not find the requested resource',
    ],
    ["no answer", "Unable to connect to the server: EOF"],
    ["no word", ""],
  ])("fails for %s", (_, stderr) => expect(ask(stderr)).rejects.toThrow("kubectl annotate kustomizations --all"));
});
