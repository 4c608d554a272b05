/** Pushes reach a spoke at once: the Git server calls the Receivers on it, of its own sources and of its application. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { callOf, type Webhook } from "@eks-gitops-fleet/local/git";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { webhookPath } from "../../lib/receivers.ts";
import { APP, APP_REPOSITORY, appFolder, manifests, sharedApp, untilApplied } from "./support/apps.ts";
import { eventually, instance } from "./support/fleet.ts";
import { fluxPolicies } from "./support/flux-policies.ts";
import type { Checkout } from "./support/repository.ts";
import { clusterOf, getOnSpoke, onSpoke, sharedSpoke, workloads } from "./support/spokes.ts";

const SPOKE = "blue";
/** Seconds from a push to its fetch, on a machine that is busy; far less than the 10 minutes after which Flux looks by itself. */
const CALL_SECONDS = 180;
const receiver = "git-receiver";

/** What the Git server calls after a push to a repository for a namespace of the spoke. */
async function webhook(repository: string, namespace: string): Promise<Webhook> {
  const { status } = await getOnSpoke(SPOKE, ["receiver", receiver, "--namespace", namespace]);
  const file = join(instance.paths.git, "webhooks.json");
  const found = (JSON.parse(readFileSync(file, "utf8")) as Webhook[]).find(
    (each) => each.repository === repository && each.url.endsWith(`/${clusterOf(SPOKE)}${status.webhookPath}`),
  );
  if (found === undefined) throw new Error(`${file} has no webhook of ${namespace} on ${SPOKE} for ${repository}`);
  return found;
}
const source = async (name: string, namespace: string) => {
  const { metadata, spec, status } = await getOnSpoke(SPOKE, ["gitrepository", name, "--namespace", namespace]);
  return {
    interval: spec.interval,
    requestedAt: metadata.annotations?.["reconcile.fluxcd.io/requestedAt"],
    handled: status.lastHandledReconcileAt,
    revision: status.artifact?.revision,
  };
};

/** Waits until a source has a commit and has answered a call that came after `before`: a look of its own answers none. */
async function untilCalled(name: string, namespace: string, commit: string, before: { readonly requestedAt?: string }) {
  await eventually(CALL_SECONDS, async () => {
    const after = await source(name, namespace);
    expect(after.revision).toBe(`main@sha1:${commit}`);
    expect(after.requestedAt).not.toBe(before.requestedAt);
    // A call before this one may have fetched the commit already.
    expect(after.handled).toBe(after.requestedAt);
  });
}

let team: Checkout;
let governance: Checkout;
beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  await sharedApp(SPOKE, "dev");
  [team, governance] = [await manifests(), await workloads()];
});
afterAll(async () => {
  const restored = await team?.restore();
  await governance?.restore();
  if (restored !== undefined) await untilApplied(SPOKE, restored);
});

const receivers = [
  { what: "the spoke's own", namespace: "flux-system", sources: ["gitops-system", "gitops-workloads"] },
  { what: "the application's", namespace: APP, sources: [APP] },
];

describe.each(receivers)("$what Receiver", ({ namespace, sources }) => {
  test("has the token that was sealed for it, and the path that comes from it", async () => {
    const { data, metadata } = await getOnSpoke(SPOKE, ["secret", receiver, "--namespace", namespace]);
    expect(metadata.ownerReferences[0].kind).toBe("SealedSecret");
    const { status } = await getOnSpoke(SPOKE, ["receiver", receiver, "--namespace", namespace]);
    expect(status.webhookPath).toBe(webhookPath(atob(data.token), { name: receiver, namespace }));
  });

  test("lets its sources look by themselves seldom", async () => {
    for (const name of sources) expect((await source(name, namespace)).interval, name).toMatch(/^10m/);
  });

  test("refuses a wrong token and a wrong path, and takes the right ones", async () => {
    const repository = namespace === APP ? APP_REPOSITORY : "gitops-workloads";
    const right = await webhook(repository, namespace);
    const [zero, one] = ["0".repeat(40), "1".repeat(40)];
    const push = { repository, before: zero, after: one, ref: "refs/heads/main" };
    const send = async (to: Webhook) => (await fetch(to.url, callOf(to, push))).status;
    const before = await source(sources.at(-1) ?? "", namespace);
    expect(await send({ ...right, secret: "guessed" })).toBe(400);
    const path = webhookPath("guessed", { name: receiver, namespace });
    expect(await send({ ...right, url: right.url.replace(/\/hook\/.*/, path) })).toBe(404);
    expect((await source(sources.at(-1) ?? "", namespace)).requestedAt).toBe(before.requestedAt);
    expect(await send(right)).toBe(200);
  });
});

test("a push to an application's repository is on the spoke because of the call", async () => {
  const before = await source(APP, APP);
  await team.edit("base/deployment.yaml", (deployment) => {
    const { env } = deployment.spec.template.spec.containers[0];
    env.find(({ name }: { name: string }) => name === "PODINFO_UI_MESSAGE").value = `by webhook, ${Date.now()}`;
    return deployment;
  });
  const commit = await team.push("Greet by webhook");
  await untilCalled(APP, APP, commit, before);
  await untilApplied(SPOKE, commit);
});

test("a push to gitops-workloads is on the spoke because of the call", async () => {
  const before = await source("gitops-workloads", "flux-system");
  const mark = String(Date.now());
  await governance.edit(join(appFolder(SPOKE), "cluster-info.yaml"), (info) => {
    info.metadata.annotations = { "fleet.internal/test": mark };
    return info;
  });
  await untilCalled("gitops-workloads", "flux-system", await governance.push("Mark by webhook"), before);
  await eventually(CALL_SECONDS, async () => {
    const { metadata } = await getOnSpoke(SPOKE, ["configmap", "cluster-info", "--namespace", APP]);
    expect(metadata.annotations["fleet.internal/test"]).toBe(mark);
  });
});

test("network policies admit calls from the spoke's pods of any namespace, and from no other network", async () => {
  const policies: { metadata: { name: string }; spec: unknown }[] = JSON.parse(
    await onSpoke(SPOKE, ["get", "networkpolicies", "--namespace", "flux-system", "--output", "json"]),
  ).items;
  expect(policies.map(({ metadata }) => metadata.name).sort()).toEqual(fluxPolicies);
  expect(policies.find(({ metadata }) => metadata.name === "allow-receivers")?.spec).toEqual({
    podSelector: { matchLabels: { app: "notification-controller" } },
    policyTypes: ["Ingress"],
    ingress: [{ from: [{ namespaceSelector: {} }], ports: [{ port: 9292, protocol: "TCP" }] }],
  });
});
