import { beforeEach, describe, expect, test } from "vitest";
import { GroupHealth, inService, succeeds } from "../../../../gateway/elb/health.ts";
import type { Group, Target } from "../../../../gateway/elb/snapshot.ts";

const [one, two]: [Target, Target] = [
  { address: "10.0.0.1", port: 80 },
  { address: "10.0.0.2", port: 80 },
];
const group: Group = {
  settings: { HealthCheckIntervalSeconds: 10, HealthyThresholdCount: 3, UnhealthyThresholdCount: 2 },
  targets: [one, two],
};
let health: GroupHealth;
let now: number;
let ill: readonly Target[];
/** A round of checks, ten seconds after the one before. */
const round = async (of = group) => {
  now += 10_000;
  return health.pass(of, now, async (target) => (ill.includes(target) ? "Target.Timeout" : undefined));
};
const states = () => [one, two].map(health.of);

beforeEach(() => {
  [health, now, ill] = [new GroupHealth(), 0, []];
});

describe("the health of targets", () => {
  test("is good after the first good answer of a new target", async () => {
    expect(states()).toEqual(["initial", "initial"]);
    ill = [two];
    expect(await round()).toBe(true);
    expect(states()).toEqual(["healthy", "initial"]);
    expect(inService(group, health)).toEqual([one]);
    expect(await round()).toBe(true);
    expect(states()).toEqual(["healthy", "unhealthy"]);
    expect(health.all().get("10.0.0.2:80")).toEqual({ state: "unhealthy", reason: "Target.Timeout" });
    expect(await round()).toBe(false);
  });

  test("changes after as many answers of the other kind as the thresholds say, one after another", async () => {
    await round();
    ill = [one];
    await round();
    ill = [];
    await round();
    ill = [one];
    await round();
    expect(states()).toEqual(["healthy", "healthy"]);
    await round();
    expect(states()).toEqual(["unhealthy", "healthy"]);
    ill = [];
    await round();
    await round();
    expect(states()).toEqual(["unhealthy", "healthy"]);
    await round();
    expect(states()).toEqual(["healthy", "healthy"]);
  });

  test("is asked for in the group's interval, of a new target at once", async () => {
    const checked: Target[] = [];
    const ask = async (target: Target) => void checked.push(target);
    const without = { ...group, targets: [one] };
    await health.pass(without, 0, ask);
    await health.pass(group, 5000, ask);
    expect(checked).toEqual([one, two]);
    await health.pass(group, 10_000, ask);
    expect(checked).toEqual([one, two, one]);
  });

  test("is forgotten with the target", async () => {
    await round();
    await round({ ...group, targets: [two] });
    expect(states()).toEqual(["initial", "healthy"]);
  });
});

describe("the targets in service", () => {
  test("are all where all are unhealthy, and none while they are new", async () => {
    expect(inService(group, health)).toEqual([]);
    ill = [one, two];
    await round();
    await round();
    expect(inService(group, health)).toEqual([one, two]);
  });
});

describe("a matcher", () => {
  test.for([
    ["200", 200, true],
    ["200", 204, false],
    ["200,204", 204, true],
    ["200-399", 302, true],
    ["200-299,404", 404, true],
    ["200-299", 500, false],
  ] as const)("%s of %d is %s", ([matcher, status, good]) => expect(succeeds(matcher, status)).toBe(good));
});
