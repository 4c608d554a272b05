import { expect, test } from "vitest";
import { look } from "../../../cli/list/look.ts";
import type { Spoke } from "../../../functions/spoke/api.ts";
import { cluster, fleetOf, flux, platform, serving, spoke } from "./support.ts";

const names = Array.from({ length: 100 }, (_, index) => `spoke-${index}`);
const spokes = names.map((name) => spoke(name) as Spoke);
const app = flux("Kustomization", "shop", "shop");

test("a hundred spokes are shown in less than two seconds, though two of them never answer", async () => {
  const never = () => new Promise<never>(() => {});
  const silent = { list: never, find: never, annotate: never, log: never };
  const answering = names.map((name) => [name, serving([...platform, app], 50)] as const);
  const apis = { ...Object.fromEntries(answering), "spoke-3": silent, "spoke-77": silent };
  const begun = performance.now();
  const rows = await look(
    fleetOf(
      names.map((name) => cluster(name)),
      apis,
    ),
    spokes,
    false,
    { ...{ deadline: 500, atOnce: 50 } },
  );
  expect(performance.now() - begun).toBeLessThan(2000);
  expect(rows.map(({ name }) => name)).toEqual(names);
  expect(rows.filter(({ applications }) => applications?.ready === 1)).toHaveLength(98);
  expect(rows.filter(({ isWell }) => !isWell)).toMatchObject([
    { name: "spoke-3", unreached: "it did not answer within 0.5 s" },
    { name: "spoke-77", unreached: "it did not answer within 0.5 s" },
  ]);
});

test("no more spokes are asked at once than are allowed", async () => {
  let [running, most] = [0, 0];
  const counting = {
    ...serving([]),
    list: async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return [];
    },
  };
  const some = names.slice(0, 20);
  const fleet = fleetOf(
    some.map((name) => cluster(name)),
    Object.fromEntries(some.map((name) => [name, counting])),
  );
  await look(fleet, spokes.slice(0, 20), false, { deadline: 5000, atOnce: 4 });
  // Two lists of each: Kustomizations and HelmReleases.
  expect(most).toBe(8);
});

test("one spoke that refuses hides no other", async () => {
  const fleet = fleetOf([cluster("spoke-0"), cluster("spoke-1")], { "spoke-1": serving([app]) });
  expect(await look(fleet, spokes.slice(0, 2), false)).toMatchObject([
    { unreached: "connect ECONNREFUSED", isWell: false },
    { applications: { ready: 1, total: 1 }, unreached: undefined, isWell: true },
  ]);
});

test("a spoke without an API server is not asked, nor is any with offline", async () => {
  const [first] = spokes.slice(0, 1);
  const making = { ...first, status: { phase: "ControlPlane", message: "control plane: making cluster" } } as Spoke;
  expect(await look(fleetOf([]), [making], false)).toMatchObject([
    { unreached: undefined, applications: undefined, isWell: false, message: "control plane: making cluster" },
  ]);
  expect(await look(fleetOf([cluster("spoke-0")]), spokes.slice(0, 1), true)).toMatchObject([
    { unreached: undefined, applications: undefined, isWell: true },
  ]);
});
