import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { notApplied } from "../../lib/flux-applied.ts";
import { labelKeys } from "../../lib/labels.ts";
import { APP, APP_REPOSITORY } from "../support/app.ts";
import type { Checkout, Editable } from "../support/checkout.ts";
import { withSpec } from "../support/checkout.ts";
import { expectApplied, expectUnchanged, isReady } from "../support/cluster.ts";
import { eventually, git, succeeds } from "../support/process.ts";
import { releaseBefore } from "../support/released.ts";
import { spokesOn } from "../support/spokes.ts";
import { FLEET, hubCluster, type OwnInstance, ownInstance, spokeCluster } from "./support/own-instance.ts";
import { type ProjectClone, previousProject } from "./support/previous.ts";
import { asking } from "./support/requests.ts";

/**
 * A fleet that came up with the previous release takes this version while its spokes run, as docs/guides/repositories.md#upgrade-a-fleet
 * says: its repositories by `fleet upgrade-platform`, then its hub by `pulumi up`. On an instance of its own, which npm start of the
 * previous version has made. A release that asks for another order has to be taken in that order here, too.
 */

/** The demo's spoke, with its application, in dev. */
const DEMO = "blue";
/** One in prod. */
const OTHER = "green";
const spokes = [DEMO, OTHER] as const;
/** Seconds that a spoke, or a change of all, may take on a machine that is busy. */
const ROLLED_SECONDS = 1800;
/** Milliseconds between two looks at everything. */
const PAUSE = 3000;
const release = await releaseBefore();
let project: ProjectClone | undefined;
let dir: string | undefined;
let its: OwnInstance;
/** Clones of the fleet's repositories, side by side. */
let clones: string;
let platform: Checkout;
let governance: Checkout;
let before: Readonly<Record<string, string[]>>;
let stop: ReturnType<typeof asking> | undefined;

const clone = (repository: string): Promise<Checkout> => its.clone(repository, clones);
const headOf = async ({ folder }: Checkout) => (await git(["rev-parse", "HEAD"], folder)).trim();

/** `fleet` of the version that is checked out. */
const fleet = (args: readonly string[]): Promise<string> => its.succeed("fleet", args);
/** `pulumi up` with the program that is checked out. */
const up = () => its.run("pulumi", ["up", "--yes", "--skip-preview", "--suppress-outputs", "--non-interactive"]);

/** Every object is Ready, as it is now. */
function expectReady(objects: readonly Editable[], where: string): void {
  expect(objects.length, where).toBeGreaterThan(0);
  for (const { kind, metadata, status } of objects) {
    const what = `${kind} ${metadata.name} ${where}`;
    expect(status?.observedGeneration, what).toBe(metadata.generation);
    expect(isReady({ status }), what).toBe(true);
  }
}

/** Hub and spokes have a commit of gitops-system, and everything of Flux and every Spoke is Ready. */
async function expectEverywhere(commit: string): Promise<void> {
  const hub = its.on(hubCluster);
  const revision = `main@sha1:${commit}`;
  await expectApplied(hub, "main", commit);
  const inFlux = await hub.get(["externalartifacts", "--namespace", "flux-system"]);
  const chain: Editable[] = (await hub.get(["kustomizations,helmreleases", "--namespace", "spokes"])).items;
  expectReady(chain, "on the hub");
  expect(notApplied([...inFlux.items, ...chain])).toEqual([]);
  for (const name of spokes) {
    expect(isReady(await spokesOn(hub).spoke(name)), name).toBe(true);
    const kinds = "gitrepositories,kustomizations,helmreleases";
    const own: Editable[] = (await its.on(spokeCluster(name)).get([kinds, "--namespace", "flux-system"])).items;
    expectReady(own, `on ${name}`);
    const source = own.find(({ kind, metadata }) => kind === "GitRepository" && metadata.name === "gitops-system");
    expect(source.status.artifact.revision, name).toBe(revision);
    for (const { kind, metadata, spec, status } of own)
      if (kind === "Kustomization" && spec.sourceRef.name === "gitops-system")
        expect(status.lastAppliedRevision, `${metadata.name} on ${name}`).toBe(revision);
  }
  expectReady((await its.on(spokeCluster(DEMO)).get(["kustomizations", "--namespace", APP])).items, `on ${DEMO}`);
}
const untilEverywhere = (commit: string) => eventually(ROLLED_SECONDS, () => expectEverywhere(commit), PAUSE);

beforeAll(async () => {
  project = await previousProject(release ?? expect.fail("there is no release"));
  dir = mkdtempSync(join(tmpdir(), "fleet-upgrade-"));
  // Ends well once the spoke is Ready and the application answers.
  await command("start.ts", dir, [], project.folder);
  its = await ownInstance(dir, project.folder);
  clones = mkdtempSync(join(tmpdir(), "fleet-clones-"));
  [platform, governance] = [await clone("gitops-system"), await clone("gitops-workloads")];
  const request = ["--environment", "prod", "--tenant", "payments", "--nodes", "1"];
  await fleet(["new-cluster", OTHER, ...request, "--repository", platform.folder]);
  await untilEverywhere(await platform.push(`Add spoke ${OTHER}`));
  before = await its.allIdentities(spokes);
  stop = asking(() => its.info(DEMO));
}, 5_400_000);

afterAll(async () => {
  await stop?.();
  if (project === undefined) return;
  if (dir !== undefined) {
    await command("down.ts", dir, [], project.folder);
    // The command removes it too, when it was empty before.
    rmSync(dir, { recursive: true, force: true });
  }
  if (clones !== undefined) rmSync(clones, { recursive: true, force: true });
  project.remove();
}, 2_400_000);

describe.skipIf(release === undefined)("a fleet of the previous version", () => {
  test("takes this one into its repositories without a conflict, and its hub applies them", async () => {
    const { folder, from, takeThis } = project ?? expect.fail("there is no clone of the project");
    await takeThis();
    // What a release has published before anybody takes it, and the deployer's policies as they are now.
    await command("start.ts", dir ?? "", ["--cloud-only"], folder);
    // Its repositories were not made by fleet init, so no commit says what they have.
    for (const { folder: repository } of [platform, governance])
      await fleet(["upgrade-platform", "--repository", repository, "--from", from, "--commit", "--push"]);
    const head = await headOf(platform);
    await eventually(ROLLED_SECONDS, () => expectApplied(its.on(hubCluster), "main", head), PAUSE);
  }, 2_400_000);

  // At once, as the changelog says: the bridge has new keys, which the chain of every spoke waits for.
  test("takes the new program by pulumi up, is Ready with both, and a second pulumi up finds nothing to do", async () => {
    await succeeds(up());
    await untilEverywhere(await headOf(platform));
    expectUnchanged(await up());
    const version = project?.version ?? expect.fail("there is no clone of the project");
    const { spec, status } = await its.on(hubCluster).get(["functions.pkg.crossplane.io", "function-spoke"]);
    expect(spec.package).toMatch(new RegExp(`:v${version.replaceAll(".", "\\.")}@sha256:`));
    for (const type of ["Installed", "Healthy"])
      expect(status.conditions).toContainEqual(expect.objectContaining({ type, status: "True" }));
  }, 2_400_000);

  test("keeps every cluster, node and role of its spokes, all else in AWS, and the application's pods", async () => {
    const after = await its.allIdentities(spokes);
    for (const spoke of spokes) expect(after[spoke]).toEqual(expect.arrayContaining(before[spoke] ?? []));
    expect(before[DEMO]?.filter((line) => line.startsWith("pod ")).length).toBeGreaterThan(0);
  });

  test("meanwhile the application answered every request", async () => {
    const { answered, failures } = (await stop?.()) ?? { answered: 0, failures: [] };
    stop = undefined;
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(10);
  });

  test("finds nothing to do when it asks for this version again", async () => {
    for (const checkout of [platform, governance]) {
      const head = await headOf(checkout);
      expect(await fleet(["upgrade-platform", "--repository", checkout.folder, "--commit", "--push"])).toContain(
        "Nothing to do",
      );
      expect(await headOf(checkout)).toBe(head);
    }
  });

  test("gets later commits: the platform's and the application's", async () => {
    await platform.edit(join("spokes", FLEET, OTHER, "spoke.yaml"), withSpec({ logRetentionDays: 30 }));
    await untilEverywhere(await platform.push(`Keep the logs of ${OTHER} for a month`));
    await eventually(ROLLED_SECONDS, async () => {
      const selector = ["--namespace", "spokes", "--selector", `${labelKeys.cluster}=${OTHER}`];
      const { items } = await its.on(hubCluster).get(["groups.cloudwatchlogs.aws.m.upbound.io", ...selector]);
      expect(items.map(({ status }: Editable) => status.atProvider.retentionInDays)).toEqual([30]);
    });
    const message = `${APP} after the upgrade`;
    const team = await clone(APP_REPOSITORY);
    await team.edit(join("base", "deployment.yaml"), (deployment) => {
      const { env } = deployment.spec.template.spec.containers[0];
      env.find(({ name }: { name: string }) => name === "PODINFO_UI_MESSAGE").value = message;
      return deployment;
    });
    await team.push("Greet otherwise");
    await eventually(ROLLED_SECONDS, async () => expect((await its.info(DEMO)).message).toBe(message));
  }, 2_400_000);
});
