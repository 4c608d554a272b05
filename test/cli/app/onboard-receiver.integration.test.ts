import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { onboardApp } from "../../../cli/app/folder.ts";
import { run } from "../../../cli/app/onboard.ts";
import { type ReceiverType, receiverEvents, receiverTypes } from "../../../lib/receivers.ts";
import { build, files } from "../../repos/support/kustomize.ts";
import { request } from "../support/apps.ts";
import { inNewCases } from "../support/cases.ts";
import { printed, tokenIn, traces } from "../support/receivers.ts";

const { at, dev } = await inNewCases("fleet-onboard-receiver-", "gitops-workloads");

const onboard = (gitReceiver?: ReceiverType) =>
  onboardApp(at.checkout, { ...request, gitReceiver }, async () => at.fleet);
const read = (...path: string[]) => parse(readFileSync(join(...path), "utf8"));

describe("fleet onboard with a Receiver", () => {
  test.each(receiverTypes)("of type %s adds it as a component, whole by its own kustomization.yaml", async (type) => {
    const { folder } = await onboard(type);
    expect(read(folder, "kustomization.yaml").components).toEqual(["receiver"]);
    const component = join(folder, "receiver");
    const { kind, resources } = read(component, "kustomization.yaml");
    expect(kind).toBe("Component");
    for (const name of resources) expect(existsSync(join(component, name)), name).toBe(true);
    expect(read(component, "receiver.yaml")).toMatchObject({
      metadata: { namespace: "payment-app" },
      spec: { type, events: receiverEvents[type], resources: [{ kind: "GitRepository", name: "payment-app" }] },
    });
  });

  test("has the application's GitRepository read seldom, and no other one's interval changes", async () => {
    const { folder } = await onboard("github");
    const intervals = build(folder).map(({ kind, spec }) => [kind, spec?.interval]);
    expect(Object.fromEntries(intervals)).toMatchObject({
      GitRepository: "10m",
      Kustomization: "10m",
      Receiver: "10m",
    });
    rmSync(folder, { recursive: true });
    const [source] = build((await onboard()).folder).filter(({ kind }) => kind === "GitRepository");
    expect(source?.spec.interval).toBe("30s");
  });

  test("keeps the comments of the template", async () => {
    const { folder } = await onboard("github");
    expect(readFileSync(join(folder, "kustomization.yaml"), "utf8")).toMatch(/^# An application on a cluster/);
  });

  test("adds nothing where nobody calls", async () => {
    const { folder } = await onboard();
    expect(read(folder, "kustomization.yaml")).not.toHaveProperty("components");
    expect(existsSync(join(folder, "receiver"))).toBe(false);
  });

  test("seals a token for the application's namespace, for the same cluster as its Git credential, each time another", async () => {
    const { folder } = await onboard("github");
    const [credential, token] = at.kubeseal.calls();
    expect(token?.certificate).toBe(credential?.certificate);
    expect(token?.input.metadata).toEqual({
      name: "git-receiver",
      namespace: "payment-app",
      // notification-controller takes a new token at once.
      labels: { "reconcile.fluxcd.io/watch": "Enabled" },
    });
    expect(tokenIn(token)).toMatch(/^[0-9a-f]{64}$/);
    rmSync(folder, { recursive: true });
    await onboard("github");
    expect(tokenIn(at.kubeseal.calls()[3])).not.toBe(tokenIn(token));
  });

  test("writes the token nowhere, and hands it to no argument", async () => {
    await onboard("generic");
    const token = tokenIn(at.kubeseal.calls()[1]);
    expect(traces(token, at.checkout, at.kubeseal.calls())).toEqual([]);
  });

  test("refuses an unknown type with every other problem, before anything is asked or written", async () => {
    const asked = () => Promise.reject(new Error("asked the fleet"));
    const wrong = { ...request, tenant: "The Team", gitReceiver: "bitbucket" as ReceiverType };
    const message = await onboardApp(at.checkout, wrong, asked).catch((error: Error) => error.message);
    expect(message).toContain("2 problems in fleet onboard, nothing was changed:");
    expect(message).toMatch(
      /--git-receiver: has an unknown value\n\s+got: +bitbucket\n\s+allowed: github, gitlab, generic/,
    );
    expect(existsSync(join(at.checkout, "clusters", "blue"))).toBe(false);
  });

  test("prints how to read on the spoke what the Git host is told, and not the token", async () => {
    const argv = [
      ...["payment-app", "--cluster", "blue", "--environment", "dev", "--tenant", "payments", "--fleet", "fleet"],
    ];
    const more = ["--repository-url", "https://git.example/payments/app.git", "--git-receiver", "github"];
    const text = await printed(run, at.kubeseal.program, [...argv, ...more, "--repository", at.checkout], {
      certificate: dev,
      "token-file": "t0ps3cret",
      "ca-file": rootCertificates[0] ?? "",
    });
    expect(text).not.toContain(tokenIn(at.kubeseal.calls()[1]));
    expect(text).toContain("a webhook of type\ngithub for pushes at https://git.example/payments/app.git");
    expect(text).toContain("-n payment-app get receiver git-receiver -o jsonpath='{.status.webhookPath}'");
    expect(text).toContain("-n payment-app get secret git-receiver -o jsonpath='{.data.token}' | base64 -d");
    expect(text).toContain("Service webhook-receiver in flux-system");
    expect(text).toMatch(
      /wait until the path differs from the registered\s+one. Then test the webhook: the answer is 200/,
    );
  });

  test("leaves no placeholder", async () => {
    const { folder } = await onboard("gitlab");
    for (const file of files(folder)) expect(readFileSync(file, "utf8"), file).not.toMatch(/__[a-zA-Z]+__/);
  });
});
