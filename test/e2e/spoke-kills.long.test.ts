import { beforeAll, expect, test } from "vitest";
import { eventually, get } from "./support/fleet.ts";
import { killPods, killSupervised } from "./support/hub.ts";
import { spokeInventory } from "./support/inventory.ts";
import type { Checkout } from "./support/repository.ts";
import {
  addSpoke,
  BOOTSTRAP_SECONDS,
  clusterOf,
  condition,
  REMOVAL_SECONDS,
  system,
  untilGone,
  untilReady,
} from "./support/spokes.ts";

/*
 * A spoke of its own that comes up and goes while everything that works on it is killed, one after the other. What is killed
 * is meant to be busy then: each kill waits for the point at which its victim has begun and has not ended.
 */

const SPOKE = "t2a";
const FLEET = "fleet";
const CLUSTER = clusterOf(SPOKE);

let repository: Checkout;
beforeAll(async () => {
  repository = await system();
});

/** The Flux objects of the spoke's chain on the hub, by kind and name without the spoke's; whether each is Ready. */
async function chain(): Promise<ReadonlyMap<string, string>> {
  const kinds = "kustomizations.kustomize.toolkit.fluxcd.io,helmreleases.helm.toolkit.fluxcd.io";
  const { items } = await get([kinds, "--namespace=spokes", `--selector=fleet.internal/cluster=${SPOKE}`]);
  return new Map(
    items.map(({ kind, metadata, status }: Flux) => [
      `${kind} ${metadata.name.replace(`${SPOKE}-`, "")}`,
      status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "Unknown",
    ]),
  );
}

interface Flux {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** The composed resources of a kind, of this spoke. */
const composed = async (kind: string): Promise<{ readonly status?: object }[]> =>
  (await get([kind, "--namespace=spokes", `--selector=fleet.internal/cluster=${SPOKE}`])).items;

/** Waits until something is so. */
const until = (seconds: number, what: string, check: () => Promise<boolean>) =>
  eventually(seconds, async () => expect(await check(), what).toBe(true));

const CLUSTERS = "clusters.eks.aws.m.upbound.io";

test("killing controllers of hub and spoke, the AWS API or the Git server while a spoke comes up only delays it", async () => {
  await addSpoke(repository, SPOKE, "dev");
  await repository.push(`Add spoke ${SPOKE}`);
  const soon = (what: string, check: () => Promise<boolean>) => until(BOOTSTRAP_SECONDS, what, check);

  await soon("there is a network", async () => (await composed("vpcs.ec2.aws.m.upbound.io")).length > 0);
  await killPods("function-spoke");
  await killPods("crossplane-");
  await killPods("notification-controller");
  await killPods("external-secrets");
  await soon("there is a cluster", async () => (await composed(CLUSTERS)).length > 0);
  // AWS refuses to make most of it again: after a kill before it is there, somebody has to run fleet recover (spoke-interrupted.long.test.ts).
  await soon("the network is there", async () => (await condition(SPOKE, "NetworkReady"))?.status === "True");
  await killPods("provider-aws");
  await killSupervised("gateway");
  await soon("the chain has begun", async () => (await chain()).has("Kustomization base"));
  await killPods("kustomize-controller");
  await killPods("source-controller");
  await soon("a release is being installed", async () => (await chain()).has("HelmRelease external-secrets"));
  await killPods("helm-controller");
  await soon("the keys are there", async () => (await chain()).get("Kustomization sealing-keys") === "True");
  await killSupervised("git");
  await killPods("external-secrets", CLUSTER);
  await soon("secrets are unsealed", async () => (await chain()).get("Kustomization sealed-secrets") === "True");
  await killPods("sealed-secrets", CLUSTER);
  await soon("the spoke's Flux has its sources", async () => (await chain()).get("Kustomization sync") === "True");
  await killPods("source-controller", CLUSTER);
  await killPods("kustomize-controller", CLUSTER);
  await killPods("crossplane-", CLUSTER);
  await killPods("provider-aws", CLUSTER);
  await untilReady(SPOKE);
}, 1_200_000);

test("killing them while a spoke goes only delays that, and leaves nothing of it", async () => {
  await repository.remove(`spokes/fleet/${SPOKE}`);
  await repository.push(`Remove spoke ${SPOKE}`);
  const soon = (what: string, check: () => Promise<boolean>) => until(REMOVAL_SECONDS, what, check);

  await soon("the chain is going", async () => !(await chain()).has("Kustomization workloads"));
  await killPods("kustomize-controller");
  await killPods("helm-controller");
  await killSupervised("git");
  await soon("the chain is gone", async () => !(await chain()).has("Kustomization bootstrap"));
  await killPods("crossplane-");
  await killPods("function-spoke");
  await killSupervised("gateway");
  await killPods("provider-aws");
  await untilGone(SPOKE);
  expect(await spokeInventory(FLEET, SPOKE)).toEqual([]);
}, 1_200_000);
