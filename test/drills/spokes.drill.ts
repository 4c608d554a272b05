import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { APP, sharedApp } from "../e2e/support/apps.ts";
import { getOnSpoke, sharedSpoke, untilReady } from "../e2e/support/spokes.ts";
import { faults, nothing } from "./faults.ts";
import { clear, phases } from "./phases.ts";
import { type Drill, rowOf, tableOf } from "./table.ts";
import { seenDuring } from "./watch.ts";

/**
 * Each fault in the middle of each phase of a spoke's life (docs/reference/drills.md). Beside it runs a spoke with an application that
 * nothing may happen to.
 */

const WITNESS = "blue";
/** Milliseconds for a phase with its waits, each of which has a limit of its own. */
const LIMIT = 3_600_000;

const drills: Drill[] = [];

/** The application's pods beside: each since when it has answered the kubelet's probes without a break. */
async function pods(): Promise<string[]> {
  const { items } = await getOnSpoke(WITNESS, ["pods", "--namespace", APP]);
  return items
    .map(({ metadata, status }: Pod) => {
      const ready = status.conditions.find(({ type }) => type === "Ready");
      const restarts = status.containerStatuses.map(({ restartCount }) => restartCount);
      return `${metadata.uid} Ready ${ready?.status} since ${ready?.lastTransitionTime}, restarts ${restarts.join(", ")}`;
    })
    .sort();
}

interface Pod {
  readonly metadata: { readonly uid: string };
  readonly status: {
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
    readonly containerStatuses: readonly { readonly restartCount: number }[];
  };
}

let before: readonly string[];
beforeAll(async () => {
  await sharedSpoke(WITNESS, "dev");
  await sharedApp(WITNESS, "dev");
  before = await pods();
});
afterAll(() => console.log(tableOf(drills, nothing.name).join("\n")));

describe.each(faults.map((fault, index) => [fault.name, fault, `d${index}`] as const))("%s", (_, fault, spoke) => {
  let isWell = true;
  afterAll(() => clear(spoke));
  test.each(phases.map((phase) => [phase.name, phase] as const))(
    "only delays the %s of a spoke, and needs at most one command",
    async (_, phase) => {
      expect(isWell, "the phase before did not end well").toBe(true);
      isWell = false;
      const begun = Date.now();
      const seen = await seenDuring(spoke, () => phase.run(spoke, () => fault.strike(spoke), fault.ofSpoke === true));
      const drill = { fault: fault.name, phase: phase.name, seconds: Math.round((Date.now() - begun) / 1000), seen };
      drills.push(drill);
      expect(seen.commands.length).toBeLessThanOrEqual(1);
      await untilReady(WITNESS);
      expect(await pods()).toEqual(before);
      isWell = true;
      // An interrupted run has told what it proved.
      console.log(rowOf(drill));
    },
    LIMIT,
  );
});
