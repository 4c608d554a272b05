import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { live, shownOf } from "../../../cli/report/live.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { cluster, fleetOf, serving } from "../list/support.ts";
import { app, hubFacts, now, report, spoke, unready } from "./support.ts";

const controllers: AbortController[] = [];
afterEach(() => {
  for (const controller of controllers.splice(0)) controller.abort();
});

const pace = { interval: 5, deadline: 500, idle: 30_000 };

/** The clock goes on only where a test lets it. */
let time = now;
beforeEach(() => {
  time = now;
});

const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 20_000, interval: 10 });

async function started(hub: KubeObject[], onBlue: KubeObject[], more: object = {}) {
  const controller = new AbortController();
  controllers.push(controller);
  const fleet = fleetOf(hub, { blue: serving(onBlue) });
  const list = vi.fn(fleet.hub.list);
  const its = { keys: [], isOffline: false, now: () => time, ...more };
  return { ...(await live({ ...fleet, hub: { ...fleet.hub, list } }, its, controller.signal, pace)), list, controller };
}

test("a change of a Spoke and of an application shows without anybody's doing", async () => {
  const hub = [spoke("blue"), cluster("blue")];
  const onBlue = [app("shop", "b")];
  const { shown } = await started(hub, onBlue);
  await until(() => shown().html.includes("1 of 1 application well"));
  const { etag } = shown();
  onBlue.splice(0, 1, app("shop", "b", { conditions: [unready("it fails")] }));
  await until(() => shown().html.includes("it fails"));
  expect(shown().etag).not.toBe(etag);
  hub.splice(0, 1);
  await until(() => shown().html.includes("The hub has no spokes"));
});

test("a hub that can't be read is told, with what was seen before; and it goes on when it can", async () => {
  const { shown, list } = await started([spoke("blue"), cluster("blue")], [app("shop", "b")]);
  await until(() => shown().html.includes('id="applications-blue"'));
  const own = list.getMockImplementation();
  list.mockRejectedValue(new Error("the context hub can't list spokes.fleet.internal"));
  await until(() => shown().html.includes("list spokes.fleet.internal"));
  expect(shown().html).toContain("This may be out of date");
  expect(shown().html).toContain('id="applications-blue"');
  if (own !== undefined) list.mockImplementation(own);
  await until(() => !shown().html.includes("This may be out of date"));
});

test("nothing is asked while nobody looks", async () => {
  const { shown, list } = await started([spoke("blue"), cluster("blue")], []);
  time += pace.idle;
  // Whoever was asking just then has its answer.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const calls = list.mock.calls.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(list.mock.calls.length).toBe(calls);
  expect(shown().html).toContain("This may be out of date: nobody looked for a while");
  await until(() => !shown().html.includes("This may be out of date"));
  expect(list.mock.calls.length).toBeGreaterThan(calls);
});

test("what spokes said before nobody looked is not shown as of now until they have been asked again", async () => {
  const blue = serving([app("shop", "b")]);
  let answer = Promise.resolve();
  const slow = { ...blue, list: (...asked: Parameters<typeof blue.list>) => answer.then(() => blue.list(...asked)) };
  const fleet = fleetOf([spoke("blue"), cluster("blue")], { blue: slow });
  const list = vi.fn(fleet.hub.list);
  const controller = new AbortController();
  controllers.push(controller);
  const { shown } = await live(
    { ...fleet, hub: { ...fleet.hub, list } },
    { keys: [], isOffline: false, now: () => time },
    controller.signal,
    { ...pace, deadline: 60_000 },
  );
  await until(() => shown().html.includes("1 of 1 application well"));
  let release = () => {};
  answer = new Promise((resolve) => {
    release = resolve;
  });
  time += pace.idle;
  expect(shown().html).toContain("nobody looked for a while");
  const calls = list.mock.calls.length;
  // The hub has been read several times since.
  await until(() => list.mock.calls.length > calls + 20);
  expect(shown().html).toContain("nobody looked for a while");
  release();
  await until(() => !shown().html.includes("nobody looked for a while"));
});

test("it ends with the signal, and does not begin where the hub shows its reader nothing", async () => {
  const { ended, controller } = await started([spoke("blue"), cluster("blue")], []);
  controller.abort();
  await ended;
  const refusing = { ...serving([]), list: () => Promise.reject(new Error("forbidden")) };
  const fleet = { ...fleetOf([]), hub: refusing };
  await expect(live(fleet, { keys: [], isOffline: false, now: () => time }, controller.signal)).rejects.toThrow(
    "forbidden",
  );
});

test("the time of a look alone is no change", () => {
  const facts = hubFacts([spoke("blue")]);
  const first = shownOf(report(facts), undefined);
  expect(shownOf(report(facts, {}, [], now + 60_000), undefined, first)).toBe(first);
  expect(shownOf(report(facts), "unreachable", first).etag).not.toBe(first.etag);
});
