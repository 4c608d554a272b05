import { describe, expect, test, vi } from "vitest";
import { run } from "../../../cli/spoke/release.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { fleetOf, spoke } from "../list/support.ts";
import { onCheckout, withoutKustomize } from "../support/on-checkout.ts";
import { spokeText } from "../support/spokes-checkout.ts";

const file = "spokes/fleet/blue/spoke.yaml";
const letGo = "  deletionPolicy: Orphan\n";

const its = onCheckout();

const release = (hub: KubeObject[], ...more: string[]) =>
  run(["blue", "--repository", its.at.system, ...more], withoutKustomize, { connect: async () => fleetOf(hub, {}) });

describe("fleet release", () => {
  test("first has the hub leave everything, and asks no hub for that", async () => {
    const connect = vi.fn();
    expect(await run(["blue", "--repository", its.at.system], withoutKustomize, { connect })).toBe(0);
    expect(connect).not.toHaveBeenCalled();
    expect(its.at.read(file)).toBe(spokeText("blue", letGo));
    expect(its.said).toContain("run fleet release blue again");
  });

  test("then removes the folder, when nothing would go with the Spoke, and leaves its applications", async () => {
    its.at.write(file, spokeText("blue", letGo));
    its.at.write("clusters/blue/app/kustomization.yaml", "resources: []\n", its.at.workloads);
    const hub = [spoke("blue", { spec: { deletionPolicy: "Orphan" }, status: { deletionPolicy: "Orphan" } })];
    expect(await release(hub)).toBe(0);
    expect(its.at.has("spokes/fleet/blue")).toBe(false);
    expect(its.at.has("clusters/blue/app", its.at.workloads)).toBe(true);
    expect(its.said).toContain("everything in AWS, with its tags");
    expect(its.said).toContain("Release spoke blue");
    expect(its.said).toMatch(/first suspend the Kustomizations workloads and tools .*\n?.*deletes the applications/);
    expect(its.said).toContain(
      "The hub forgets that its network is taken, and a Spoke without spec.network.cidr may get it",
    );
    expect(its.said).toContain("Its own Flux takes what changes in the tools and applications");
  });

  test.each([
    [
      "while something would go with it",
      { spec: { deletionPolicy: "Orphan" }, status: { message: "the network: making nat-0" } },
      /would still be removed with it\. The Spoke says: the network: making nat-0/,
    ],
    [
      "before the first commit has arrived",
      {},
      /the hub has spec\.deletionPolicy Delete: the commit with spokes\/fleet/,
    ],
    [
      "of a Spoke that the hub takes for one to delete, though it was to be let go before",
      { status: { deletionPolicy: "Orphan" } },
      /the hub has spec\.deletionPolicy Delete: the commit with spokes\/fleet/,
    ],
    [
      "of a protected Spoke whose deletion was held back: it would stay",
      {
        spec: { deletionPolicy: "Orphan" },
        status: { deletionPolicy: "Orphan", conditions: [{ type: "Deleting", status: "False", reason: "Protected" }] },
      },
      /somebody deleted spoke blue before.*\nWithdraw it: kubectl -n spokes annotate spoke blue usage\.crossplane\.io\/deletion-attempt-with-policy-,/,
    ],
  ])("refuses the second step %s", async (_, more, message) => {
    its.at.write(file, spokeText("blue", letGo));
    await expect(release([spoke("blue", more)])).rejects.toThrow(message);
    expect(its.at.has(file)).toBe(true);
  });

  test.each([
    ["first", ""],
    ["second", letGo],
  ])("refuses at the %s step a spoke whose cluster Cluster API makes and would remove", async (_step, more) => {
    const before = spokeText("blue", `  existing:\n    madeBy: ClusterAPI\n${more}`);
    its.at.write(file, before);
    const connect = vi.fn();
    const released = run(["blue", "--repository", its.at.system], withoutKustomize, { connect });
    await expect(released).rejects.toThrow(/existing\.madeBy ClusterAPI[\s\S]*whose removal deletes the cluster/);
    expect(connect).not.toHaveBeenCalled();
    expect(its.at.read(file)).toBe(before);
  });

  test("refuses a Spoke that the hub does not have", async () => {
    its.at.write(file, spokeText("blue", letGo));
    await expect(release([])).rejects.toThrow("the hub has no spoke blue");
  });

  test("is what fleet remove leads to, which would take the applications away", async () => {
    its.at.write(file, spokeText("blue", letGo));
    const { code, said: told } = await its.at.run("remove", "blue", "--yes");
    expect(code).toBe(2);
    expect(told).toContain("is to be let go (spec.deletionPolicy: Orphan)");
    expect(told).toContain("fleet release blue lets it go");
  });
});
