import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ringBranch } from "../../lib/rings.ts";
import { withResources } from "../support/checkout.ts";
import { succeeds } from "../support/process.ts";
import { eventually, get, git, instance, scratch } from "./support/fleet.ts";
import { killPods } from "./support/hub.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { clusterOf, fleet, getOnSpoke, sharedSpoke, spoke, system, untilReady } from "./support/spokes.ts";

/*
 * Two rings of one spoke each, and the command that hands changes on from ring to ring: started once and left alone, as its scheduled job
 * would be.
 */

const first = { ring: "canary", spoke: "blue" };
const second = { ring: "late", spoke: "green" };
const rings = [first, second];
/** Seconds that a change may take to hold on a spoke, on a machine that is busy. */
const ROLLOUT_SECONDS = 400;

const policy = "clusters/fleet/rings.yaml";
const composition = "platform/composition/composition.yaml";
const info = "spoke-bootstrap/sync/cluster-info.yaml";
const tools = "tools/base/kustomization.yaml";

let repository: Checkout;
/** Clones of the command: it reads nothing from the files of one. */
let clones: { readonly promoter: string; readonly reader: string };
let promoter: ChildProcess | undefined;

/** Starts the command that promotes, which goes on until it is ended. */
function startPromoter(): void {
  const log = createWriteStream(join(scratch, "rollouts.log"), { flags: "a" });
  promoter = spawn(
    join(instance.paths.bin, "fleet"),
    ["rollouts", "--promote", "--every", "5s", "--repository", clones.promoter],
    { stdio: ["ignore", "pipe", "pipe"], detached: true },
  );
  promoter.stdout?.pipe(log);
  promoter.stderr?.pipe(log);
}

/** Ends it with everything that it started. */
async function stopPromoter(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  const child = promoter;
  promoter = undefined;
  if (child?.pid === undefined || child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-child.pid, signal);
  await ended;
}

const editRing = (name: string, change: Editable) =>
  repository.edit(policy, (file) => ({
    ...file,
    rings: file.rings.map((ring: Editable) => {
      if (ring.name !== name) return ring;
      const changed = Object.entries({ ...ring, ...change }).filter(([, value]) => value !== null);
      return Object.fromEntries(changed);
    }),
  }));

/** Changes what the Composition, the chain and the tools bring to every spoke; the commit. */
async function release(name: string): Promise<string> {
  await repository.edit(composition, (manifest) => {
    manifest.metadata.labels["test.fleet.internal/release"] = name;
    return manifest;
  });
  await repository.edit(info, (manifest) => ({ ...manifest, data: { ...manifest.data, release: name } }));
  await repository.write("tools/base/release.yaml", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "release", namespace: "flux-system" },
    data: { release: name },
  });
  await repository.edit(tools, (manifest) => ({
    ...manifest,
    resources: [...manifest.resources.filter((file: string) => file !== "release.yaml"), "release.yaml"],
  }));
  return repository.push(`Release ${name}`);
}

/** What a spoke has of a release: of its Composition, its chain and its tools. */
async function releaseOf(name: string): Promise<(string | undefined)[]> {
  const { spec } = await spoke(name);
  const made = await get(["compositionrevision", spec.crossplane.compositionRevisionRef.name]);
  const chain = await getOnSpoke(name, ["configmap", "cluster-info", "--namespace", "flux-system"]);
  const installed = await getOnSpoke(name, ["configmaps", "--namespace", "flux-system"]);
  const marker = installed.items.find(({ metadata }: Editable) => metadata.name === "release");
  return [made.metadata.labels["test.fleet.internal/release"], chain.data.release, marker?.data.release];
}

const tip = async (ring: string): Promise<string> =>
  (await git(["ls-remote", "origin", `refs/heads/${ringBranch(ring)}`], repository.folder)).slice(0, 40);

/** Waits until a ring has a commit, and its Spoke says that it is healthy with it. */
async function untilHas({ ring, spoke: name }: typeof first, commit: string): Promise<void> {
  await eventually(ROLLOUT_SECONDS, async () => {
    expect(await tip(ring)).toBe(commit);
    const { status } = await spoke(name);
    expect(status.rollout).toMatchObject({ ring, revision: `${ringBranch(ring)}@sha1:${commit}` });
    expect(status.rollout.healthySince, status.message).toBeDefined();
    expect(status.rollout.next).toBeUndefined();
  });
}

interface Row {
  readonly ring: string;
  readonly state: string;
  readonly commit: string;
  readonly verdict: { readonly kind: string };
  readonly health: { readonly state: string };
}

/** What `fleet rollouts` says of the rings. */
async function rollouts(): Promise<Record<string, Row>> {
  const { stdout, stderr } = await fleet(["rollouts", "--output", "json", "--repository", clones.reader]);
  expect(stdout, stderr).toContain("{");
  return Object.fromEntries(JSON.parse(stdout).rings.map((row: Row) => [row.ring, row]));
}

/** Reasons of the events about a ring. */
async function told({ ring }: typeof first): Promise<string[]> {
  const { items } = await get(["events", "--namespace", "flux-system"]);
  return items
    .filter(({ involvedObject }: Editable) => involvedObject.name === `gitops-system-ring-${ring}`)
    .map(({ reason }: Editable) => reason);
}

const inRing = (name: string, ring: string | undefined) =>
  repository.edit(`spokes/fleet/${name}/spoke.yaml`, (manifest) => {
    const { ring: _, ...spec } = manifest.spec;
    const { compositionRef: __, ...crossplane } = spec.crossplane;
    const compositionRef = { name: `spoke-${ring}` };
    if (ring === undefined) return { ...manifest, spec: { ...spec, crossplane } };
    return { ...manifest, spec: { ...spec, ring, crossplane: { ...crossplane, compositionRef } } };
  });

beforeAll(async () => {
  await Promise.all([sharedSpoke(first.spoke, "dev"), sharedSpoke(second.spoke, "prod")]);
  repository = await system();
  clones = { promoter: (await system()).folder, reader: (await system()).folder };
  for (const { ring } of rings) {
    const args = ["new-ring", ring, "--soak", "20s", "--fleet", "fleet", "--repository", repository.folder];
    await succeeds(fleet(args));
  }
  await repository.push("Make two rings");
  startPromoter();
  // The second ring begins with what the first one has passed.
  await eventually(ROLLOUT_SECONDS, async () => {
    for (const { ring } of rings) expect(await tip(ring)).toHaveLength(40);
  });
  for (const each of rings) await inRing(each.spoke, each.ring);
  await repository.push("Put the spokes into their rings");
  await Promise.all(rings.map(async (each) => untilHas(each, await tip(each.ring))));
});

// Everything as it was: the spokes follow what the hub follows, and the rings go.
afterAll(async () => {
  await stopPromoter("SIGTERM");
  for (const each of rings) await inRing(each.spoke, undefined);
  for (const file of [composition, info, tools])
    await git(["checkout", "--quiet", start, "--", file], repository.folder);
  await repository.remove("tools/base/release.yaml");
  await repository.push("Take the spokes out of their rings");
  await eventually(ROLLOUT_SECONDS, async () => {
    for (const { spoke: name } of rings) {
      const { spec, status } = await spoke(name);
      expect(spec.crossplane.compositionRef.name).toBe("spoke");
      expect(status.rollout.ring).toBeUndefined();
      expect(await releaseOf(name)).toEqual([undefined, undefined, undefined]);
    }
  });
  await Promise.all(rings.map(({ spoke: name }) => untilReady(name)));
  await repository.edit("clusters/fleet/kustomization.yaml", ({ resources, ...manifest }) => ({
    ...manifest,
    resources: resources.filter((file: string) => !file.startsWith("rings/")),
  }));
  await repository.remove(policy, "clusters/fleet/note.yaml");
  for (const { ring } of rings) await repository.remove(`clusters/fleet/rings/${ring}.yaml`);
  await repository.push("Remove the rings");
  for (const { ring } of rings)
    await git(["push", "--quiet", "origin", `:refs/heads/${ringBranch(ring)}`], repository.folder);
});

/** The commit before any release. */
let start: string;
beforeAll(async () => {
  start = (await git(["rev-parse", "HEAD"], repository.folder)).trim();
});

test("a change of Composition, chain and tools is in the first ring at once, in the next one after the soak, by itself", async () => {
  const commit = await release("one");
  await eventually(ROLLOUT_SECONDS, async () => expect(await releaseOf(first.spoke)).toEqual(["one", "one", "one"]));
  // It soaks from when the Spoke is healthy with all of it.
  expect(await releaseOf(second.spoke)).toEqual([undefined, undefined, undefined]);
  await untilHas(first, commit);
  await untilHas(second, commit);
  expect(await releaseOf(second.spoke)).toEqual(["one", "one", "one"]);
  for (const each of rings) expect(await told(each)).toContain("RolloutPromoted");
  // The Spoke's revision is that of its own Flux's tools too.
  for (const each of rings) {
    const { status } = await getOnSpoke(each.spoke, ["kustomization", "tools", "--namespace", "flux-system"]);
    expect(status.lastAppliedRevision).toBe(`${ringBranch(each.ring)}@sha1:${commit}`);
  }
});

test("a commit that changes no ring's folders moves no ring", async () => {
  const before = await Promise.all(rings.map(({ ring }) => tip(ring)));
  await repository.write("clusters/fleet/note.yaml", { note: "nothing of a ring's" });
  const commit = await repository.push("Change nothing of a ring's");
  await eventually(60, async () => {
    const { status } = await get(["gitrepository", "gitops-system", "--namespace", "flux-system"]);
    expect(status.artifact.revision).toContain(commit);
  });
  const rows = await rollouts();
  expect(Object.values(rows).map(({ verdict }) => verdict.kind)).toEqual(["up to date", "up to date"]);
  expect(await Promise.all(rings.map(({ ring }) => tip(ring)))).toEqual(before);
});

describe("a bad change of the chain", () => {
  let good: string;
  let late: Editable;

  test("stops in the first ring; the second never sees it", async () => {
    good = await tip(second.ring);
    late = (await spoke(second.spoke)).status.rollout;
    await repository.write("spoke-bootstrap/base/bad.yaml", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "bad", namespace: "no-such-namespace" },
    });
    await repository.edit("spoke-bootstrap/base/kustomization.yaml", withResources("bad.yaml"));
    const commit = await repository.push("Break the chain");
    await eventually(ROLLOUT_SECONDS, async () => {
      const { canary } = await rollouts();
      expect([canary?.commit, canary?.health.state], canary?.state).toEqual([commit, "stopped"]);
    });
    await eventually(60, async () => expect(await told(first)).toContain("RolloutStopped"));
    expect((await spoke(first.spoke)).status.message).toContain("no-such-namespace");
    expect(await tip(second.ring)).toBe(good);
    expect((await spoke(second.spoke)).status.rollout).toEqual(late);
    expect((await rollouts())[second.ring]?.verdict.kind).toBe("waits for ring");
  });

  test("is rolled back by one revert, which the next ring has already", async () => {
    await git(["revert", "--no-edit", "HEAD"], repository.folder);
    await git(["push", "--quiet", "origin", "HEAD"], repository.folder);
    const commit = (await git(["rev-parse", "HEAD"], repository.folder)).trim();
    await untilHas(first, commit);
    expect(await tip(second.ring)).toBe(good);
    expect((await spoke(second.spoke)).status.rollout).toEqual(late);
    expect((await rollouts())[second.ring]?.verdict.kind).toBe("up to date");
  });
});

test("a change that is reverted while the first ring soaks never reaches the second", async () => {
  const good = await tip(second.ring);
  await editRing(first.ring, { soak: "1h" });
  await repository.push("Let the canary ring soak for longer");
  await untilHas(first, await release("doubtful"));
  await eventually(60, async () => expect((await rollouts())[first.ring]?.health.state).toBe("soaking"));
  await git(["revert", "--no-edit", "HEAD"], repository.folder);
  await editRing(first.ring, { soak: "20s" });
  const commit = await repository.push("Soak for a moment again");
  await untilHas(first, commit);
  expect(await releaseOf(first.spoke)).toEqual(["one", "one", "one"]);
  expect(await tip(second.ring)).toBe(good);
});

describe("by commits to rings.yaml", () => {
  let before: string;

  test("a ring is held, and the one before it goes on", async () => {
    before = await tip(second.ring);
    await editRing(second.ring, { hold: true });
    await repository.push("Hold the late ring");
    const commit = await release("two");
    await untilHas(first, commit);
    await eventually(60, async () => expect((await rollouts())[second.ring]?.verdict.kind).toBe("held"));
    expect(await tip(second.ring)).toBe(before);
  });

  test("a ring is rolled back to a commit, and its spoke has what it had then", async () => {
    await editRing(first.ring, { revision: before });
    await repository.push("Roll the canary ring back");
    await untilHas(first, before);
    expect(await releaseOf(first.spoke)).toEqual(["one", "one", "one"]);
    expect(await told(first)).toContain("RolloutRolledBack");
  });

  test("both go on when that is taken away", async () => {
    await editRing(first.ring, { revision: null });
    await editRing(second.ring, { hold: null });
    await repository.push("Let both rings go on");
    await eventually(ROLLOUT_SECONDS * 2, async () => {
      for (const each of rings) expect(await releaseOf(each.spoke)).toEqual(["two", "two", "two"]);
    });
  });
});

test("killing Flux, the function, Crossplane, the receiver and the command in the middle of a rollout only delays it", async () => {
  const commit = await release("three");
  await eventually(60, async () => expect(await tip(first.ring)).toBe(commit));
  await stopPromoter("SIGKILL");
  for (const name of ["kustomize-controller", "source-controller", "notification-controller", "source-watcher"])
    await killPods(name);
  await killPods("function-spoke");
  await killPods("crossplane-");
  await killPods("kustomize-controller", clusterOf(first.spoke));
  startPromoter();
  for (const each of rings) await untilHas(each, commit);
  for (const each of rings) expect(await releaseOf(each.spoke)).toEqual(["three", "three", "three"]);
});
