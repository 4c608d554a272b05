/** A push reaches the hub at once: the Git server calls the Receiver, whose token the program made. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callOf, type Webhook } from "@eks-gitops-fleet/local/git";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { webhookPath } from "../../lib/receivers.ts";
import { eventually, get, git, instance, kubectl, outputs, scratch, secretData } from "./support/fleet.ts";
import { fluxPolicies } from "./support/flux-policies.ts";

const place = { name: "git-receiver", namespace: "flux-system" };
const inFlux = ["--namespace", place.namespace];
const webhooksFile = join(instance.paths.git, "webhooks.json");
const webhook = (): Webhook => {
  const found = (JSON.parse(readFileSync(webhooksFile, "utf8")) as Webhook[]).find(
    ({ repository, url }) => repository === "gitops-system" && url.includes("-hub/"),
  );
  if (found === undefined) throw new Error(`${webhooksFile} has no webhook of the hub`);
  return found;
};
const source = async () => {
  const { metadata, spec, status } = await get(["gitrepository", "gitops-system", ...inFlux]);
  return {
    interval: spec.interval,
    requestedAt: metadata.annotations?.["reconcile.fluxcd.io/requestedAt"],
    handled: status.lastHandledReconcileAt,
    revision: status.artifact.revision,
  };
};
const push = { repository: "gitops-system", before: "0".repeat(40), after: "1".repeat(40), ref: "refs/heads/main" };
const send = async (to: Webhook) => (await fetch(to.url, callOf(to, push))).status;

describe("the hub's Receiver", () => {
  test("has the token of Secrets Manager through External Secrets, and the path that the stack tells", async () => {
    const { gitWebhooks } = await outputs();
    const { hub } = gitWebhooks;
    const receiver = await get(["receiver", place.name, ...inFlux]);
    expect(await secretData(place.namespace, place.name)).toEqual({ token: hub.secret });
    expect(receiver.spec.type).toBe(hub.type);
    expect(receiver.status.webhookPath).toBe(hub.path);
    expect(hub.path).toBe(webhookPath(hub.secret, place));
    const owner = await get(["secret", place.name, ...inFlux]);
    expect(owner.metadata.ownerReferences[0].kind).toBe("ExternalSecret");
  });

  test("is told of by a file that only its owner reads", () => expect(statSync(webhooksFile).mode & 0o777).toBe(0o600));

  test("has a push fetched because of the call, long before the next look", async () => {
    const before = await source();
    // Nothing below would wait for a look of its own.
    expect(before.interval).toMatch(/^\d+m/);
    const clone = join(scratch, "pushed");
    await git(["clone", "--quiet", join(instance.paths.git, "gitops-system.git"), clone]);
    const file = join(clone, "platform", "cluster-info", "cluster-info.yaml");
    const document = parseDocument(readFileSync(file, "utf8"));
    document.setIn(["data", "pushed"], "by webhook");
    writeFileSync(file, document.toString());
    await git(["commit", "--quiet", "--all", "--message", "Push"], clone);
    await git(["push", "--quiet"], clone);
    const head = (await git(["rev-parse", "HEAD"], clone)).trim();
    await eventually(60, async () => expect((await source()).revision).toBe(`main@sha1:${head}`));
    const after = await source();
    expect(after.requestedAt).not.toBe(before.requestedAt);
    // A look of its own would leave this as it was.
    expect(after.handled).toBe(after.requestedAt);
    await git(["revert", "--no-edit", "HEAD"], clone);
    await git(["push", "--quiet"], clone);
    const reverted = (await git(["rev-parse", "HEAD"], clone)).trim();
    await eventually(60, async () => expect((await source()).revision).toBe(`main@sha1:${reverted}`));
  });

  test("refuses a wrong token and a wrong path, and takes the right ones", async () => {
    const right = webhook();
    expect(await send(right)).toBe(200);
    expect(await send({ ...right, secret: "guessed" })).toBe(400);
    const path = webhookPath("guessed", place);
    expect(await send({ ...right, url: right.url.replace(/\/hook\/.*/, path) })).toBe(404);
  });

  test("is reached by pods of the cluster and by nobody else, unless gitReceiverCidrs says so", async () => {
    const policies = JSON.parse(await kubectl(["get", "networkpolicies", ...inFlux, "--output", "json"])).items;
    expect(policies.map(({ metadata }: { metadata: { name: string } }) => metadata.name).sort()).toEqual(fluxPolicies);
  });
});
