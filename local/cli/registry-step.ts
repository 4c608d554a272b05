import { ensurePackages } from "../crossplane/packages/index.ts";
import { publishCharts, publishImages, REGISTRY_PORT, registryProcesses } from "../registry/index.ts";
import { supervisorOf } from "../supervisor/client.ts";
import { cacheRoot } from "../toolchain/cache.ts";
import { choicesOf } from "./choices.ts";
import type { LocalFleet } from "./fleet.ts";
import { mirroredImages } from "./mirrors.ts";
import type { Step } from "./steps.ts";

/** The container registry with the Crossplane packages that are made here, under their upstream names. */
export const registryStep: Step<LocalFleet> = {
  name: "start the registry and publish the Crossplane packages",
  run: async (fleet, report) => {
    const instance = fleet.instance();
    const toolchain = fleet.toolchain();
    const packages = await ensurePackages(cacheRoot(), report);
    const { charts } = await choicesOf(instance);
    const isPrivate = charts === "private";
    const supervisor = supervisorOf(instance);
    for (const process of await registryProcesses(instance, toolchain.bin("docker-registry"), isPrivate))
      await supervisor.start(process);
    const images = isPrivate ? mirroredImages(toolchain.images()) : [];
    await publishImages(instance, toolchain.bin("crane"), [...packages, ...images]);
    if (charts !== "https")
      report(`charts ${(await publishCharts(instance, toolchain.bin("helm"), toolchain.charts)).join(", ")}`);
    report(`${packages.length} packages on ${instance.gatewayAddress}:${REGISTRY_PORT}`);
  },
};
