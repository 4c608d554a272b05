import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "../../../cli/flux.ts";
import {
  clusterNotes,
  commandNotes,
  hubNotes,
  type Note,
  objectNotes,
  processNotes,
  spokeNotes,
  verdict,
} from "../../../cli/health.ts";
import type { Spoke } from "../../../cli/spokes.ts";
import type { ProcessStatus } from "../../../supervisor/client.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const at = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const object = (
  kind: string,
  status: KubernetesObject["status"],
  metadata: Partial<KubernetesObject["metadata"]> = {},
): KubernetesObject => ({ kind, metadata: { name: "one", ...metadata }, ...(status ? { status } : {}) });
const unready = (change: object = {}) => ({ conditions: [{ type: "Ready", status: "False", ...change }] });
const etcd = (state: ProcessStatus["state"]): ProcessStatus => ({
  ...{ id: "etcd", state, pid: 1, restarts: 0, message: undefined, log: "/logs/etcd.log" },
  ...{ shortRuns: 0, lastExit: undefined },
});
const sortOf = (one: KubernetesObject) => objectNotes([one], now)[0]?.sort;

describe("an object that isn't Ready", () => {
  test.each([
    ["a Kustomization whose turn has not come", object("Kustomization", unready({ reason: "DependencyNotReady" }))],
    ["a Kustomization that is being applied", object("Kustomization", unready({ status: "Unknown" }))],
    ["an object without a status", object("GitRepository", undefined)],
    [
      "an object that is being removed",
      object("HelmRelease", unready({ reason: "Failed" }), { deletionTimestamp: at(9) }),
    ],
    ["a pod that has just come", object("Pod", { ...unready({ lastTransitionTime: at(1) }), phase: "Running" })],
    ["a node that has just come", object("Node", unready(), { creationTimestamp: at(1) })],
  ])("is on its way: %s", (_, one) => expect(sortOf(one)).toBe("progress"));

  test.each([
    ["a Kustomization that failed", object("Kustomization", unready({ reason: "BuildFailed" }))],
    ["a suspended object", { ...object("Kustomization", unready({ status: "Unknown" })), spec: { suspend: true } }],
    ["a pod that has not become Ready for long", object("Pod", { ...unready({ lastTransitionTime: at(6) }) })],
    ["a pod that ended with a failure", object("Pod", { ...unready({ lastTransitionTime: at(1) }), phase: "Failed" })],
    [
      "a pod without its image",
      object("Pod", {
        ...unready({ lastTransitionTime: at(1) }),
        containerStatuses: [{ state: { waiting: { reason: "ImagePullBackOff" } } }],
      }),
    ],
    ["a node that was Ready long ago", object("Node", unready({ status: "Unknown" }), { creationTimestamp: at(60) })],
  ])("is a problem: %s", (_, one) => expect(sortOf(one)).toBe("problem"));

  test("is not one that is Ready", () => {
    expect(objectNotes([object("Pod", { conditions: [{ type: "Ready", status: "True" }] })], now)).toEqual([]);
  });
});

describe("a Spoke that isn't Ready", () => {
  const spoke = (status: Spoke["status"]): Spoke => ({
    metadata: { name: "blue" },
    spec: {},
    ...(status ? { status } : {}),
  });
  const deleting = (reason: string) => ({
    phase: "Deleting",
    conditions: [{ type: "Deleting", status: "True", reason }],
  });
  test.each([
    ["progress", "has not begun", undefined],
    ["progress", "is being made", { phase: "Nodes" }],
    ["progress", "is being removed", deleting("InProgress")],
    ["problem", "fails", { phase: "Failing" }],
    ["problem", "is refused", { phase: "Refused" }],
    ["problem", "can't be removed", deleting("InUse")],
  ])("is %s when it %s", (sort, _, status) => {
    expect(spokeNotes(spoke(status))).toMatchObject([{ sort }]);
  });
});

test("clusters and processes are on their way while they come or go, and problems when they failed", () => {
  expect(["ACTIVE", "CREATING", "DELETING", "FAILED"].map((status) => clusterNotes("hub", status)[0]?.sort)).toEqual([
    ...[undefined, "progress", "progress", "problem"],
  ]);
  const states = ["ready", "starting", "waiting"] as const;
  expect(states.map((state) => processNotes([etcd(state)])[0]?.sort)).toEqual([undefined, "progress", "problem"]);
  expect(processNotes([])).toMatchObject([{ sort: "problem" }]);
});

test("a process that keeps exiting is a problem even while it is ready, with its last exit and its log", () => {
  const exits = { shortRuns: 3, lastExit: { how: "exit code 1", at: at(1) } };
  expect(processNotes([{ ...etcd("ready"), ...exits }])).toEqual([
    {
      sort: "problem",
      text: "process etcd keeps exiting: 3 short runs in a row, the last: exit code 1. Log: /logs/etcd.log",
    },
  ]);
});

describe("the end of npm run status", () => {
  const note = (sort: Note["sort"]): Note => ({ sort, text: `a ${sort}` });

  test("is that all is well when nothing is wrong and nothing is on its way", () => {
    expect(verdict([])).toEqual({ text: "All is well.", code: 0 });
    expect(verdict([note("unknown")])).toEqual({
      text: "Could not be looked at from here:\n- a unknown\n\nAll is well.",
      code: 0,
    });
  });

  test("is not that all is well while a command is at work, whatever is there so far", () => {
    expect(verdict(commandNotes("npm start"))).toEqual({
      text: "Not finished yet:\n- npm start is under way",
      code: 2,
    });
    expect(verdict(commandNotes(undefined)).code).toBe(0);
  });

  test("is not that all is well for a hub without Flux", () => {
    expect(verdict(hubNotes(0, "problem")).code).toBe(1);
    expect(verdict(hubNotes(0, "progress")).code).toBe(2);
    expect(verdict(hubNotes(1, "problem")).code).toBe(0);
  });

  test("lists progress as progress, by an exit code of its own, and problems first", () => {
    expect(verdict([note("progress")])).toEqual({ text: "Not finished yet:\n- a progress", code: 2 });
    const { text, code } = verdict([note("progress"), note("problem")]);
    expect(code).toBe(1);
    expect(text).toBe("Not as it should be:\n- a problem\n\nNot finished yet:\n- a progress");
  });
});
