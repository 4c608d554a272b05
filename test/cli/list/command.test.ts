import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { run } from "../../../cli/list/command.ts";
import { UsageError } from "../../../cli/usage.ts";
import type { KubeObject } from "../../../functions/spoke/kube.ts";
import { cluster, fleetOf, flux, no, serving, spoke } from "./support.ts";

const shop = (more: object = {}) => flux("Kustomization", "shop", "shop", more);
const broken = { status: { conditions: [no("it fails")] } };
const green = spoke("green", { spec: { environment: "prod", tenant: "shops" } });

let hub: KubeObject[];
let onBlue: KubeObject[];
let written: string;
beforeEach(() => {
  hub = [green, spoke("blue"), cluster("blue"), cluster("green")];
  onBlue = [shop()];
  written = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    written += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

const its = (width?: number, signal = AbortSignal.abort()) => ({
  connect: async () => fleetOf(hub, { blue: serving(onBlue), green: serving([]) }),
  now: () => Date.parse("2026-11-25T09:00:00Z"),
  signal: () => signal,
  ...{ interval: 5, width },
});
const list = (...argv: string[]) => run(argv, its());

test("spokes stand in the order of their names, and all is well when each is Ready with its applications", async () => {
  expect(await list()).toBe(0);
  expect(written).toMatch(/^NAME.*\nblue .* 1 of 1 .*\ngreen .* 0 of 0 /);
});

test("the exit code is 1 as soon as one application is broken", async () => {
  onBlue = [shop(broken)];
  expect(await list()).toBe(1);
  expect(written).toContain("Kustomization shop: it fails");
  expect(await list("--environment", "prod")).toBe(0);
  expect(await list("--offline")).toBe(0);
});

test("only the spokes that are asked for are shown", async () => {
  expect(await list("--tenant", "shops", "-o", "json")).toBe(0);
  expect(JSON.parse(written).spokes).toMatchObject([{ name: "green", applications: { ready: 0, total: 0 } }]);
});

test("YAML has the same data as JSON", async () => {
  await list("-o", "json");
  const json = written;
  written = "";
  await list("-o", "yaml");
  expect(parse(written)).toEqual(JSON.parse(json));
});

test("a value that no spoke has is refused, with those that there are", async () => {
  const error = await list("--environment", "prd", "--ring", "canary").catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).message).toMatch(
    /--environment: has an unknown value\n.*prd\n.*dev, prod\n.*name one that a spoke of this hub has\n[\s\S]*--ring/,
  );
});

async function watched(width: number | undefined, ...argv: string[]) {
  const controller = new AbortController();
  const running = run(["--watch", ...argv], its(width, controller.signal));
  await vi.waitUntil(() => written.includes("blue"));
  const first = written;
  written = "";
  onBlue.splice(0, 1, shop(broken));
  await vi.waitUntil(() => written.includes("it fails"));
  controller.abort();
  expect(await running).toBe(0);
  return { first, second: written };
}

test("with --watch and no terminal only the lines that changed follow the table", async () => {
  const { first, second } = await watched(undefined);
  expect(first.split("\n")).toHaveLength(4);
  expect(second).toMatch(/^blue .*Kustomization shop: it fails\n$/);
});

test("with --watch a terminal shows the table again in its place", async () => {
  const { second } = await watched(200);
  expect(second.startsWith("\u001b[2J\u001b[HNAME ")).toBe(true);
  expect(second).toMatch(/\nblue .*it fails\ngreen .*\n$/);
});

test("with --watch and JSON each change is a line with all spokes", async () => {
  const { second } = await watched(undefined, "-o", "json");
  expect(JSON.parse(second).spokes).toHaveLength(2);
});

test("with --watch a look that fails is told, and the next one goes on", async () => {
  const told = vi.spyOn(console, "error").mockReturnValue();
  const controller = new AbortController();
  let fails = false;
  const base = its(undefined, controller.signal);
  const fleet = await base.connect();
  const list = vi.fn(async (...args: Parameters<typeof fleet.hub.list>) => {
    if (fails) throw new Error("the context hub can't list spokes.fleet.internal");
    return fleet.hub.list(...args);
  });
  const running = run(["--watch"], { ...base, connect: async () => ({ ...fleet, hub: { ...fleet.hub, list } }) });
  await vi.waitUntil(() => written.includes("blue"));
  fails = true;
  await vi.waitUntil(() => told.mock.calls.length > 0);
  fails = false;
  const calls = list.mock.calls.length;
  await vi.waitUntil(() => list.mock.calls.length > calls + 2);
  controller.abort();
  expect(await running).toBe(0);
});
