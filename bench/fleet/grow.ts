import { setTimeout as sleep } from "node:timers/promises";
import { type Kubectl, type LocalFleet, raiseQuotas } from "@eks-gitops-fleet/local/cli";
import { type Conditioned, holding, listed, until } from "../cluster.ts";
import { addSpokes, nameOf } from "./spokes.ts";
import { type Usage, usageOf } from "./usage.ts";

/** How long the fleet is looked at while nothing is asked of it; before that it comes to rest. */
export const IDLE_SECONDS = 60;
const REST_SECONDS = 30;
const POLL = 3000;
/** A role for each identity of a spoke, its control plane and its nodes. */
const ROLES = 10;

export interface Measured {
  readonly size: number;
  readonly added: number;
  /** Milliseconds from the push until Flux had made each of the added Spokes. */
  readonly made: readonly number[];
  /** Milliseconds from the push until each of the added Spokes was Ready. */
  readonly ready: readonly number[];
  readonly before: Usage;
  readonly after: Usage;
  /** Before and after {@link IDLE_SECONDS} in which nothing was asked for. */
  readonly rest: readonly [Usage, Usage];
}

/** Asks for what so many spokes need: a hub, the default VPC and the spokes are more than a new account may have. */
async function askForQuotas(fleet: LocalFleet, size: number): Promise<void> {
  const instance = fleet.instance();
  const each = ["vpcs", "gatewayEndpoints", "addresses", "natGateways", "clusters", "oidcProviders"] as const;
  await raiseQuotas(instance, each, size + 5);
  await raiseQuotas(instance, ["roles"], 100 + size * ROLES);
}

/** Most milliseconds until all of so many new spokes are Ready. */
const limitFor = (added: number): number => 600_000 + added * 60_000;

const since = (pushed: number, when: string | undefined): number => Date.parse(when ?? "") - pushed;

/** Lets the fleet grow to a size, and then rest. */
export async function grow(
  fleet: LocalFleet,
  kubectl: Kubectl,
  from: number,
  size: number,
  report: (line: string) => void,
): Promise<Measured> {
  const instance = fleet.instance();
  const numbers = Array.from({ length: size - from }, (_, index) => from + index + 1);
  await askForQuotas(fleet, size);
  const before = await usageOf(instance, kubectl);
  const pushed = await addSpokes(fleet, numbers);
  let spokes: ReadonlyMap<string, Conditioned> = new Map();
  const found = (number: number) => spokes.get(nameOf(number)) ?? { metadata: { name: "" } };
  const left = () => numbers.filter((number) => holding(found(number), "Ready") === undefined);
  let said = numbers.length;
  await until(
    async () => {
      spokes = new Map((await listed(kubectl, "spokes")).map((spoke) => [spoke.metadata.name, spoke]));
      if (left().length <= said - Math.max(10, numbers.length / 10)) {
        said = left().length;
        report(`${size - said} spokes Ready after ${Math.round((Date.now() - pushed) / 1000)} s`);
      }
      return left().length === 0;
    },
    {
      pause: POLL,
      limit: limitFor(numbers.length),
      state: () =>
        left()
          .map((number) => `${nameOf(number)}: ${found(number).status?.phase}: ${found(number).status?.message}`)
          .slice(0, 10)
          .join("\n"),
    },
  );
  const after = await usageOf(instance, kubectl);
  report(`${size} spokes Ready; looking at them for ${IDLE_SECONDS} s after ${REST_SECONDS}`);
  await sleep(REST_SECONDS * 1000);
  const resting = await usageOf(instance, kubectl);
  await sleep(IDLE_SECONDS * 1000);
  return {
    size,
    added: numbers.length,
    made: numbers.map((number) => since(pushed, found(number).metadata.creationTimestamp)),
    ready: numbers.map((number) => since(pushed, holding(found(number), "Ready")?.lastTransitionTime)),
    before,
    after,
    rest: [resting, await usageOf(instance, kubectl)],
  };
}
