import { afterAll, describe, expect, it } from "vitest";
import { quotas } from "../../../../product.ts";
import {
  createSecond,
  type FakeEks,
  fakeAws,
  fakeEks,
  groupAt,
  later,
  stopWorkers,
  updateOf,
  volumeKeyProblem,
  withNodes,
} from "./fakes.ts";

afterAll(stopWorkers);

const SECOND = "/clusters/hub/node-groups/second";
const vcpuMessage =
  "Could not launch On-Demand Instances. VcpuLimitExceeded - You have requested more vCPU capacity than your current vCPU limit of 5 allows for " +
  "the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an " +
  "adjustment to this limit. Launching EC2 instance failed.";

/** A cluster with a node of two vCPUs, in an account with these quotas of vCPUs. */
async function cluster({ onDemand = 5, spot = 5 } = {}): Promise<FakeEks> {
  const aws = fakeAws({ [quotas.vcpus.code]: onDemand, [quotas.spotVcpus.code]: spot });
  const eks = await fakeEks({ aws });
  eks.nodesTakeVcpus = true;
  await withNodes(eks);
  return eks;
}
const group = (api: FakeEks, path = SECOND) => groupAt(path, api);
const launched = (eks: FakeEks): number => eks.store.get("hub").nodegroups["second"]?.nodes.length ?? 0;

const create = (api: FakeEks, desiredSize: number, over: object = {}) => {
  const scalingConfig = { minSize: 1, desiredSize, maxSize: desiredSize };
  return createSecond({ scalingConfig, instanceTypes: ["m6i.large"], ...over }, api);
};

describe("nodes that take vCPUs", () => {
  it("fails to create a node group above the quota with EC2's reason, and launches the nodes below it", async () => {
    const eks = await cluster();
    await create(eks, 2);
    expect(launched(eks)).toBe(1);
    expect((await group(eks)).status).toBe("CREATING");
    await later(75, eks);
    const asg = `eks-second-${(await group(eks)).nodegroupArn.split("/").at(-1)}`;
    expect(await group(eks)).toMatchObject({
      status: "CREATE_FAILED",
      health: { issues: [{ code: "AsgInstanceLaunchFailures", message: vcpuMessage, resourceIds: [asg] }] },
    });
  });

  it("creates the node group once the quota has room", async () => {
    const eks = await cluster({ onDemand: 6 });
    await create(eks, 2);
    expect(await group(eks)).toMatchObject({ status: "ACTIVE", health: { issues: [] } });
  });

  it("counts Spot Instances against their own quota", async () => {
    const eks = await cluster({ onDemand: 2, spot: 3 });
    await create(eks, 2, { capacityType: "SPOT" });
    expect(launched(eks)).toBe(1);
    await later(75, eks);
    expect(await group(eks)).toMatchObject({
      status: "CREATE_FAILED",
      health: { issues: [{ message: expect.stringContaining("MaxSpotInstanceCountExceeded") }] },
    });
  });

  it("doesn't count instances of other families", async () => {
    const eks = await cluster({ onDemand: 2 });
    await create(eks, 1, { instanceTypes: ["g5.xlarge"], amiType: "AL2023_x86_64_NVIDIA" });
    expect((await group(eks)).status).toBe("ACTIVE");
  });

  it("fails an update that finds no room for a new node, and keeps the old nodes", async () => {
    const eks = await cluster({ onDemand: 2 });
    await eks.finish("POST", "/clusters/hub/updates", { version: "1.35" });
    const main = "/clusters/hub/node-groups/main";
    const { body } = await eks.finish("POST", `${main}/update-version`, { version: "1.35" });
    await later(75, eks);
    expect(await updateOf(body.update.id, eks)).toMatchObject({
      status: "Failed",
      errors: [{ errorCode: "NodeCreationFailure", errorMessage: expect.stringContaining("limit of 2") }],
    });
    expect(await group(eks, main)).toMatchObject({ status: "ACTIVE", version: "1.34" });
    expect(eks.store.get("hub").nodegroups["main"]?.nodes).toMatchObject([{ version: "1.34" }]);
  });

  it("launches nodes above the quota without the fault", async () => {
    const eks = await cluster({ onDemand: 2 });
    eks.nodesTakeVcpus = false;
    await create(eks, 2);
    expect((await group(eks)).status).toBe("ACTIVE");
  });
});

describe("a key of volumes that Auto Scaling may not use", () => {
  it("fails to create the node group with Auto Scaling's reason, and launches no node", async () => {
    const eks = await cluster({ onDemand: 100 });
    await create(eks, 1, { launchTemplate: { id: "lt-key", version: "1" } });
    expect(launched(eks)).toBe(0);
    await later(75, eks);
    expect(await group(eks)).toMatchObject({
      status: "CREATE_FAILED",
      health: {
        issues: [
          {
            code: "AsgInstanceLaunchFailures",
            message: `Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: ${volumeKeyProblem}`,
          },
        ],
      },
    });
  });

  it("is none of other templates", async () => {
    const eks = await cluster({ onDemand: 100 });
    await create(eks, 1, { launchTemplate: { id: "lt-other", version: "1" } });
    expect(await group(eks)).toMatchObject({ status: "ACTIVE", health: { issues: [] } });
  });
});
