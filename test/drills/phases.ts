import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { APP, appFolder, onboard, untilHealthy } from "../e2e/support/apps.ts";
import { eventually } from "../e2e/support/fleet.ts";
import { spokeInventory } from "../e2e/support/inventory.ts";
import type { Checkout } from "../e2e/support/repository.ts";
import { keysIn, rotateDeployKeys } from "../e2e/support/rotation.ts";
import {
  addSpoke,
  calledByGit,
  condition,
  exists,
  managedOf,
  registerWebhooks,
  spoke,
  system,
  tryOnSpoke,
  untilGone,
  untilReady,
  untilVersion,
  workloads,
} from "../e2e/support/spokes.ts";
import { withSpec } from "../support/checkout.ts";

/** Seconds for a phase in which something goes wrong: what is refused meanwhile is tried again after longer and longer pauses. */
const PATIENCE = 1500;
/** Seconds until a phase is in its middle. */
const MIDDLE = 900;

const environment = "dev";
const [first, next] = ["1.35", "1.36"] as const;
const folderOf = (name: string) => join("spokes", "fleet", name);

const until = (check: () => Promise<boolean>, what: string) =>
  eventually(MIDDLE, async () => expect(await check(), what).toBe(true));
const isTrue = async (name: string, type: string) => (await condition(name, type))?.["status"] === "True";

/** A spoke's folder in a checkout that is up to date. */
const edited = async (name: string, spec: object): Promise<Checkout> => {
  const repository = await system();
  await repository.edit(join(folderOf(name), "spoke.yaml"), withSpec({ ...spec }));
  return repository;
};

/** A part of a spoke's life. */
export interface Phase {
  /** What happens, as the table says it. */
  readonly name: string;
  /**
   * Lets it happen, to its end, and looks whether everything is as it must be then.
   * @param strike is called in the middle
   */
  readonly run: (name: string, strike: () => Promise<void>, hitsSpoke: boolean) => Promise<void>;
}

/** The life of a spoke, in order. */
export const phases: readonly Phase[] = [
  {
    name: "creation",
    async run(name, strike, hitsSpoke) {
      const repository = await system();
      await addSpoke(repository, name, environment, undefined, [...calledByGit, "--kubernetes-version", first]);
      await repository.push(`Add spoke ${name}`);
      const middle = hitsSpoke ? "NodesReady" : "NetworkReady";
      await until(async () => (await exists(name)) && (await isTrue(name, middle)), middle);
      await strike();
      await untilReady(name, PATIENCE);
    },
  },
  {
    name: "upgrade",
    async run(name, strike) {
      const repository = await edited(name, { kubernetesVersion: next });
      await repository.push(`Upgrade spoke ${name}`);
      await until(async () => (await spoke(name)).spec.kubernetesVersion === next, "the hub has the commit");
      await strike();
      await untilVersion(name, next, PATIENCE);
    },
  },
  {
    name: "rollout",
    async run(name, strike) {
      await onboard(name, environment, ["--git-receiver", "github"]);
      await until(async () => (await tryOnSpoke(name, ["get", "namespace", APP])).code === 0, `namespace ${APP}`);
      await strike();
      await untilHealthy(name, PATIENCE);
      // It asks every cluster, of which one may only be coming back.
      await eventually(PATIENCE, registerWebhooks);
    },
  },
  {
    name: "rotation",
    async run(name, strike) {
      const repository = await system();
      const said = await rotateDeployKeys(repository, name, strike, PATIENCE);
      // It had the fleet's, with which the hub goes on to read: nothing is to be removed.
      expect(keysIn(said)).toEqual([]);
    },
  },
  {
    name: "removal",
    async run(name, strike, hitsSpoke) {
      const repository = await system();
      await repository.remove(folderOf(name));
      await repository.push(`Remove spoke ${name}`);
      // Of the spoke's own cluster nothing may be left to hit when the hub is seen to remove it.
      if (!hitsSpoke)
        await until(
          async () => !(await exists(name)) || (await spoke(name)).metadata.deletionTimestamp !== undefined,
          "the hub has the commit",
        );
      await strike();
      await untilGone(name, PATIENCE);
      expect(await managedOf(name)).toEqual([]);
      expect(await spokeInventory("fleet", name)).toEqual([]);
      await offboard(name);
    },
  },
];

async function offboard(name: string): Promise<void> {
  const governance = await workloads();
  if (!existsSync(join(governance.folder, appFolder(name)))) return;
  await governance.remove(appFolder(name));
  await governance.push(`Offboard ${APP} on ${name}`);
}

/** Takes away what a phase has left that failed: a spoke in its middle would take time from the drills after it. */
export async function clear(name: string): Promise<void> {
  const repository = await system();
  if (existsSync(join(repository.folder, folderOf(name)))) {
    await repository.remove(folderOf(name));
    await repository.push(`Remove spoke ${name}`);
  }
  await untilGone(name, PATIENCE);
  await offboard(name);
}
