/** Flux's own notification-controller on a real API server, called by the local Git server's webhooks: whom it believes. No cluster. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { callOf, type Webhook } from "@eks-gitops-fleet/local/git";
import { type ControlPlane, startControlPlane } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { GitReceiver } from "../../components/git-receiver.ts";
import { type ReceiverType, receiverTypes, webhookPath } from "../../lib/receivers.ts";
import { recorded } from "../support/program.ts";
import { definitionsOf, kubectlOf } from "./support/kubectl.ts";

const namespace = "flux-system";
const push = { repository: "gitops-system", before: "0".repeat(40), after: "1".repeat(40), ref: "refs/heads/main" };
const tokenOf = (type: ReceiverType) => `token-of-${type}`;
const nameOf = (type: ReceiverType) => `receiver-${type}`;

let plane: ControlPlane;
let kubectl: ReturnType<typeof kubectlOf>;
let controller: ChildProcess;
let origin = "";

const tokenSecret = (type: ReceiverType, token: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  // As the ExternalSecret makes it.
  metadata: { name: nameOf(type), namespace, labels: { "reconcile.fluxcd.io/watch": "Enabled" } },
  stringData: { token },
});
const source = (name: string, labels: Record<string, string>, inNamespace = namespace) => ({
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "GitRepository",
  metadata: { name, namespace: inNamespace, labels },
  spec: { url: "https://git.example/a.git", interval: "1h" },
});
const labelled = { "fleet.internal/receiver": "git" };

/** The Receiver as the program makes it. */
async function receiverOf(type: ReceiverType): Promise<object> {
  const args = { type, receiver: nameOf(type), storeName: "store", remoteSecret: "token" };
  const { resources } = await recorded("test", async () => new GitReceiver("git", args));
  return resources.find(({ type: kind }) => kind.endsWith(":Receiver"))?.inputs ?? {};
}

beforeAll(async () => {
  const toolchain = await ensureToolchain();
  plane = await startControlPlane(toolchain);
  kubectl = kubectlOf(toolchain, plane);
  kubectl.define([
    ...definitionsOf("github.com/fluxcd/source-controller"),
    ...definitionsOf("github.com/fluxcd/notification-controller"),
  ]);
  kubectl.apply([namespace, "tenant"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
  kubectl.apply([
    source("gitops-system", labelled),
    source("gitops-system-prod", labelled),
    source("other", {}),
    source("gitops-system", labelled, "tenant"),
    ...receiverTypes.map((type) => tokenSecret(type, tokenOf(type))),
  ]);
  // One after another: Pulumi's mocks are the process's.
  for (const type of receiverTypes) kubectl.apply([await receiverOf(type)]);
  const log = openSync(join(plane.dir, "notification-controller.log"), "a");
  const flags = ["metrics-addr", "health-addr", "events-addr", "receiverAddr"].map(
    (name, index) => `--${name}=${plane.address}:${18091 + index}`,
  );
  origin = `http://${plane.address}:18094`;
  controller = spawn(toolchain.bin("notification-controller"), flags, {
    stdio: ["ignore", log, log],
    env: { ...process.env, KUBECONFIG: plane.kubeconfigFile, RUNTIME_NAMESPACE: namespace },
  });
  closeSync(log);
  for (const type of receiverTypes) await vi.waitUntil(() => pathOf(type), { timeout: 60_000, interval: 500 });
});
afterAll(async () => {
  controller?.kill("SIGKILL");
  await plane?.stop();
});

const read = (args: readonly string[]) => {
  const { ok, text } = kubectl.run(["get", ...args, "--output", "json"]);
  if (!ok) throw new Error(text);
  return JSON.parse(text);
};
const pathOf = (type: ReceiverType): string | undefined =>
  read(["receiver", nameOf(type), "--namespace", namespace]).status?.webhookPath;

/** When each source was asked for last, by namespace and name. */
const asked = (): Record<string, string | undefined> =>
  Object.fromEntries(
    read(["gitrepositories", "--all-namespaces"]).items.map(({ metadata }: { metadata: Record<string, never> }) => [
      `${metadata["namespace"]}/${metadata["name"]}`,
      metadata["annotations"]?.["reconcile.fluxcd.io/requestedAt"],
    ]),
  );

/** What a call changes: its status, and the sources that are asked for because of it. */
async function send(path: string, { method, headers, body }: ReturnType<typeof callOf>) {
  const before = asked();
  const { status } = await fetch(`${origin}${path}`, { method, headers, body });
  const after = asked();
  return { status, read: Object.keys(after).filter((name) => after[name] !== before[name]) };
}
const hook = (type: ReceiverType, secret = tokenOf(type)): Webhook => ({
  ...{ repository: push.repository, type, secret },
  url: `${origin}/unused`,
});

const platform = ["flux-system/gitops-system", "flux-system/gitops-system-prod"];
const refused = { status: 400, read: [] };

describe.each(receiverTypes)("a Receiver of type %s", (type) => {
  test("has the path that the program tells", () => {
    expect(pathOf(type)).toBe(webhookPath(tokenOf(type), { name: nameOf(type), namespace }));
  });

  test("has the labelled sources of its namespace read after a push, and no other one", async () => {
    expect(await send(pathOf(type) ?? "", callOf(hook(type), push))).toEqual({ status: 200, read: platform });
  });

  test("does nothing for who doesn't know its path", async () => {
    const other = webhookPath("guessed", { name: nameOf(type), namespace });
    expect(await send(other, callOf(hook(type), push))).toEqual({ status: 404, read: [] });
  });
});

describe("a Receiver refuses", () => {
  const proof = { github: "X-Hub-Signature", gitlab: "X-Gitlab-Token", "generic-hmac": "X-Signature" } as const;
  const signed = Object.keys(proof) as (keyof typeof proof)[];
  const good = (type: ReceiverType) => callOf(hook(type), push);

  test.each(signed)("of type %s a call with another token", async (type) => {
    expect(await send(pathOf(type) ?? "", callOf(hook(type, "guessed"), push))).toEqual(refused);
  });

  test.each(signed)("of type %s a call without a proof", async (type) => {
    const call = good(type);
    const headers = Object.entries(call.headers).filter(([name]) => !name.startsWith(proof[type]));
    expect(headers.length).toBeLessThan(Object.keys(call.headers).length);
    expect(await send(pathOf(type) ?? "", { ...call, headers: Object.fromEntries(headers) as never })).toEqual(refused);
  });

  // A call of GitLab's has the token in it, not a signature of its content.
  test.each(["github", "generic-hmac"] as const)("of type %s a call whose content was changed", async (type) => {
    expect(await send(pathOf(type) ?? "", { ...good(type), body: `${good(type).body} ` })).toEqual(refused);
  });

  test.each([
    ["github", "X-GitHub-Event", "issues"],
    ["gitlab", "X-Gitlab-Event", "Issue Hook"],
  ] as const)("of type %s an event that is not a push", async (type, name, event) => {
    const call = good(type);
    expect(await send(pathOf(type) ?? "", { ...call, headers: { ...call.headers, [name]: event } })).toEqual(refused);
  });
});

describe("a new token", () => {
  test("counts at once, with a new path; the former token and path end", async () => {
    const former = pathOf("github") ?? "";
    kubectl.apply([tokenSecret("github", "next")]);
    await vi.waitUntil(() => pathOf("github") !== former, { timeout: 60_000 });
    const path = webhookPath("next", { name: nameOf("github"), namespace });
    expect(pathOf("github")).toBe(path);
    expect(await send(former, callOf(hook("github"), push))).toEqual({ status: 404, read: [] });
    expect(await send(path, callOf(hook("github"), push))).toEqual(refused);
    expect(await send(path, callOf(hook("github", "next"), push))).toEqual({ status: 200, read: platform });
  });
});
