import { describe, expect, test } from "vitest";
import { instanceAt } from "../../../instance/addresses.ts";
import { inCgroup, markIn, markOf, parseStat, statOf } from "../../../instance/processes.ts";

describe("processes of an instance", () => {
  test("a command with spaces and brackets does not confuse the fields after it", () => {
    const fields = ["S", 1, 42, 41, ...Array.from({ length: 15 }, () => 0), 777, 0];
    expect(parseStat(`42 (a) b (c) ${fields.join(" ")}`)).toEqual({
      pid: 42,
      command: "a) b (c",
      state: "S",
      parent: 1,
      group: 42,
      session: 41,
      startTime: 777,
    });
  });

  test("this process is found as it is, and a process that can't exist is not", async () => {
    expect(statOf(process.pid)).toMatchObject({ pid: process.pid, parent: process.ppid });
    expect(statOf(2 ** 30)).toBeUndefined();
  });

  test("the mark names instance and process, and survives odd ids", () => {
    const instance = instanceAt("/x", 12);
    expect(markIn(`A=1\0FLEET_SUPERVISED=${markOf(instance, "hub.0.kubelet")}\0B=2`)).toEqual({
      index: 12,
      id: "hub.0.kubelet",
    });
    expect(markIn("A=1\0XFLEET_SUPERVISED=1:a\0")).toBeUndefined();
    expect(markIn("FLEET_SUPERVISED=garbage")).toBeUndefined();
  });

  test("a cgroup holds what is below it, and not what only begins like it", () => {
    const file = (path: string) => `4:memory:/\n3:cpu,cpuacct:${path}\n0::/other`;
    expect(inCgroup(file("/fleet-1/hub-0/kubepods"), "/fleet-1")).toBe(true);
    expect(inCgroup(file("/fleet-1"), "/fleet-1")).toBe(true);
    expect(inCgroup(file("/fleet-11/hub-0"), "/fleet-1")).toBe(false);
    expect(inCgroup(file("/a:b/fleet-1"), "/fleet-1")).toBe(false);
  });
});
