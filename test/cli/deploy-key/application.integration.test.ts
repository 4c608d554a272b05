import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { onboardApp } from "../../../cli/app/folder.ts";
import { run } from "../../../cli/deploy-key/command.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { request } from "../support/apps.ts";
import { inNewCases } from "../support/cases.ts";
import { certificate, root } from "../support/fleet.ts";
import { printing } from "../support/printing.ts";

const { at, dev } = await inNewCases("fleet-app-keys-", "gitops-workloads");
const own = await certificate();
const folder = join("clusters", "blue", "payment-app");
const file = join(folder, "credential.yaml");
const nextFile = join(folder, "next", "credential.yaml");
const keyIn = (path: string): string =>
  parse(readFileSync(join(at.checkout, path), "utf8")).metadata.annotations["fleet.internal/deploy-key"];

const system = () => join(dirname(at.checkout), "gitops-system");
const writeSpoke = (spec: string): void => {
  mkdirSync(join(system(), "spokes", "fleet", "blue"), { recursive: true });
  writeFileSync(join(system(), "spokes", "fleet", "blue", "spoke.yaml"), `kind: Spoke\nspec: { ${spec} }\n`);
};
const onboard = (repositoryUrl = request.repositoryUrl, access = {}) =>
  onboardApp(at.checkout, { ...request, repositoryUrl }, async () => at.fleet, access);
beforeEach(() => {
  cpSync(join(root, "repos/gitops-system/templates"), join(system(), "templates"), { recursive: true });
  writeSpoke("environment: dev");
});

/** Runs the command on the application; what it says, or why it refuses. */
async function rotate(argv: readonly string[], target = "blue/payment-app"): Promise<string> {
  const programs = { kustomize: () => expect.fail("nothing is rendered") };
  const world = { connect: async () => at.fleet, ask: async () => ({}), programs, now: () => new Date("2026-01-31") };
  try {
    return (await printing(() => run([target, "--repository", at.checkout, ...argv], world))).said;
  } catch (error) {
    return (error as Error).message;
  }
}

describe("fleet rotate-deploy-key of an application", () => {
  test("replaces its key at its team's repository in three steps, sealed for its namespace", async () => {
    await onboard();
    const former = keyIn(file);
    expect(former).toMatch(/ payment-app@blue$/);
    const said = await rotate(["--new"]);
    const sealed = at.kubeseal.calls().at(-1);
    expect(sealed?.input.metadata).toEqual({ name: "payment-app-git", namespace: "payment-app" });
    expect(keyIn(nextFile)).toBe(fromBase64(sealed?.input.data ?? {})["identity.pub"]);
    expect(said).toContain(`  at ${request.repositoryUrl}:\n    ${keyIn(nextFile)}\n`);
    expect(keyIn(file)).toBe(former);
    const next = keyIn(nextFile);
    const told = await rotate(["--registered"]);
    expect([keyIn(file), existsSync(join(at.checkout, nextFile))]).toEqual([next, false]);
    expect(told).toContain(`  at ${request.repositoryUrl}:\n    ${former}\n`);
    expect(told).toContain("kubectl --context <cluster> -n payment-app get gitrepository payment-app ");
    expect(await rotate(["--removed"])).toContain("No rotation of the deploy keys of blue/payment-app is under way");
  });

  test("replaces the key that commits new images together with it, and says that this one may write", async () => {
    writeSpoke("environment: dev, addons: [image_automation]");
    const asked = { ...request, autoUpdate: ["ghcr.io/acme/shop"] };
    await onboardApp(at.checkout, asked, async () => at.fleet, {}, system());
    const writing = join(folder, "auto-update", "images", "credential.yaml");
    const next = join(folder, "auto-update", "images", "next", "credential.yaml");
    const former = keyIn(writing);
    const said = await rotate(["--new"]);
    expect(said).toContain(`  at ${request.repositoryUrl}:\n    ${keyIn(nextFile)}\n`);
    expect(said).toContain(`  at ${request.repositoryUrl}, with write access:\n    ${keyIn(next)}\n`);
    expect(keyIn(next)).toMatch(/ payment-app-auto-update@blue 2026-01-31T00:00:00Z$/);
    expect(at.kubeseal.calls().at(-1)?.input.metadata.name).toBe("payment-app-auto-update-git");
    const made = keyIn(next);
    const told = await rotate(["--registered"]);
    expect([keyIn(writing), existsSync(join(at.checkout, next))]).toEqual([made, false]);
    expect(told).toContain(former);
    expect(told).toContain("get gitrepository payment-app-auto-update ");
  });

  test("is sealed with the spoke's own key, as its Spoke says", async () => {
    await onboard();
    writeSpoke("environment: dev, sealing: cluster");
    at.fleet = { ...at.fleet, certificates: { dev, "cluster-blue": own } };
    await rotate(["--new"]);
    expect(at.kubeseal.calls().at(-1)?.certificate).toBe(own);
  });

  test("trusts the host keys that are given", async () => {
    await onboard();
    const hosts = "[git.fleet.internal]:2222 ssh-ed25519 other\n";
    writeFileSync(join(dirname(at.checkout), "hosts"), hosts);
    await rotate(["--new", "--known-hosts", join(dirname(at.checkout), "hosts")]);
    expect(fromBase64(at.kubeseal.calls().at(-1)?.input.data ?? {})["known_hosts"]).toBe(hosts);
  });

  test("is refused for one that is read over HTTPS, with where to renew its token", async () => {
    await onboard("https://git.example.com/payments.git", { token: "t0ken" });
    const message = await rotate(["--new"]);
    expect(message).toContain("reads payment-app without a deploy key");
    expect(message).toContain("docs/guides/git-access.md#renew-the-credential");
  });

  test("is refused for one that the cluster does not have, and where no checkout says the scope", async () => {
    await onboard();
    expect(await rotate(["--new"], "blue/payments-app")).toContain("did you mean blue/payment-app?");
    rmSync(system(), { recursive: true });
    expect(await rotate(["--new"])).toContain("--system: is needed: here is no checkout of gitops-system");
  });
});
