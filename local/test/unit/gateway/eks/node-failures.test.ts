import { beforeEach, describe, expect, it } from "vitest";
import { createSecond, eks, groupAt, later, updateOf, useEks, withNodes } from "./fakes.ts";

useEks(withNodes);

const SECOND = "/clusters/hub/node-groups/second";
/** Name of the node that comes next. */
const NEXT = "ip-100-64-0-6.ec2.internal";
const failure =
  "process hub.1.kubelet did not start: it ended before it was ready (exit code 1). Log: /logs/hub.1.kubelet.log\n" +
  "I1130 10:00:00.000000   12 server.go:1] starting\n" +
  'E1130 10:00:01.000000   12 run.go:72] "command failed" err="no such field"\n' +
  "I1130 10:00:02.000000   12 server.go:2] ended";
const reason =
  "Instances failed to join the kubernetes cluster. process hub.1.kubelet did not start: it ended before it was ready (exit code 1). " +
  'Log: /logs/hub.1.kubelet.log: "command failed" err="no such field"';

const group = (path = SECOND) => groupAt(path);
const instances = async () =>
  ((await eks.store.get("hub").nodegroups["second"]?.nodes) ?? []).map((node) => node.instanceId);

describe("a node group whose node never joins", () => {
  beforeEach(async () => {
    eks.clusters.unstartable.set(NEXT, failure);
    await createSecond();
  });

  it("is CREATE_FAILED, with the instance and the reason as its health issue", async () => {
    await later(74);
    expect(await group()).toMatchObject({ status: "CREATING", health: { issues: [] } });
    await later(1);
    expect(await group()).toMatchObject({
      status: "CREATE_FAILED",
      health: { issues: [{ code: "NodeCreationFailure", message: reason, resourceIds: await instances() }] },
    });
    expect((await instances())[0]).toMatch(/^i-[0-9a-f]{17}$/);
  });

  it("does not keep the other node groups of its cluster from working, and is logged once", async () => {
    await eks.call("POST", "/clusters/hub/node-groups/main/update-config", {
      labels: { addOrUpdateLabels: { team: "a" } },
    });
    await later(1);
    expect((await group("/clusters/hub/node-groups/main")).status).toBe("ACTIVE");
    expect(eks.errors).toEqual([]);
    expect(eks.logged).toEqual([
      expect.stringMatching(/^node ip-100-64-0-6.ec2.internal \(i-.*exit code 1.*trying again$/),
    ]);
  });

  it("becomes ACTIVE when its node joins in time", async () => {
    await later(70);
    eks.clusters.unstartable.clear();
    await later(4);
    expect((await group()).status, "it is started every 5 seconds").toBe("CREATING");
    await later(1);
    expect(await group()).toMatchObject({ status: "ACTIVE", health: { issues: [] } });
  });

  it("stays CREATE_FAILED when its node could join later", async () => {
    await later(75);
    eks.clusters.unstartable.clear();
    await later(1);
    expect((await group()).status).toBe("CREATE_FAILED");
    expect(eks.clusters.nodes.has("hub/1")).toBe(false);
  });

  it("can't be updated, and can be deleted and created again", async () => {
    await later(75);
    const update = await eks.call("POST", `${SECOND}/update-config`, { scalingConfig: { desiredSize: 0, minSize: 0 } });
    expect([update.status, update.error, update.body.message]).toEqual([
      409,
      "ResourceInUseException",
      "Nodegroup cannot be updated as it is currently not in Active State",
    ]);
    eks.clusters.unstartable.clear();
    expect((await eks.call("DELETE", SECOND)).body.nodegroup.status).toBe("DELETING");
    await later(0);
    expect((await eks.call("GET", SECOND)).error).toBe("ResourceNotFoundException");
    await createSecond();
    await expect.poll(async () => (await group()).status).toBe("ACTIVE");
  });
});

describe("a node group", () => {
  it("fails its update when a new node fails to start", async () => {
    await createSecond();
    eks.clusters.unstartable.set("ip-100-64-0-10.ec2.internal", failure);
    const { body } = await eks.finish("POST", "/clusters/hub/node-groups/main/update-config", {
      scalingConfig: { desiredSize: 2 },
    });
    await later(75);
    expect(await group("/clusters/hub/node-groups/main")).toMatchObject({
      status: "DEGRADED",
      health: { issues: [{ code: "NodeCreationFailure", resourceIds: [expect.stringMatching(/^i-/)] }] },
    });
    expect(await updateOf(body.update.id)).toMatchObject({
      status: "Failed",
      errors: [{ errorCode: "NodeCreationFailure", errorMessage: reason }],
    });
  });

  it("reports a node that is away for five minutes, until it is back", async () => {
    const main = async () => group("/clusters/hub/node-groups/main");
    eks.clusters.notReady.add("ip-100-64-0-2.ec2.internal");
    await later(1);
    await later(300);
    expect(await main()).toMatchObject({ status: "ACTIVE", health: { issues: [{ code: "NodeCreationFailure" }] } });
    eks.clusters.notReady.clear();
    await later(1);
    expect(await main()).toMatchObject({ status: "ACTIVE", health: { issues: [] } });
  });

  it("names nodes that joined and aren't Ready as EKS does", async () => {
    eks.clusters.notReady.add(NEXT);
    await createSecond();
    await later(299);
    expect((await group()).status).toBe("CREATING");
    await later(1);
    expect(await group()).toMatchObject({
      status: "CREATE_FAILED",
      health: {
        issues: [
          {
            code: "NodeCreationFailure",
            message: `Unhealthy nodes in the kubernetes cluster. node ${NEXT} is not Ready (it has no network)`,
          },
        ],
      },
    });
  });

  it("starts its nodes with what a fault adds to the configuration of kubelets", async () => {
    eks.kubeletConfig = { maxPods: "many" };
    await createSecond();
    expect(eks.clusters.nodes.get("hub/1")?.kubelet).toEqual({ maxPods: "many" });
    expect(eks.clusters.nodes.get("hub/0")?.kubelet).toEqual({});
  });
});
