import { supervisorOf } from "@eks-gitops-fleet/local/supervisor";
import { beforeAll, expect, test } from "vitest";
import { parts } from "../../functions/spoke/groups.ts";
import { eventually, get, instance } from "./support/fleet.ts";
import { inventory, spokeInventory } from "./support/inventory.ts";
import type { Checkout } from "./support/repository.ts";
import {
  addSpoke,
  BOOTSTRAP_SECONDS,
  clusterOf,
  condition,
  exists,
  managedOf,
  system,
  untilGone,
  untilNoted,
} from "./support/spokes.ts";

/** One name again and again: nothing that an earlier cluster of it left may be in the way of the next one, or stay. */

/** As long as the Spoke API admits, so that nothing that derives from it may be too long. */
const NAME = `again-${"z".repeat(34)}`;
const ROUNDS = 20;
/** What the Spoke has reached when its folder goes: by turns nothing, each of its parts, everything. */
const stages = [undefined, ...Object.values(parts).map(({ condition }) => condition), "Ready"];

let repository: Checkout;
let before: readonly string[];
beforeAll(async () => {
  repository = await system();
  before = await inventory("fleet");
});

/** Objects of Flux on the hub that are of the spoke. */
async function leftInFlux(): Promise<string[]> {
  const kinds = "kustomizations,helmreleases,externalartifacts,gitrepositories,externalsecrets,secrets";
  const { items } = await get([kinds, "--all-namespaces"]);
  return items
    .map(({ kind, metadata }: { kind: string; metadata: { name: string } }) => `${kind} ${metadata.name}`)
    .filter((each: string) => each.includes(NAME));
}

const reached = async (stage: string | undefined): Promise<void> => {
  await eventually(BOOTSTRAP_SECONDS, async () => expect(await exists(NAME)).toBe(true));
  if (stage === undefined) return;
  await eventually(BOOTSTRAP_SECONDS, async () =>
    expect(await condition(NAME, stage), stage).toMatchObject({ status: "True" }),
  );
};

test(`a spoke can be made and removed ${ROUNDS} times under one name, whatever it has reached, without a leftover`, async () => {
  for (const round of Array(ROUNDS).keys()) {
    const stage = stages[round % stages.length];
    await addSpoke(repository, NAME, "dev");
    await repository.push(`Add spoke ${NAME}, round ${round + 1}`);
    await reached(stage);
    await repository.remove(`spokes/fleet/${NAME}`);
    await repository.push(`Remove spoke ${NAME}, round ${round + 1}`);
    await untilGone(NAME);
    const at = `round ${round + 1}, removed at ${stage ?? "once"}`;
    expect(await managedOf(NAME), at).toEqual([]);
    expect(await spokeInventory("fleet", NAME), at).toEqual([]);
    expect(await inventory("fleet"), at).toEqual(before);
  }
  await untilNoted(NAME);
  await eventually(120, async () => expect(await leftInFlux()).toEqual([]));
  const processes = (await supervisorOf(instance).list()).map(({ id }) => id);
  expect(processes.filter((id) => id.includes(clusterOf(NAME)))).toEqual([]);
}, 5_400_000);
