import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Report } from "../../cli/report/model.ts";
import { APP, fetchNow, manifests, sharedApp, untilApplied } from "./support/apps.ts";
import { eventually, execute, instance, scratch } from "./support/fleet.ts";
import type { Checkout } from "./support/repository.ts";
import { clusterOf, fleet, sharedSpoke, spoke } from "./support/spokes.ts";

const SPOKE = "blue";

let team: Checkout;
beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  await sharedApp(SPOKE, "dev");
  team = await manifests();
});
const restore = async () => {
  const restored = await team.restore();
  if (restored === undefined) return;
  await fetchNow(SPOKE);
  await untilApplied(SPOKE, restored);
};
afterAll(restore);

/** Waits until fleet list says this of the spoke. */
const untilListed = (seconds: number, expected: object) =>
  eventually(seconds, async () => {
    const { code, stdout, stderr } = await fleet(["list", "-o", "json"]);
    expect(code, stderr).not.toBe(2);
    const { spokes } = JSON.parse(stdout) as { spokes: { name: string }[] };
    // All of it in the message: why it is not well says a field that is not expected.
    expect(
      spokes.find(({ name }) => name === SPOKE),
      stdout + stderr,
    ).toMatchObject(expected);
  });

test("fleet list shows a spoke as it is, with its applications", async () => {
  const { environment, tenant } = (await spoke(SPOKE)).spec;
  await untilListed(60, {
    ...{ name: SPOKE, environment, tenant, isReady: true, isWell: true },
    applications: { ready: expect.toSatisfy((ready: number) => ready > 0) },
  });
  expect((await fleet(["list", "--environment", "dev"])).stdout).toMatch(
    new RegExp(`^${SPOKE} .* [1-9] of [1-9] +True `, "m"),
  );
});

test("fleet report tells the whole fleet with its commits and writes it as a page, and misses nothing", async () => {
  const file = join(scratch, "fleet.html");
  const written = await fleet(["report", "--html", file]);
  expect(written.code, written.stderr).not.toBe(2);
  expect(readFileSync(file, "utf8")).toContain(`>${SPOKE}</`);
  const { stdout } = await fleet(["report", "-o", "json"]);
  const { fleet: name, notSeen, sources, spokes } = JSON.parse(stdout) as Report;
  expect({ name, notSeen }).toEqual({ name: expect.any(String), notSeen: [] });
  expect(sources.find(({ name }) => name === "gitops-system")?.revision).toMatch(/@sha1:[0-9a-f]{40}$/);
  expect(spokes.find(({ name }) => name === SPOKE)).toMatchObject({
    isReady: true,
    applications: expect.arrayContaining([
      expect.objectContaining({ name: APP, revision: expect.stringMatching(/@sha1:[0-9a-f]{40}$/) }),
    ]),
  });
});

test("fleet kubeconfig writes a file that reaches the spoke, holds no credential and is its owner's only", async () => {
  const file = join(scratch, "blue.kubeconfig");
  const { code, stderr } = await fleet(["kubeconfig", SPOKE, "--output", file]);
  expect(code, stderr).toBe(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const kubectl = join(instance.paths.bin, "kubectl");
  // Its command aws is that of the instance, which comes first on the PATH of the instance's programs.
  const found = await execute(kubectl, ["--kubeconfig", file, "get", "namespace", APP, "--output", "name"]);
  expect(found).toMatchObject({ code: 0, stdout: `namespace/${APP}\n` });
  const context = await execute(kubectl, ["--kubeconfig", file, "config", "current-context"]);
  expect(context.stdout).toBe(`${clusterOf(SPOKE)}\n`);
});

test("fleet why says that nothing hinders", async () => {
  expect(await fleet(["why", SPOKE])).toMatchObject({
    ...{ code: 0, stdout: expect.stringContaining("Nothing hinders it, or its applications.") },
  });
});

test("an application that can't be applied is named by both, with what to do, until it is put right", async () => {
  await team.remove("overlays/dev");
  await team.push("Lose the overlay");
  await fetchNow(SPOKE);
  await untilListed(120, {
    ...{ isReady: true, isWell: false },
    message: expect.stringContaining(`Kustomization ${APP}: `),
  });
  expect((await fleet(["list"])).code).toBe(1);
  const { code, stdout } = await fleet(["why", `${SPOKE}/${APP}`]);
  expect(code, stdout).toBe(1);
  expect(stdout).toMatch(
    new RegExp(
      `hub: Kustomization spokes/${SPOKE}-workloads[\\s\\S]*spoke: Kustomization flux-system/workloads[\\s\\S]*spoke: Kustomization ${APP}/${APP}: .*path`,
    ),
  );
  expect(stdout).toContain("do: the folder that its spec.path names is not in its repository");

  await restore();
  expect(await fleet(["why", `${SPOKE}/${APP}`])).toMatchObject({ code: 0 });
});
