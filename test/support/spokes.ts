import { expect } from "vitest";
import type { Cluster, KubernetesObject } from "./cluster.ts";
import { eventually } from "./process.ts";

/** The Spokes of a hub, as people see them there. */
export function spokesOn(
  { get, kubectl, tryKubectl }: Pick<Cluster, "get" | "kubectl" | "tryKubectl">,
  pause?: number,
) {
  const inSpokes = ["--namespace", "spokes"];
  /** The Spoke as the hub's API server has it. Rejects when there is none. */
  const spoke = (name: string): Promise<KubernetesObject> => get(["spoke", name, ...inSpokes]);
  const exists = async (name: string) => (await tryKubectl(["get", "spoke", name, ...inSpokes])).code === 0;

  /** The status of a Spoke's condition with its reason and message. */
  const condition = async (name: string, type: string): Promise<Record<string, string> | undefined> =>
    ((await spoke(name)).status?.conditions ?? []).find((one: Record<string, string>) => one["type"] === type);

  /** Waits until a Spoke is Ready. */
  const untilReady = (name: string, seconds: number) =>
    eventually(
      seconds,
      async () => {
        const { phase, message, conditions = [] } = (await spoke(name)).status ?? {};
        const ready = conditions.find((one: Record<string, string>) => one["type"] === "Ready");
        expect(ready?.status, `${phase}: ${message}`).toBe("True");
      },
      pause,
    );

  /** Waits until everything of a Spoke runs a Kubernetes version, and it is Ready again. */
  const untilVersion = async (name: string, version: string, seconds: number) => {
    await eventually(
      seconds,
      async () =>
        expect(await condition(name, "VersionCurrent")).toMatchObject({
          status: "True",
          message: `everything runs Kubernetes ${version}`,
        }),
      pause,
    );
    await untilReady(name, seconds);
    expect((await spoke(name)).status).toMatchObject({ kubernetesVersion: version, nodesKubernetesVersion: version });
  };

  /** Waits until the hub has no such Spoke any more; a hub that does not answer is no hub without it. */
  const untilGone = (name: string, seconds: number) =>
    eventually(
      seconds,
      async () => {
        const args = ["get", "spoke", name, ...inSpokes, "--ignore-not-found", "--output", "yaml"];
        expect(await kubectl(args)).toBe("");
      },
      pause,
    );

  return { spoke, exists, condition, untilReady, untilVersion, untilGone };
}
