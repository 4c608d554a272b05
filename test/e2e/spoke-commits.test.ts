import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { labelKeys } from "../../lib/labels.ts";
import { spokeSync } from "../../lib/layout.ts";
import { spokeApi } from "../../lib/spoke.ts";
import { withSpec } from "../support/checkout.ts";
import { fetchNow } from "../support/cluster.ts";
import { eventually, get, hub } from "./support/fleet.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { REMOVAL_SECONDS, spoke, syncOf, system, untilGone, untilNoted, writeSpoke } from "./support/spokes.ts";

/** Spokes that the function refuses, of a Kubernetes version that the Composition does not offer: Flux applies them, and they cost nothing. */
const GOOD = ["good-one", "good-two", "good-three", "good-four", "good-five"];
const [CHANGED = "", ...OTHERS] = GOOD;
/** Seconds from a push until Flux has done something with it, on a machine that is busy. */
const SYNC_SECONDS = 180;

const manifest = (name: string, spec: object = {}) => ({
  apiVersion: spokeApi.apiVersion,
  kind: spokeApi.kind,
  metadata: { name, namespace: spokeApi.namespace, labels: { [labelKeys.fleet]: "fleet" } },
  spec: { region: "us-east-1", kubernetesVersion: "1.30", environment: "dev", ...spec },
});

let repository: Checkout;

/** Pushes, and tells Flux on the hub as a webhook of the Git host does. */
async function push(message: string): Promise<string> {
  const commit = await repository.push(message);
  await fetchNow(hub, "gitops-system", "flux-system");
  return commit;
}

const folderOf = (name: string): string => join("spokes", "fleet", name);
const write = (path: string, text: string): void => {
  const file = join(repository.folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

const conditionOf = ({ status }: Editable) =>
  status?.conditions?.find(({ type }: { type: string }) => type === "Ready") ?? {};

/** Waits until Flux has applied these spokes, each by its own Kustomization. */
const untilApplied = (...names: readonly string[]) =>
  eventually(SYNC_SECONDS, async () => {
    for (const name of names) {
      expect(conditionOf(await syncOf(name)), name).toMatchObject({ status: "True" });
      expect((await spoke(name)).metadata.labels["kustomize.toolkit.fluxcd.io/name"]).toBe(spokeSync(name));
    }
  });

const change = (name: string, logRetentionDays: number) =>
  repository.edit(join(folderOf(name), "spoke.yaml"), withSpec({ logRetentionDays }));

/** Pushes a change of a spoke and waits until the hub has it. */
async function changeOn(name: string, days: number): Promise<string> {
  await change(name, days);
  const commit = await push(`Keep the log of ${name} for ${days} days`);
  await eventually(SYNC_SECONDS, async () => expect((await spoke(name)).spec.logRetentionDays).toBe(days));
  return commit;
}

beforeAll(async () => {
  repository = await system();
  for (const name of GOOD) await writeSpoke(repository, name, manifest(name));
  await push("Add spokes");
  await untilApplied(...GOOD);
});

afterAll(async () => {
  await repository.restore();
  await fetchNow(hub, "gitops-system", "flux-system");
  for (const name of GOOD) await untilGone(name);
  await untilNoted(...GOOD);
});

describe("a commit that changes one spoke", () => {
  /** What would be different if Flux had reconciled the Kustomizations of the other spokes. */
  const untouched = async () =>
    Promise.all(
      OTHERS.map(async (name) => {
        const { metadata, status } = await syncOf(name);
        const { lastAppliedRevision, lastAttemptedRevision, lastHandledReconcileAt } = status;
        const { resourceVersion } = metadata;
        return { name, resourceVersion, lastAppliedRevision, lastAttemptedRevision, lastHandledReconcileAt };
      }),
    );

  /** Revisions of what the platform's steps have applied; the root applies what decides about them. */
  const platform = async () =>
    (await get(["kustomizations", "--namespace", "flux-system"])).items
      .filter(({ metadata }: Editable) => metadata.name !== "hub" && !GOOD.map(spokeSync).includes(metadata.name))
      .map(({ metadata, status }: Editable) => `${metadata.name} ${status.lastAppliedRevision}`);

  test("reconciles that spoke's Kustomization and no other's, and no step of the platform", async () => {
    const before = await untouched();
    const steps = await platform();
    const { lastAppliedRevision } = (await syncOf(CHANGED)).status;
    const commit = await changeOn(CHANGED, 14);
    await eventually(SYNC_SECONDS, async () => {
      const { status } = await syncOf(CHANGED);
      expect(status.lastAppliedRevision).not.toBe(lastAppliedRevision);
      // By this the commit's author finds it.
      expect(status.lastAppliedOriginRevision).toBe(`main@sha1:${commit}`);
      const root = await get(["kustomization", "hub", "--namespace", "flux-system"]);
      expect(root.status.lastAppliedRevision).toBe(`main@sha1:${commit}`);
      expect(conditionOf(root)).toMatchObject({ status: "True" });
    });
    expect(await untouched()).toEqual(before);
    expect(await platform()).toEqual(steps);
  });

  test("that changes nothing which is applied is fetched, and reconciles none", async () => {
    const names = [CHANGED, ...OTHERS];
    const revisions = async () =>
      Promise.all(names.map(async (name) => [name, (await syncOf(name)).metadata.resourceVersion]));
    const before = await revisions();
    write("NOTES.md", "Nothing that Flux applies.\n");
    const commit = await push("Write a note");
    await eventually(SYNC_SECONDS, async () => {
      const { status } = await get(["externalartifact", "spokes", "--namespace", "flux-system"]);
      expect(status.artifact.metadata["org.opencontainers.image.revision"]).toBe(`main@sha1:${commit}`);
    });
    expect(await revisions()).toEqual(before);
  });
});

describe("broken spokes beside good ones", () => {
  const refused = ["refused-one", "refused-two", "refused-three", "refused-four", "refused-five"];
  const unreadable = ["unreadable-one", "unreadable-two", "unreadable-three"];
  const missing = ["missing-one", "missing-two"];
  const broken = [...refused, ...unreadable, ...missing];
  const misnamed = "Not_A_Spoke";

  beforeAll(async () => {
    for (const name of broken) await writeSpoke(repository, name, manifest(name, { kubernetesVersion: "newest" }));
    for (const name of unreadable) write(join(folderOf(name), "spoke.yaml"), "metadata: [\n");
    for (const name of missing) await repository.remove(join(folderOf(name), "spoke.yaml"));
    await writeSpoke(repository, misnamed, manifest("misnamed"));
    await push("Add broken spokes");
  });
  afterAll(async () => {
    await repository.remove(...[...broken, misnamed].map(folderOf));
    await push("Remove the broken spokes");
    await untilNoted(...broken);
  });

  test("say why in the condition of their own Kustomization, with their file or object and what is wrong", async () => {
    await eventually(SYNC_SECONDS, async () => {
      const said = async (name: string) => conditionOf(await syncOf(name));
      for (const name of refused)
        expect(await said(name)).toMatchObject({
          status: "False",
          message: expect.stringMatching(
            new RegExp(`Spoke/spokes/${name} dry-run failed \\(Invalid\\)[^]*kubernetesVersion`),
          ),
        });
      for (const name of unreadable)
        expect(await said(name)).toMatchObject({
          status: "False",
          message: expect.stringMatching(/spoke\.yaml.*yaml/is),
        });
      for (const name of missing)
        expect(await said(name)).toMatchObject({ status: "False", message: expect.stringMatching(/spoke\.yaml/) });
    });
  });

  test("hold up nobody: the good ones' commits pass, spokes are added and removed, and none of theirs is anybody's", async () => {
    for (const [index, name] of GOOD.entries()) await change(name, [1, 3, 5, 7, 14][index] as number);
    await writeSpoke(repository, "late", manifest("late"));
    await push("Change every good spoke, and add one");
    await eventually(SYNC_SECONDS, async () => {
      for (const [index, name] of GOOD.entries())
        expect((await spoke(name)).spec.logRetentionDays, name).toBe([1, 3, 5, 7, 14][index]);
    });
    await untilApplied(...GOOD, "late");
    await repository.remove(folderOf("late"));
    await push("Remove it again");
    await untilGone("late");
    for (const name of ["each-spoke", "hub"])
      expect(conditionOf(await get(["kustomization", name, "--namespace", "flux-system"])), name).toMatchObject({
        status: "True",
      });
    const { items } = await get(["spokes", "--namespace", "spokes"]);
    expect(items.map(({ metadata }: Editable) => metadata.name).sort()).toEqual([...GOOD].sort());
  });

  test("come up by themselves when they are corrected", async () => {
    const [name = ""] = unreadable;
    await writeSpoke(repository, name, manifest(name));
    await push("Correct one");
    await untilApplied(name);
  });
});

describe("a folder that has lost its Kustomization", () => {
  const name = "reverted";
  const flux = join(folderOf(name), "flux");
  const untilEachSpoke = (expected: Record<string, unknown>) =>
    eventually(SYNC_SECONDS, async () =>
      expect(conditionOf(await get(["kustomization", "each-spoke", "--namespace", "flux-system"]))).toMatchObject(
        expected,
      ),
    );

  afterAll(async () => {
    await repository.remove(folderOf(name));
    await push("Remove the spoke that kept its folder");
    await untilGone(name);
    await untilNoted(name);
  });

  test("keeps its Spoke, and Flux says what is missing", async () => {
    await writeSpoke(repository, name, manifest(name));
    await push("Add the spoke");
    await untilApplied(name);
    const { uid } = (await spoke(name)).metadata;
    await repository.remove(flux);
    await push("Lose a Kustomization");
    await untilEachSpoke({
      status: "False",
      message: expect.stringContaining(`Kustomization ${spokeSync(name)} is removed after its folder`),
    });
    await writeSpoke(repository, name, manifest(name));
    await push("Give it back");
    await untilEachSpoke({ status: "True" });
    expect((await spoke(name)).metadata).toMatchObject({ uid });
    expect((await syncOf(name)).metadata.deletionTimestamp).toBeUndefined();
  });
});

describe("the removal of spokes", () => {
  test("waits in their Kustomization until they are gone, also of the last one", async () => {
    const finalizer = "example.com/held-by-a-test";
    const patch = (finalizers: string[] | null) =>
      hub.kubectl([
        ...["patch", "spoke", CHANGED, "--namespace", "spokes", "--type", "merge"],
        ...["--patch", JSON.stringify({ metadata: { finalizers } })],
      ]);
    const { metadata } = await spoke(CHANGED);
    await patch([...(metadata.finalizers ?? []), finalizer]);
    await repository.remove(...GOOD.map(folderOf));
    await push("Remove all spokes");
    for (const name of OTHERS) await untilGone(name);
    await untilNoted(...OTHERS);
    await eventually(SYNC_SECONDS, async () => {
      expect((await spoke(CHANGED)).metadata.finalizers).toEqual([finalizer]);
      expect((await syncOf(CHANGED)).metadata.deletionTimestamp).toBeDefined();
    });
    await patch(null);
    await untilGone(CHANGED);
    await untilNoted(CHANGED);
    await eventually(REMOVAL_SECONDS, async () => {
      const kinds = ["kustomizations", "externalartifacts"];
      const { items } = await get([kinds.join(","), "--namespace", "flux-system"]);
      const left = items.filter(({ metadata }: Editable) => metadata.name.startsWith(spokeSync("")));
      expect(left.map(({ kind, metadata }: Editable) => `${kind} ${metadata.name}`)).toEqual([]);
    });
  });
});
