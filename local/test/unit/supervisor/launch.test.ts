import { describe, expect, test } from "vitest";
import { instanceAt } from "../../../instance/addresses.ts";
import { baseEnv, enter } from "../../../supervisor/launch.ts";
import { checkSpec } from "../../../supervisor/spec.ts";

describe("how processes are launched", () => {
  test("nothing of the starter's environment reaches a process but what is listed, and its mark", () => {
    const env = baseEnv(instanceAt("/x", 3), "etcd", { PATH: "/bin", AWS_SECRET_ACCESS_KEY: "secret" });
    expect(env).toEqual({ PATH: "/bin", FLEET_SUPERVISED: "3:etcd" });
  });

  test("a process enters its cgroups and its network namespace before it becomes the program", () => {
    const spec = { id: "kubelet", argv: ["kubelet", "--v=1"], netns: "fleet-0-hub-0" } as const;
    const inNetwork = ["nsenter", "--net=/run/netns/fleet-0-hub-0", "--", "kubelet", "--v=1"];
    expect(enter(spec, [])).toEqual(inNetwork);
    expect(enter(spec, ["/a", "/b"]).slice(3)).toEqual(["sh", "2", "/a", "/b", ...inNetwork]);
  });

  test("a spec that can't work is refused with all that is wrong", () => {
    expect(() => checkSpec({ id: "../x", argv: [] as unknown as [string], cgroup: "here" })).toThrow(
      /id: got "..\/x".*argv: must be.*cgroup: got here, must be an absolute path/,
    );
  });
});
