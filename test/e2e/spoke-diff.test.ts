import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Report } from "../../cli/diff/report.ts";
import { labelKeys } from "../../lib/labels.ts";
import { eventually, get, kubectl, outputs, root } from "./support/fleet.ts";
import type { Checkout } from "./support/repository.ts";
import { fleet, managedOf, sharedSpoke, system, untilReady } from "./support/spokes.ts";

/** `fleet diff` with the facts of this hub and the recorded state of a spoke that runs, against what then happens on the hub. */

const SPOKE = "blue";
const file = join("spokes", "fleet", SPOKE, "spoke.yaml");
const ofSpoke = ["--namespace", "spokes", "--selector", `${labelKeys.cluster}=${SPOKE}`];

const folder = mkdtempSync(join(tmpdir(), "fleet-diff-"));
let repository: Checkout;
let days: number | undefined;

/** Changes the Spoke, in the checkout only. */
const keepLogs = (logRetentionDays: number | undefined) =>
  repository.edit(file, ({ spec, ...spoke }) => ({ ...spoke, spec: { ...spec, logRetentionDays } }));

/** What differs between what is pushed and the checkout, by cluster. */
async function diff(): Promise<Pick<Report, "gaps" | "clusters">> {
  const args = ["--repos", join(root, "repos"), "--bridge", join(folder, "bridge.json"), "--observed", folder];
  const { code, stdout, stderr } = await fleet(["diff", "origin/main", "./", ...args, "--format", "json"], {
    cwd: repository.folder,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** How often the specification of each object of the spoke in AWS was changed. */
async function generations(): Promise<ReadonlyMap<string, number>> {
  const items = await managedOf(SPOKE);
  return new Map(items.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.generation]));
}

beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  repository = await system();
  days = (await get(["spoke", SPOKE, "--namespace", "spokes"])).spec.logRetentionDays;
  writeFileSync(join(folder, "bridge.json"), JSON.stringify((await outputs()).bridgeData));
  const recorded = await kubectl(["get", "managed,configmaps,kustomizations", ...ofSpoke, "--output", "yaml"]);
  writeFileSync(join(folder, `${SPOKE}.yaml`), recorded);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  if ((await repository.restore()) !== undefined) await untilReady(SPOKE);
});

test("without a change it says that nothing changes, and leaves nothing out", async () => {
  const { gaps, clusters } = await diff();
  expect(gaps).toEqual([]);
  expect(clusters.map(({ name }) => name)).toEqual(expect.arrayContaining(["hub", SPOKE]));
  expect(clusters.flatMap(({ changes }) => changes)).toEqual([]);
});

test("what it says of a change is what happens when that is pushed, and no more", async () => {
  const before = await generations();
  await keepLogs(days === 7 ? 14 : 7);
  const { gaps, clusters } = await diff();
  expect(gaps).toEqual([]);
  expect(clusters.filter(({ changes }) => changes.length > 0).map(({ name }) => name)).toEqual([SPOKE]);
  const told = clusters.flatMap(({ changes }) =>
    changes.map(({ operation, kind, name }) => `${operation} ${kind} ${name}`),
  );
  await repository.push("Keep the log another time");
  const holds = async () => {
    const now = await generations();
    const changed = [...now].filter(([name, generation]) => before.get(name) !== generation).map(([name]) => name);
    expect([...now.keys()].sort()).toEqual([...before.keys()].sort());
    expect([`Spoke ${SPOKE}`, ...changed].map((name) => `changed ${name}`).sort()).toEqual(told.sort());
  };
  await eventually(120, holds);
  await untilReady(SPOKE);
  await holds();
});
