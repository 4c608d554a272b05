import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { withResources } from "../support/checkout.ts";
import { APP, fetchNow, manifests, sharedApp, untilApplied, untilServed } from "./support/apps.ts";
import { eventually, get, kubectl, tryKubectl } from "./support/fleet.ts";
import { switchHubOff } from "./support/hub.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { getOnSpoke, sharedSpoke, untilReady } from "./support/spokes.ts";

const SPOKE = "blue";
const own = `fleet-spoke-${SPOKE}_${APP}`;
/** Seconds until the hub's pods are up again and Flux has looked at every step, on a machine that is busy. */
const RETURN_SECONDS = 600;

let team: Checkout;
let switchHubOn: (() => Promise<void>) | undefined;
beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  await sharedApp(SPOKE, "dev");
  team = await manifests();
});
afterAll(async () => {
  await switchHubOn?.();
  const restored = await team.restore();
  if (restored === undefined) return;
  await fetchNow(SPOKE);
  await untilApplied(SPOKE, restored);
});

interface Living {
  readonly kind: string;
  readonly metadata: Readonly<Record<"namespace" | "name" | "uid" | "resourceVersion", string>> & {
    readonly generation?: number;
    readonly deletionTimestamp?: string;
  };
}

/** What runs on the spoke, with what changes when somebody changes it: the generation, or the version where there is none. */
async function stateOfSpoke(): Promise<string[]> {
  const kinds = [
    ...["deployments", "statefulsets", "daemonsets", "pods", "services", "configmaps", "serviceaccounts"],
    ...["roles", "rolebindings", "clusterroles", "clusterrolebindings", "customresourcedefinitions"],
    ...["kustomizations.kustomize.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io"],
    ...["helmreleases.helm.toolkit.fluxcd.io", "sealedsecrets", "externalsecrets", "namespaces"],
  ];
  const { items } = await getOnSpoke(SPOKE, [kinds.join(), "--all-namespaces"]);
  // One Secret for each revision of a Helm release: another revision is another name.
  const releases = await getOnSpoke(SPOKE, ["secrets", "--all-namespaces", "--field-selector=type=helm.sh/release.v1"]);
  return (
    [...items, ...releases.items]
      // A pod that the last rollout has replaced may still be ending.
      .filter(({ metadata }: Living) => metadata.deletionTimestamp === undefined)
      .map(({ kind, metadata: { namespace, name, uid, generation, resourceVersion } }: Living) => {
        // A pod is never changed, but replaced; its version also tells of its status.
        const version = kind === "Pod" ? "" : (generation ?? resourceVersion);
        return `${kind} ${namespace ?? ""}/${name} ${uid} ${version}`;
      })
      .sort()
  );
}

test("a spoke goes on without its hub: a commit of an application team is rolled out, and what it orders is made in AWS", async () => {
  switchHubOn = await switchHubOff();
  expect((await tryKubectl(["get", "--raw", "/readyz"])).code).not.toBe(0);
  const message = `without a hub, ${Date.now()}`;
  await team.edit("base/deployment.yaml", (deployment) => {
    const { env } = deployment.spec.template.spec.containers[0];
    env.find(({ name }: { name: string }) => name === "PODINFO_UI_MESSAGE").value = message;
    return deployment;
  });
  const queue = parse(await readFile(join(team.folder, "base/queue.yaml"), "utf8"));
  queue.metadata.name = "alone";
  queue.spec.forProvider.name = queue.spec.forProvider.name.replace("_events", "_alone");
  await writeFile(join(team.folder, "base/alone.yaml"), stringify(queue));
  await team.edit("base/kustomization.yaml", withResources("alone.yaml"));
  // Nobody of the hub tells the spoke: the Git server calls it.
  await untilApplied(SPOKE, await team.push("Go on alone"));
  await untilServed(SPOKE, message);
  const { status } = await getOnSpoke(SPOKE, ["queue.sqs.aws.m.upbound.io", "alone", "--namespace", APP]);
  expect(status.atProvider.url).toContain(`${own}_alone`);
});

test("a hub that comes back changes nothing on its spoke", async () => {
  const before = await stateOfSpoke();
  expect(before.some((line) => line.startsWith(`Deployment ${APP}/`))).toBe(true);
  await switchHubOn?.();
  switchHubOn = undefined;
  const asked = String(Date.now());
  const steps = [
    "kustomizations.kustomize.toolkit.fluxcd.io,helmreleases.helm.toolkit.fluxcd.io",
    "--namespace=spokes",
  ];
  const selector = `--selector=fleet.internal/cluster=${SPOKE}`;
  await eventually(RETURN_SECONDS, async () => {
    const { items } = await get([...steps, selector]);
    expect(items.length).toBeGreaterThan(9);
    // Again, where the parent was applied before a step had seen it: that takes the request away.
    const unseen = items
      .filter(({ status }: Editable) => status.lastHandledReconcileAt !== asked)
      .map(({ apiVersion, kind, metadata }: Editable) => `${kind}.${apiVersion.split("/")[0]}/${metadata.name}`);
    const now = ["--namespace=spokes", "--overwrite", `reconcile.fluxcd.io/requestedAt=${asked}`];
    if (unseen.length > 0) await kubectl(["annotate", ...unseen, ...now]);
    for (const { kind, metadata, status } of items) {
      const ready = status.conditions.find(({ type }: { type: string }) => type === "Ready");
      expect({ name: `${kind} ${metadata.name}`, ready: ready.status, seen: status.lastHandledReconcileAt }).toEqual({
        name: `${kind} ${metadata.name}`,
        ready: "True",
        seen: asked,
      });
    }
  });
  await untilReady(SPOKE);
  expect(await stateOfSpoke()).toEqual(before);
});
