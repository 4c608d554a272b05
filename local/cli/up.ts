import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheRoot } from "../toolchain/cache.ts";
import type { AddonName } from "../toolchain/index.ts";
import { addonSteps } from "./addons.ts";
import type { Choices } from "./choices.ts";
import { cloudSteps, runningCloudSteps } from "./cloud-steps.ts";
import { demoSteps } from "./demo-steps.ts";
import { type LocalFleet, newLocalFleet } from "./fleet.ts";
import { processGuard } from "./process-guard.ts";
import { registryStep } from "./registry-step.ts";
import { hubSteps, pulumiSteps } from "./stack-steps.ts";
import { runSteps, type Timings } from "./steps.ts";
import { type Begins, keepDurations, lastDurations } from "./time-left.ts";

export interface UpOptions {
  /** Leave out the demo's spoke. */
  readonly hubOnly: boolean;
  /** Leave out everything of the fleet: an instance of another version keeps its repositories, its hub and its spokes. */
  readonly cloudOnly?: boolean;
  /** What a new instance is made with; another one keeps what it has. */
  readonly choices?: Partial<Choices>;
  /** Add-ons that are off by default, to be ready for clusters besides those of earlier starts. */
  readonly addons?: readonly AddonName[];
}

/** What a start finds in a folder; undefined where an earlier one was cut short, which says nothing of how long others take. */
function beginningOf(dir: string): Begins | undefined {
  if (!existsSync(join(dir, "instance.json"))) return "new";
  return existsSync(join(dir, "kubeconfig")) ? "existing" : undefined;
}

/**
 * Brings up everything in a folder: machine, toolchain, instance, AWS API, Git server, the hub by `pulumi up`, and one spoke with an
 * application by commits to Git. Idempotent.
 */
export async function bringUp(
  dir: string,
  stack: string,
  { hubOnly, cloudOnly = false, choices, addons = [] }: UpOptions,
): Promise<{ fleet: LocalFleet; timings: Timings }> {
  const fleet = newLocalFleet(dir, stack, choices);
  const services = [...(cloudOnly ? runningCloudSteps : cloudSteps), registryStep, ...(await addonSteps(dir, addons))];
  const cloud = [...fleet.machineSteps, fleet.instanceStep, ...services, ...pulumiSteps];
  const hub = cloudOnly ? [] : hubSteps;
  const steps = hubOnly || cloudOnly ? [...cloud, ...hub] : [...cloud, ...hub, ...demoSteps];
  const begins = cloudOnly ? undefined : beginningOf(dir);
  const durations = begins && (await lastDurations(cacheRoot(), begins));
  const guard = processGuard(fleet.processes);
  const timings = await runSteps(steps, fleet, join(dir, "logs"), { durations, guard });
  if (begins && !hubOnly) await keepDurations(cacheRoot(), begins, timings);
  return { fleet, timings };
}

/** Brings up what `pulumi preview` needs: everything but a cluster. */
export async function bringUpForPreview(dir: string, stack: string): Promise<LocalFleet> {
  const fleet = newLocalFleet(dir, stack);
  const steps = [...fleet.machineSteps, fleet.instanceStep, ...cloudSteps, ...pulumiSteps];
  await runSteps(steps, fleet, join(dir, "logs"), { guard: processGuard(fleet.processes) });
  return fleet;
}
