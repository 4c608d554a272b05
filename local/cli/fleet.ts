import { type Instance, openInstance } from "../instance/index.ts";
import { stackExists } from "../pulumi/cli/index.ts";
import { type ProcessStatus, supervisorOf } from "../supervisor/client.ts";
import { cacheRoot } from "../toolchain/cache.ts";
import { ensureToolchain, isBuilt, isFilled, offerIn, type Toolchain } from "../toolchain/index.ts";
import { type Choices, settleChoices } from "./choices.ts";
import { preflight } from "./machine.ts";
import type { Step } from "./steps.ts";

/** What the steps work on; the machine steps fill it. */
export interface LocalFleet {
  /** The instance's folder. */
  readonly dir: string;
  /** Name of the Pulumi stack. */
  readonly stack: string;
  readonly toolchain: () => Toolchain;
  readonly instance: () => Instance;
}

export interface NewLocalFleet extends LocalFleet {
  /** The instance's processes; none before there is an instance. */
  readonly processes: () => Promise<readonly ProcessStatus[]>;
  /** Checks that the machine can run the embedded cloud. */
  readonly checkStep: Step<unknown>;
  readonly toolchainStep: Step<unknown>;
  /** Both. */
  readonly machineSteps: readonly Step<unknown>[];
  /** The folder is an instance. */
  readonly instanceStep: Step<unknown>;
}

/** A fleet whose toolchain and instance the first steps make; before that, asking for them throws. `wanted`: what a new instance is made with. */
export function newLocalFleet(dir: string, stack: string, wanted: Partial<Choices> = {}): NewLocalFleet {
  let toolchain: Toolchain | undefined;
  let instance: Instance | undefined;
  const made = <T>(what: string, value: T | undefined): T => {
    if (value === undefined) throw new Error(`there is no ${what} yet: the machine steps come first`);
    return value;
  };
  const checkStep: Step<unknown> = {
    name: "check the machine",
    run: async () => {
      const offered = (await offerIn()) !== undefined;
      const path = cacheRoot();
      await preflight({ path, complete: await isFilled(path), built: await isBuilt(path), offered }, dir);
    },
  };
  const toolchainStep: Step<unknown> = {
    name: "prepare the toolchain",
    run: async (_, report) => {
      toolchain = await ensureToolchain(report);
    },
  };
  const instanceStep: Step<unknown> = {
    name: "open the instance",
    run: async (_, report) => {
      instance = await openInstance(dir);
      await settleChoices(instance, wanted, await stackExists(dir, stack));
      report(`instance ${instance.index} in ${dir}, gateway address ${instance.gatewayAddress}`);
    },
  };
  return {
    dir,
    stack,
    toolchain: () => made("toolchain", toolchain),
    instance: () => made("instance", instance),
    processes: async () => (instance === undefined ? [] : supervisorOf(instance).list()),
    checkStep,
    toolchainStep,
    machineSteps: [checkStep, toolchainStep],
    instanceStep,
  };
}
