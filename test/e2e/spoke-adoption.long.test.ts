import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { labelKeys } from "../../lib/labels.ts";
import { withSpec } from "../support/checkout.ts";
import { APP, fetchNow, info, manifests, sharedApp, untilApplied, untilServed } from "./support/apps.ts";
import { eventually, get, git, outputs, tryKubectl } from "./support/fleet.ts";
import { spokeInventory } from "./support/inventory.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { asking } from "./support/requests.ts";
import {
  condition,
  fleet,
  getOnSpoke,
  managedOf,
  sharedSpoke,
  spoke,
  system,
  untilGone,
  untilReady,
  workloads,
} from "./support/spokes.ts";

/**
 * A spoke that its hub lets go and takes in again. The hub that takes it in knows nothing of it but what is in Git and in AWS, like one that
 * was rebuilt.
 */

const SPOKE = "harbor";
const folder = join("spokes", "fleet", SPOKE);
const file = join(folder, "spoke.yaml");
const ofSpoke = ["--namespace", "spokes", "--selector", `${labelKeys.cluster}=${SPOKE}`];
/** Seconds that a change of a Spoke may take from a push until everything that it is made of has it, on a machine that is busy. */
const ROLLED_SECONDS = 600;

const { fleet: name } = (await outputs()).bridgeData;
let repository: Checkout;

/** The last commit with the spoke's folder. */
let last: string;

const spec = () => parse(readFileSync(join(repository.folder, file), "utf8")).spec;

/** A command of fleet, in the checkout. */
async function run(command: string, ...more: string[]) {
  const { code, stdout, stderr } = await fleet([command, SPOKE, "--repository", repository.folder, ...more]);
  return { code, said: stdout + stderr };
}

/** Puts the spoke's folder back into the checkout, as people find it in Git, and has fleet adopt complete it. */
async function adopt() {
  await git(["checkout", "--quiet", last, "--", folder], repository.folder);
  return run("adopt");
}

/** Every pod of the spoke that stays, with its UID and its restarts, and every node. */
async function running(): Promise<string[]> {
  const [pods, nodes] = await Promise.all([
    getOnSpoke(SPOKE, ["pods", "--all-namespaces"]),
    getOnSpoke(SPOKE, ["nodes"]),
  ]);
  const restarts = ({ status }: Editable) =>
    (status.containerStatuses ?? []).map(({ restartCount }: { restartCount: number }) => restartCount).join();
  const stays = ({ metadata }: Editable) =>
    metadata.deletionTimestamp === undefined && metadata.ownerReferences?.[0]?.kind !== "Job";
  return [
    ...pods.items
      .filter(stays)
      .map((pod: Editable) => `${pod.metadata.namespace} ${pod.metadata.name} ${pod.metadata.uid} ${restarts(pod)}`),
    ...nodes.items.map(({ metadata }: Editable) => `node ${metadata.name} ${metadata.uid}`),
  ].sort();
}

/** The ID or name in AWS of every object that Crossplane has of the spoke. */
async function namesInAws(): Promise<string[]> {
  return (
    (await managedOf(SPOKE))
      .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.annotations["crossplane.io/external-name"]}`)
      // Attached and taken away again, as Flux on the hub needs it.
      .filter((line) => !/access-policy-(kustomize|helm)-controller/.test(line))
      .sort()
  );
}

let before: { readonly pods: string[]; readonly inAws: string[]; readonly names: string[] };
let stop: ReturnType<typeof asking> | undefined;

beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  await sharedApp(SPOKE, "dev");
  await eventually(ROLLED_SECONDS, async () =>
    expect(await condition(SPOKE, "HubAccessNarrow")).toMatchObject({ status: "True" }),
  );
  repository = await system();
  before = { pods: await running(), inAws: await spokeInventory(name, SPOKE), names: await namesInAws() };
  stop = asking(() => info(SPOKE));
});

// Also what a test has left that failed half-way: a cluster that no hub knows would stay for ever.
afterAll(async () => {
  await stop?.();
  const isKnown = (await tryKubectl(["get", "spoke", SPOKE, "--namespace", "spokes"])).code === 0;
  if (!isKnown && (await spokeInventory(name, SPOKE)).length > 0) {
    const { code, said } = await adopt();
    expect(code, said).toBe(0);
    await repository.push(`Adopt spoke ${SPOKE}`);
    await untilReady(SPOKE);
  }
  const current = await system();
  if (existsSync(join(current.folder, folder))) {
    if (parse(readFileSync(join(current.folder, file), "utf8")).spec.deletionPolicy === "Orphan") {
      await current.edit(file, ({ spec: { deletionPolicy: _, ...rest }, ...object }) => ({ ...object, spec: rest }));
      await current.push(`Keep spoke ${SPOKE}`);
      await eventually(ROLLED_SECONDS, async () => {
        const { spec: wanted, status } = await spoke(SPOKE);
        expect([wanted.deletionPolicy, status.deletionPolicy]).toEqual(["Delete", undefined]);
      });
      await untilReady(SPOKE);
    }
    await current.remove(folder);
    await current.push(`Remove spoke ${SPOKE}`);
    await untilGone(SPOKE);
  }
  const apps = await workloads();
  if (!existsSync(join(apps.folder, "clusters", SPOKE))) return;
  await apps.remove(join("clusters", SPOKE));
  await apps.push(`Remove the applications of ${SPOKE}`);
});

describe("a spoke that the fleet lets go", () => {
  test("is not let go before everything that it is made of would outlive it", async () => {
    expect(await run("release")).toMatchObject({ code: 0, said: expect.stringContaining("again") });
    const early = await run("release");
    expect(early, early.said).toMatchObject({ code: 2, said: expect.stringContaining("can't be let go yet") });
    last = await repository.push(`Let spoke ${SPOKE} go`);
    await eventually(ROLLED_SECONDS, async () => expect((await spoke(SPOKE)).status.deletionPolicy).toBe("Orphan"));
    for (const { kind, metadata, spec: wanted } of await managedOf(SPOKE))
      expect(wanted.managementPolicies, `${kind} ${metadata.name}`).toEqual([
        ...["Observe", "Create", "Update"],
        ...(["Addon", "Cluster"].includes(kind) ? [] : ["LateInitialize"]),
      ]);
    const steps = await get(["kustomizations", ...ofSpoke.slice(0, 3), `${ofSpoke[3]},fleet.internal/target=spoke`]);
    expect(steps.items.length).toBeGreaterThan(5);
    for (const step of steps.items) expect(step.spec.deletionPolicy, step.metadata.name).toBe("Orphan");
    const releases = await get(["helmreleases", ...ofSpoke]);
    expect(releases.items.length).toBeGreaterThan(1);
    for (const release of releases.items) expect(release.spec.suspend, release.metadata.name).toBe(true);
  }, 900_000);

  test("goes from the hub; AWS, the cluster and its application stay as they are", async () => {
    const released = await run("release");
    expect(released.code, released.said).toBe(0);
    await repository.push(`Release spoke ${SPOKE}`);
    await untilGone(SPOKE);
    expect(await managedOf(SPOKE)).toEqual([]);
    expect((await get(["kustomizations,helmreleases", ...ofSpoke])).items).toEqual([]);
    expect(await spokeInventory(name, SPOKE)).toEqual(before.inAws);
    expect(await running()).toEqual(before.pods);
  }, 1_200_000);
});

describe("a hub that takes it in", () => {
  test("finds everything by its tags, with nothing to make", async () => {
    const adopted = await adopt();
    expect(adopted.code, adopted.said).toBe(0);
    expect(adopted.said).toContain(`Found of ${SPOKE}`);
    expect(adopted.said).not.toMatch(/Not there|nothing manages/);
    const { deletionPolicy, existing } = spec();
    expect(deletionPolicy).toBeUndefined();
    expect(Object.keys(existing)).toEqual(
      expect.arrayContaining(["vpc", "subnet-private-0", "association-public-1", "nat-0", "key", "oidc-provider"]),
    );
    expect((await run("adopt")).said).toContain("Nothing to change");
  });

  test("makes nothing twice and restarts nothing", async () => {
    await repository.push(`Adopt spoke ${SPOKE}`);
    await untilReady(SPOKE);
    await eventually(ROLLED_SECONDS, async () =>
      expect(await condition(SPOKE, "HubAccessNarrow")).toMatchObject({ status: "True" }),
    );
    expect(await namesInAws()).toEqual(before.names);
    expect(await spokeInventory(name, SPOKE)).toEqual(before.inAws);
    expect(await running()).toEqual(before.pods);
  }, 1_800_000);

  test("meanwhile the application answered every request", async () => {
    const { answered, failures } = (await stop?.()) ?? { answered: 0, failures: [] };
    stop = undefined;
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(10);
  });

  test("brings it the next commits: the Spoke's and the application's", async () => {
    await repository.edit(file, withSpec({ logRetentionDays: 30 }));
    await repository.push(`Keep the logs of ${SPOKE} for a month`);
    await eventually(ROLLED_SECONDS, async () => {
      const group = (await managedOf(SPOKE)).find(({ kind }) => kind === "Group");
      expect(group?.status.atProvider.retentionInDays).toBe(30);
    });
    const team = await manifests();
    try {
      const message = `${APP} on ${SPOKE}, ${Date.now()}`;
      await team.edit("base/deployment.yaml", (deployment) => {
        const { env } = deployment.spec.template.spec.containers[0];
        env.find((each: { name: string }) => each.name === "PODINFO_UI_MESSAGE").value = message;
        return deployment;
      });
      const commit = await team.push("Greet otherwise");
      await fetchNow(SPOKE);
      await untilApplied(SPOKE, commit);
      await untilServed(SPOKE, message);
    } finally {
      await team.restore();
    }
    await fetchNow(SPOKE);
  }, 1_200_000);

  test("removes it like any other spoke", async () => {
    const apps = await workloads();
    const removed = await run("remove", "--yes", "--workloads", apps.folder);
    expect(removed.code, removed.said).toBe(0);
    await repository.push(`Remove spoke ${SPOKE}`);
    await untilGone(SPOKE);
    expect(await spokeInventory(name, SPOKE)).toEqual([]);
    await apps.push(`Remove the applications of ${SPOKE}`);
  }, 1_800_000);
});
