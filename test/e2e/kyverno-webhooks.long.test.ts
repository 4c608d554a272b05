import { join } from "node:path";
import { type ControlPlane, startControlPlane } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { admissionCases } from "../envtest/support/admission-cases.ts";
import { type Admin, asked, parameters, prepared, sentOfFleet } from "../envtest/support/admission-cluster.ts";
import { type Kyverno, startKyverno } from "../envtest/support/kyverno.ts";
import { documents } from "../repos/support/kustomize.ts";
import { system } from "../repos/support/spoke.ts";

/** The Kyverno set under Kyverno's admission controller, by requests to an API server without the admission policies. */

const policies = documents(join(system, "platform", "kyverno", "policies", "policies.yaml"));
const WEBHOOKS = "kyverno-resource-validating-webhook-cfg";
const minutes = { timeout: 180_000, interval: 500 };

interface Webhook {
  readonly failurePolicy: string;
  readonly clientConfig: { readonly url: string };
}

let plane: ControlPlane;
let kyverno: Kyverno;
let kubectl: Admin;

const listed = (...args: string[]) => JSON.parse(kubectl.run(["get", ...args, "--output", "json"]).text);
const oneLine = (text: string) => text.replaceAll(/\s+/g, " ");
const refusal = (object: object | undefined) => oneLine(kubectl.dryRun(object ?? {}).text);
const titled = (name: string) => admissionCases.find(({ title }) => title === name)?.object;

async function until(what: () => boolean): Promise<void> {
  await vi.waitUntil(() => {
    kyverno.check();
    return what();
  }, minutes);
}

beforeAll(async () => {
  const toolchain = await ensureToolchain();
  plane = await startControlPlane(toolchain);
  kubectl = prepared(toolchain, plane);
  kubectl.apply([parameters]);
  kyverno = await startKyverno(toolchain, plane, kubectl);
  // Kyverno judges policies too: they come when it does.
  await until(() => kubectl.run(["get", "validatingwebhookconfiguration", "kyverno-policy-validating-webhook-cfg"]).ok);
  const set = { apiVersion: "v1", kind: "List", items: policies };
  await until(() => kubectl.run(["apply", "--server-side", "--filename", "-"], set).ok);
  await until(() =>
    listed("validatingpolicies.policies.kyverno.io").items.every(
      ({ status }: { status?: { conditionStatus?: { ready?: boolean } } }) => status?.conditionStatus?.ready,
    ),
  );
  // The API server takes a moment to call new webhooks.
  for (const { metadata } of policies) {
    const bad = admissionCases.find(
      ({ policy, refused, from }) => policy === metadata.name && refused && !from,
    )?.object;
    await until(() => refusal(bad).includes(metadata.name));
  }
});
afterAll(async () => {
  await kyverno?.stop();
  await plane?.stop();
});

describe("Kyverno's admission controller", () => {
  test("has a webhook for each policy that refuses while nobody answers, and makes no admission policies", () => {
    const { webhooks } = listed("validatingwebhookconfiguration", WEBHOOKS);
    const named = policies.map(({ metadata }) => ["Fail", `https://${kyverno.server}/vpol/${metadata.name}`]);
    expect(
      webhooks.map(({ failurePolicy, clientConfig }: Webhook) => [failurePolicy, clientConfig.url]).toSorted(),
    ).toEqual(named.toSorted());
    expect(listed("validatingadmissionpolicies").items).toEqual([]);
  });

  test.for(admissionCases.map((each) => [each.policy, each.title, each] as const))(
    "judges by %s as the API server does: %s",
    ([policy, , each]) => {
      const { refused } = each;
      const { ok, text } = asked(kubectl, each);
      expect(ok, text).toBe(refused === undefined);
      if (refused === undefined) return;
      expect(oneLine(text)).toContain(`Policy ${policy} failed: `);
      expect(oneLine(text)).toContain(refused);
    },
  );

  test("lets through what the fleet itself applies", () => {
    const { count, refused } = sentOfFleet(kubectl);
    expect(count).toBeGreaterThan(5);
    expect(refused).toEqual([]);
  });

  test("reads the parameters as they are, and refuses what needs them when they are gone", async () => {
    const spoke = titled("a Spoke in another region") ?? {};
    const more = `${parameters.data["spoke_regions"]}eu-central-1\n`;
    kubectl.apply([{ ...parameters, data: { ...parameters.data, spoke_regions: more } }]);
    await expect.poll(() => kubectl.dryRun(spoke).ok, minutes).toBe(true);
    kubectl.run(["delete", "configmap", parameters.metadata.name, "--namespace", "flux-system"]);
    await expect.poll(() => refusal(spoke), minutes).toContain("Policy spoke-placement.fleet.internal error: ");
    expect(kubectl.dryRun(titled("a password that is not for Git") ?? {})).toMatchObject({ ok: true });
    kubectl.apply([parameters]);
    await expect.poll(() => refusal(spoke), minutes).toContain("a Spoke may be in us-east-1");
  });

  test("refuses what it would judge while it is away, and holds nothing else up", async () => {
    await kyverno.stop();
    const good = titled("a Spoke in the hub's region and account");
    expect(refusal(good)).toContain("failed calling webhook");
    expect(kubectl.dryRun(titled("a password that is not for Git") ?? {})).toMatchObject({ ok: true });
  });
});
