import { existsSync } from "node:fs";
import { join } from "node:path";
import { removeAll } from "../clusters/index.ts";
import {
  findInstance,
  folderProblem,
  INSTANCE_FOLDER,
  type Instance,
  leftovers,
  openInstance,
  releaseInstance,
  removeOwned,
} from "../instance/index.ts";
import { stackExists } from "../pulumi/cli/index.ts";
import { supervisorOf } from "../supervisor/client.ts";
import { ensureSystemCommands } from "../toolchain/index.ts";
import { runningCloudSteps } from "./cloud-steps.ts";
import { type LocalFleet, newLocalFleet } from "./fleet.ts";
import { cancelOperation } from "./operation.ts";
import { changeStack, readPulumi } from "./pulumi.ts";
import { registryStep } from "./registry-step.ts";
import { removeSpokesStep } from "./spoke-removal.ts";
import { pulumiSteps } from "./stack-steps.ts";
import { silent } from "./step-display.ts";
import { runSteps, type Step } from "./steps.ts";

export interface TeardownOptions {
  /** Stop everything without removing spokes and without `pulumi destroy`: for an instance where these don't work any more. */
  readonly force: boolean;
  /** Show no steps; one that fails still says so. Default: false. */
  readonly quiet?: boolean;
}

/** How many resources the stack still has. */
async function resourcesOf(instance: Instance, stack: string): Promise<number> {
  if (!(await stackExists(instance.dir, stack))) return 0;
  const { deployment } = JSON.parse(await readPulumi(instance, ["stack", "export", "--stack", stack])) as {
    deployment: { resources?: unknown[]; pending_operations?: unknown[] };
  };
  return (deployment.resources?.length ?? 0) + (deployment.pending_operations?.length ?? 0);
}

const cancelStep: Step<LocalFleet> = {
  name: "end a running Pulumi",
  run: (fleet, report) => cancelOperation(fleet.instance(), report),
};

const destroyStep: Step<LocalFleet> = {
  name: "remove the hub: pulumi destroy",
  run: (fleet, report) =>
    changeStack(fleet.instance(), fleet.stack, ["destroy", "--skip-preview", "--suppress-outputs"], report),
};

const stopStep: Step<LocalFleet> = {
  name: "stop every process and remove clusters, namespaces, mounts and routes",
  run: async (fleet) => {
    const instance = fleet.instance();
    // The gateway first: it would start clusters again.
    if ((await supervisorOf(instance).list()).length > 0) await supervisorOf(instance).stop("gateway");
    await removeAll(instance);
    await supervisorOf(instance).shutdown();
    await releaseInstance(instance);
  },
};

const stateStep: Step<LocalFleet> = {
  name: "remove the state",
  run: async ({ dir }, report) => {
    const others = await removeOwned(INSTANCE_FOLDER, dir);
    if (others.length > 0) report(`${dir} stays: ${others.join(", ")} in it is not of the instance`, true);
  },
};

const checkStep: Step<LocalFleet> = {
  name: "check that nothing is left",
  run: async (fleet) => {
    const left = await leftovers(fleet.instance());
    if (left.length > 0)
      throw new Error(
        `left on this machine: ${left.map(({ kind, name }) => `${kind} ${name}`).join(", ")}; end or remove these by hand`,
      );
  },
};

/**
 * Removes everything that `bringUp` made in a folder; works on a half-started or half-removed instance too. Resolves to
 * false when there was nothing.
 */
export async function tearDown(
  dir: string,
  stack: string,
  { force, quiet = false }: TeardownOptions,
): Promise<boolean> {
  if (!existsSync(join(dir, "instance.json"))) return false;
  const problem = await folderProblem(INSTANCE_FOLDER, dir);
  if (problem !== undefined) throw new Error(problem);
  const fleet = newLocalFleet(dir, stack);
  await ensureSystemCommands((line) => quiet || console.log(line));
  // After a reboot nothing runs and the claim is gone; opening the folder again gives it its addresses back.
  const known = (await findInstance(dir)) ?? (await openInstance(dir));
  const deployed = !force && (await resourcesOf(known, stack)) > 0;
  const logs = join(dir, "logs");
  const destroy = deployed
    ? [
        ...[...fleet.machineSteps, fleet.instanceStep, cancelStep, ...runningCloudSteps, registryStep, ...pulumiSteps],
        ...[removeSpokesStep, destroyStep],
      ]
    : [cancelStep];
  const steps = [...destroy, stopStep, checkStep, stateStep];
  await runSteps(steps, { ...fleet, instance: () => known }, logs, quiet ? { terminal: silent } : {});
  return true;
}
