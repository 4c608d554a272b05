import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DescribeClusterCommand } from "@aws-sdk/client-eks";
import { paginateListRoles } from "@aws-sdk/client-iam";
import { rootAws } from "@eks-gitops-fleet/local/cli";
import { bareRepository } from "@eks-gitops-fleet/local/git";
import { findInstance, type Instance } from "@eks-gitops-fleet/local/instance";
import { command } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { notApplied } from "../../lib/flux-applied.ts";
import { labelKeys } from "../../lib/labels.ts";
import { APP, APP_REPOSITORY, infoBy } from "../support/app.ts";
import { type Checkout, checkoutOf, type Editable } from "../support/checkout.ts";
import { type Cluster, clusterBy, expectApplied, expectUnchanged, isReady } from "../support/cluster.ts";
import { inventoryOf } from "../support/inventory.ts";
import { spokeScope } from "../support/inventory-scope.ts";
import { eventually, execute, git } from "../support/process.ts";
import { spokesOn } from "../support/spokes.ts";
import { type ProjectClone, previousProject } from "./support/previous.ts";
import { asking } from "./support/requests.ts";

/**
 * A fleet that came up with the previous version takes this one while its spokes run, as docs/guides/new-version-of-repos.md and upgrade.md
 * say: its repositories by `fleet upgrade-platform`, then its hub by `pulumi up`. On an instance of its own, which npm start of the
 * previous version has made. A release that asks for another order has to be taken in that order here, too.
 */

/** The demo's spoke, with its application, in dev. */
const DEMO = "blue";
/** One in prod. */
const OTHER = "green";
const spokes = [DEMO, OTHER] as const;
const FLEET = "fleet";
const hubCluster = `${FLEET}-hub`;
const spokeCluster = (name: string) => `${FLEET}-spoke-${name}`;
/** Seconds that a spoke, or a change of all, may take on a machine that is busy. */
const ROLLED_SECONDS = 1800;
/** Milliseconds between two looks at everything. */
const PAUSE = 3000;
const person = {
  GIT_AUTHOR_NAME: "A person",
  GIT_AUTHOR_EMAIL: "person@example.com",
  GIT_COMMITTER_NAME: "A person",
  GIT_COMMITTER_EMAIL: "person@example.com",
};

let project: ProjectClone | undefined;
let dir: string | undefined;
let instance: Instance;
let account: Awaited<ReturnType<typeof rootAws>>;
/** Clones of the fleet's repositories, side by side. */
let clones: string;
let platform: Checkout;
let governance: Checkout;
let before: Readonly<Record<string, string[]>>;
let stop: ReturnType<typeof asking> | undefined;

const tool = (name: string) => join(instance.paths.bin, name);
/** kubectl on a cluster of the instance, as its administrator. */
const kubectlOn = (cluster: string): [string, ...string[]] => [
  tool("kubectl"),
  "--kubeconfig",
  join(instance.paths.clusters, cluster, "admin.kubeconfig"),
];
function on(cluster: string): Cluster {
  const [file, ...flags] = kubectlOn(cluster);
  return clusterBy((args, options) => execute(file, [...flags, ...args], options));
}
const info = () => infoBy(kubectlOn(spokeCluster(DEMO)));
const clone = (repository: string): Promise<Checkout> =>
  checkoutOf(bareRepository(instance, repository), join(clones, repository));
const headOf = async ({ folder }: Checkout) => (await git(["rev-parse", "HEAD"], folder)).trim();

const inProject = () => ({ cwd: project?.folder ?? expect.fail("there is no clone of the project") });
/** `fleet` of the version that is checked out. */
async function fleet(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await execute(tool("fleet"), args, { ...inProject(), env: person });
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}
/** `pulumi up` with the program that is checked out. */
const up = () =>
  execute(tool("pulumi"), ["up", "--yes", "--skip-preview", "--suppress-outputs", "--non-interactive"], inProject());

/** What must stay of a spoke: everything in AWS, with the IDs of cluster and roles, which keep their names when they are made anew; nodes; the application's pods. */
async function identities(spoke: string): Promise<string[]> {
  const name = spokeCluster(spoke);
  const scope = spokeScope(FLEET, spoke);
  const roles: string[] = [];
  for await (const { Roles = [] } of paginateListRoles({ client: account.iam }, {}))
    for (const { RoleName = "", RoleId } of Roles) if (scope.name(RoleName)) roles.push(`role ${RoleName} ${RoleId}`);
  const { cluster } = await account.eks.send(new DescribeClusterCommand({ name }));
  const nodes: Editable[] = (await on(name).get(["nodes"])).items;
  const pods: Editable[] = (await on(name).get(["pods", "--namespace", APP])).items;
  const restarts = ({ status }: Editable) =>
    status.containerStatuses.map(({ restartCount }: { restartCount: number }) => restartCount).join();
  return [
    ...(await inventoryOf(account, scope)),
    ...roles,
    `cluster ${cluster?.arn} ${cluster?.createdAt?.toISOString()} ${cluster?.identity?.oidc?.issuer}`,
    ...nodes.map(({ metadata }) => `node ${metadata.name} ${metadata.uid}`),
    ...pods.map((pod) => `pod ${pod.metadata.name} ${pod.metadata.uid} ${restarts(pod)}`),
  ];
}
const allIdentities = async (): Promise<Readonly<Record<string, string[]>>> =>
  Object.fromEntries(await Promise.all(spokes.map(async (spoke) => [spoke, await identities(spoke)] as const)));

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
  const hub = on(hubCluster);
  const revision = `main@sha1:${commit}`;
  await expectApplied(hub, "main", commit);
  const inFlux = await hub.get(["externalartifacts", "--namespace", "flux-system"]);
  const chain: Editable[] = (await hub.get(["kustomizations,helmreleases", "--namespace", "spokes"])).items;
  expectReady(chain, "on the hub");
  expect(notApplied([...inFlux.items, ...chain])).toEqual([]);
  for (const name of spokes) {
    expect(isReady(await spokesOn(hub).spoke(name)), name).toBe(true);
    const kinds = "gitrepositories,kustomizations,helmreleases";
    const own: Editable[] = (await on(spokeCluster(name)).get([kinds, "--namespace", "flux-system"])).items;
    expectReady(own, `on ${name}`);
    const source = own.find(({ kind, metadata }) => kind === "GitRepository" && metadata.name === "gitops-system");
    expect(source.status.artifact.revision, name).toBe(revision);
    for (const { kind, metadata, spec, status } of own)
      if (kind === "Kustomization" && spec.sourceRef.name === "gitops-system")
        expect(status.lastAppliedRevision, `${metadata.name} on ${name}`).toBe(revision);
  }
  expectReady((await on(spokeCluster(DEMO)).get(["kustomizations", "--namespace", APP])).items, `on ${DEMO}`);
}
const untilEverywhere = (commit: string) => eventually(ROLLED_SECONDS, () => expectEverywhere(commit), PAUSE);

beforeAll(async () => {
  project = await previousProject();
  dir = mkdtempSync(join(tmpdir(), "fleet-upgrade-"));
  // Ends well once the spoke is Ready and the application answers.
  await command("start.ts", dir, [], project.folder);
  instance = (await findInstance(dir)) ?? expect.fail(`no instance runs in ${dir}`);
  account = await rootAws(instance);
  clones = mkdtempSync(join(tmpdir(), "fleet-clones-"));
  [platform, governance] = [await clone("gitops-system"), await clone("gitops-workloads")];
  const request = ["--environment", "prod", "--tenant", "payments", "--nodes", "1"];
  await fleet(["new-cluster", OTHER, ...request, "--repository", platform.folder]);
  await untilEverywhere(await platform.push(`Add spoke ${OTHER}`));
  before = await allIdentities();
  stop = asking(info);
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

describe("a fleet of the previous version", () => {
  test("takes this one into its repositories without a conflict, and its hub applies them", async () => {
    const { folder, from, takeThis } = project ?? expect.fail("there is no clone of the project");
    await takeThis();
    // What a release has published before anybody takes it, and the deployer's policies as they are now.
    await command("start.ts", dir ?? "", ["--cloud-only"], folder);
    // Its repositories were not made by fleet init, so no commit says what they have.
    for (const { folder: repository } of [platform, governance])
      await fleet(["upgrade-platform", "--repository", repository, "--from", from, "--commit", "--push"]);
    const head = await headOf(platform);
    await eventually(ROLLED_SECONDS, () => expectApplied(on(hubCluster), "main", head), PAUSE);
  }, 2_400_000);

  // At once, as the changelog says: the bridge has new keys, which the chain of every spoke waits for.
  test("takes the new program by pulumi up, is Ready with both, and a second pulumi up finds nothing to do", async () => {
    const { code, stdout, stderr } = await up();
    expect(code, stdout + stderr).toBe(0);
    await untilEverywhere(await headOf(platform));
    expectUnchanged(await up());
    const version = project?.version ?? expect.fail("there is no clone of the project");
    const { spec, status } = await on(hubCluster).get(["functions.pkg.crossplane.io", "function-spoke"]);
    expect(spec.package).toMatch(new RegExp(`:v${version.replaceAll(".", "\\.")}$`));
    for (const type of ["Installed", "Healthy"])
      expect(status.conditions).toContainEqual(expect.objectContaining({ type, status: "True" }));
  }, 2_400_000);

  test("keeps every cluster, node and role of its spokes, all else in AWS, and the application's pods", async () => {
    const after = await allIdentities();
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
    await platform.edit(join("spokes", FLEET, OTHER, "spoke.yaml"), (spoke) => ({
      ...spoke,
      spec: { ...spoke.spec, logRetentionDays: 30 },
    }));
    await untilEverywhere(await platform.push(`Keep the logs of ${OTHER} for a month`));
    await eventually(ROLLED_SECONDS, async () => {
      const selector = ["--namespace", "spokes", "--selector", `${labelKeys.cluster}=${OTHER}`];
      const { items } = await on(hubCluster).get(["groups.cloudwatchlogs.aws.m.upbound.io", ...selector]);
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
    await eventually(ROLLED_SECONDS, async () => expect((await info()).message).toBe(message));
  }, 2_400_000);
});
