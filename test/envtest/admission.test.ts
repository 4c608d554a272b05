import { type ControlPlane, startControlPlane } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { admissionCases } from "./support/admission-cases.ts";
import { type Admin, admissionObjects, asked, parameters, prepared, sentOfFleet } from "./support/admission-cluster.ts";

/** The admission policies of the hub and the spokes, by requests to a real API server without nodes. */

const names = admissionObjects
  .filter(({ kind }) => kind === "ValidatingAdmissionPolicy")
  .map(({ metadata }) => metadata.name);

let plane: ControlPlane;
let kubectl: Admin;

const dryRun = (object: object) => kubectl.dryRun(object);
const apply = (object: object) => kubectl.apply([object]);

beforeAll(async () => {
  const toolchain = await ensureToolchain();
  plane = await startControlPlane(toolchain);
  kubectl = prepared(toolchain, plane);
  kubectl.apply(admissionObjects);
  // The API server takes a moment to put new policies into force.
  for (const name of names) {
    const bad = admissionCases.find(({ policy, refused, from }) => policy === name && refused && !from)?.object ?? {};
    await vi.waitUntil(() => dryRun(bad).text.includes(`'${name}'`), { timeout: 60_000, interval: 500 });
  }
});
afterAll(() => plane?.stop());

describe.for(names)("the policy %s", (policy) => {
  const cases = admissionCases.filter((each) => each.policy === policy);

  test.for(cases.filter(({ refused }) => refused === undefined).map((each) => [each.title, each] as const))(
    "lets through: %s",
    ([, each]) => expect(asked(kubectl, each)).toMatchObject({ ok: true }),
  );

  test.for(cases.flatMap((each) => (each.refused ? [[each.title, each, each.refused] as const] : [])))(
    "refuses: %s",
    ([, each, message]) => {
      const { ok, text } = asked(kubectl, each);
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
  test("passes every policy, on the hub and on a spoke", () => {
    const { count, refused } = sentOfFleet(kubectl);
    expect(count).toBeGreaterThan(5);
    expect(refused).toEqual([]);
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
