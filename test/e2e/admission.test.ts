import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { bridgeData } from "../../lib/bridge.ts";
import { familyCrds } from "../../local/crossplane/provider-aws/crds.ts";
import { ensureToolchain, type Toolchain } from "../../local/toolchain/index.ts";
import { customResourceDefinition } from "../functions/spoke/support/definition.ts";
import { hub } from "../functions/spoke/support/fixtures.ts";
import { substituted } from "../repos/support/flux.ts";
import { build } from "../repos/support/kustomize.ts";
import { render, system, withAddons } from "../repos/support/spoke.ts";
import { admissionCases } from "./support/admission-cases.ts";
import { type Requested, tenantNamespace } from "./support/admission-request.ts";
import { type ControlPlane, startControlPlane } from "./support/control-plane.ts";
import { kubectlOf } from "./support/kubectl.ts";

/** The admission policies of the hub and the spokes, by requests to a real API server without nodes. */

const policies = build(join(system, "platform", "policies")).map((object) => substituted(object, bridgeData(hub)));
const parameters = policies.find(({ kind }) => kind === "ConfigMap") as unknown as Requested & {
  readonly data: Record<string, string>;
};
const names = policies.filter(({ kind }) => kind === "ValidatingAdmissionPolicy").map(({ metadata }) => metadata.name);

let toolchain: Toolchain;
let plane: ControlPlane;
let kubectl: ReturnType<typeof kubectlOf>;

const dryRun = (object: object) => kubectl.run(["create", "--dry-run=server", "--filename", "-"], object);
const apply = (object: object) => kubectl.apply([object]);

beforeAll(async () => {
  toolchain = await ensureToolchain();
  plane = await startControlPlane(toolchain);
  kubectl = kubectlOf(toolchain, plane);
  const flux = join(toolchain.module("github.com/fluxcd/source-controller"), "config", "crd", "bases");
  const sources = readdirSync(flux).map((file) => parse(readFileSync(join(flux, file), "utf8")));
  kubectl.define([...sources, ...familyCrds, customResourceDefinition()]);
  const tenant = { "fleet.internal/tenant": "payments" };
  for (const [name, labels] of [
    ["flux-system", {}],
    ["spokes", {}],
    [tenantNamespace, tenant],
  ] as const)
    apply({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  kubectl.apply(policies);
  // The API server takes a moment to put new policies into force.
  for (const name of names) {
    const bad = admissionCases.find(({ policy, refused }) => policy === name && refused)?.object ?? {};
    await vi.waitUntil(() => dryRun(bad).text.includes(`'${name}'`), { timeout: 60_000, interval: 500 });
  }
});
afterAll(() => plane?.stop());

describe.for(names)("the policy %s", (policy) => {
  const cases = admissionCases.filter((each) => each.policy === policy);

  test.for(cases.filter(({ refused }) => refused === undefined).map(({ title, object }) => [title, object] as const))(
    "lets through: %s",
    ([, object]) => {
      expect(dryRun(object)).toMatchObject({ ok: true });
    },
  );

  test.for(cases.flatMap(({ title, object, refused }) => (refused ? [[title, object, refused] as const] : [])))(
    "refuses: %s",
    ([, object, message]) => {
      const { ok, text } = dryRun(object);
      expect(ok).toBe(false);
      expect(text.replaceAll(/\s+/g, " ")).toContain(`ValidatingAdmissionPolicy '${policy}'`);
      expect(text.replaceAll(/\s+/g, " ")).toContain(message);
    },
  );

  test("has expressions that fit the kinds that they judge", async () => {
    const status = () =>
      JSON.parse(kubectl.run(["get", "validatingadmissionpolicy", policy, "-o", "json"]).text).status;
    await expect.poll(status, { timeout: 60_000 }).toMatchObject({ observedGeneration: 1 });
    expect(status().typeChecking?.expressionWarnings ?? []).toEqual([]);
  });
});

describe("what the fleet itself applies", () => {
  const chain = render(withAddons("minimal", []));
  const judged = ["ConfigMap", "GitRepository", "HelmRepository", "ProviderConfig", "Secret"];
  const applied = chain.applied.flatMap(({ objects }) => objects).filter(({ kind }) => judged.includes(kind));

  test("passes every policy, on the hub and on a spoke", () => {
    expect(applied.length).toBeGreaterThan(5);
    for (const object of applied) {
      const { name, namespace = "" } = object.metadata;
      const { ok, text } = kubectl.run(["apply", "--server-side", "--dry-run=server", "--filename", "-"], object);
      expect(ok || text.includes(`namespaces "${namespace}" not found`), `${object.kind} ${name}: ${text}`).toBe(true);
    }
  });
});

describe("the parameters", () => {
  const [other] = admissionCases.filter(({ title }) => title === "a Spoke in another region");
  const kept = admissionCases.find(({ title }) => title === "another repository of the host, as another user")?.object;

  test("allow more with one more line, and nothing when they are gone; Secrets for other things are not touched", async () => {
    const more = `${parameters.data["spoke_regions"]}eu-central-1\n`;
    apply({ ...parameters, data: { ...parameters.data, spoke_regions: more } });
    await expect.poll(() => dryRun(other?.object ?? {}).ok, { timeout: 60_000 }).toBe(true);
    kubectl.run(["delete", "configmap", parameters.metadata.name, "--namespace", "flux-system"]);
    await expect
      .poll(() => dryRun(other?.object ?? {}).text, { timeout: 60_000 })
      .toContain("no params found for policy binding with `Deny` parameterNotFoundAction");
    const database = admissionCases.find(({ title }) => title === "a password that is not for Git");
    expect(dryRun(database?.object ?? {})).toMatchObject({ ok: true });
    apply(parameters);
    await expect
      .poll(() => dryRun(other?.object ?? {}).text, { timeout: 60_000 })
      .toContain("a Spoke may be in us-east-1");
  });

  test("when they allow less, what is there stays usable, and can't be changed to something that is not allowed", async () => {
    await expect.poll(() => kubectl.run(["create", "--filename", "-"], kept).ok, { timeout: 60_000 }).toBe(true);
    apply({ ...parameters, data: { ...parameters.data, git_hosts: "https://github.com/example\n" } });
    await expect.poll(() => dryRun(kept ?? {}).ok, { timeout: 60_000 }).toBe(false);
    const change = (...patch: string[]) =>
      kubectl.run(["patch", "gitrepository", "it", "--namespace", "flux-system", "--type", "merge", ...patch]);
    expect(change("--patch", '{"metadata":{"finalizers":["example.com/kept"]}}')).toMatchObject({ ok: true });
    expect(change("--patch", '{"spec":{"interval":"2m"}}').text).toContain(
      "Git is read only from the hosts of https://github.com/example",
    );
    kubectl.run(["delete", "gitrepository", "it", "--namespace", "flux-system", "--wait=false"]);
    expect(change("--patch", '{"metadata":{"finalizers":null}}'), "it may go").toMatchObject({ ok: true });
  });
});
