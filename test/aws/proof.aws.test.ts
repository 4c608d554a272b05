import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { afterAll, describe, expect, inject } from "vitest";
import { secretNames } from "../../cli/doctor/secrets.ts";
import { noPath } from "../../lib/iam/policy.ts";
import { clusterTag, fleetTag, labelKeys } from "../../lib/labels.ts";
import { spokeFolder, spokeSync } from "../../lib/layout.ts";
import { fleetNames, hubName, repositories } from "../../lib/names.ts";
import { describeProblems } from "../../lib/problems.ts";
import { spokeApi } from "../../lib/spoke.ts";
import { APP, appliedOn, expectOrders, expectRole, greetingAt, infoBy, orders, ordersOf } from "../support/app.ts";
import { withSpec } from "../support/checkout.ts";
import {
  type Cluster,
  deploymentsOf,
  expectApplied,
  expectNodes,
  expectPods,
  expectUnchanged,
  fetchNow,
  hubControllers,
  isMissing,
  type KubernetesObject,
} from "../support/cluster.ts";
import { inventoryOf } from "../support/inventory.ts";
import { hubKinds, missingKinds, spokeKinds } from "../support/inventory-lines.ts";
import { fleetScope, spokeScope } from "../support/inventory-scope.ts";
import { eventually, succeed } from "../support/process.ts";
import { spokesOn } from "../support/spokes.ts";
import { billedOf } from "./billed.ts";
import { expectAccess, expectViewer } from "./cases/access.ts";
import { expectGuardDuty, sweepingUntil } from "./cases/guardduty.ts";
import { expectServiceCidr } from "./cases/network.ts";
import { rolesElsewhere } from "./cases/role-path.ts";
import { rollBack } from "./cases/rollback.ts";
import { whileScheduled } from "./cases/secrets.ts";
import { expectSessions } from "./cases/sessions.ts";
import { loadBalancers, nodeResources, untagged, withVolume } from "./cases/tags.ts";
import { expectVolumeKey } from "./cases/volume-key.ts";
import { type CaseName, companyTags, withCases } from "./cases.ts";
import type { Billed } from "./cost.ts";
import { describeLeftovers } from "./leftovers.ts";
import { report } from "./report.ts";
import {
  accountOf,
  checkout,
  clusterOf,
  clusterStatus,
  fleet,
  kubeconfigOf,
  kubectlOf,
  outputsOf,
  publish,
  stackOf,
  tryFleet,
  tryPulumi,
} from "./session.ts";
import { stackProblems } from "./stack.ts";
import { proofSteps } from "./steps.ts";
import { offeredVersions, outOfOrder, upgradedKinds } from "./upgrade.ts";

/** One life of a fleet in an account, from nothing to nothing: docs/guides/aws-proof.md. */

const environment = inject("environment");
const identity = inject("identity");
const { region } = environment;
const account = accountOf(region);
const names = fleetNames(environment.fleet);

const SPOKE = "proof";
const spokeCluster = `${names.spokePrefix}${SPOKE}`;
const place = { ...identity, region, fleet: environment.fleet, spoke: SPOKE, environment: environment.environment };
const inFleet = fleetScope(environment.fleet);
const inSpoke = spokeScope(environment.fleet, SPOKE);
const spokePath = spokeFolder(environment.fleet, SPOKE);
const appPath = join("clusters", SPOKE, APP);

/** Seconds that things may take at the most; they say when to give up, and nothing about how fast it must be. */
const limits = { flux: 900, pods: 900, spoke: 3600, app: 1800, upgrade: 5400, removal: 3600, lists: 600 } as const;
/** Milliseconds between two looks. */
const PAUSE = 5000;
const until = <T>(seconds: number, check: () => Promise<T>) => eventually(seconds, check, PAUSE);

/** Since when the hub and the spoke cost money, until when, and what of them. */
const meters: Record<"hub" | "spoke", { from?: number; to?: number; billed?: Billed }> = { hub: {}, spoke: {} };

const hubCluster = async () => clusterOf(await kubectlOf(names.hubCluster, region));
const onSpoke = async () => {
  const kubectl = await kubectlOf(spokeCluster, region);
  return { kubectl, cluster: clusterOf(kubectl) };
};
const head = async (hub: Cluster, commit: string) => {
  await fetchNow(hub, "gitops-system", "flux-system");
  await until(limits.flux, () => expectApplied(hub, "main", commit));
};
const register = (url: string, key: string) => succeed(environment.deployKey, [url, key]);

const { step, removal, tried } = proofSteps();
const isSelected = (name: CaseName) => environment.cases.includes(name);
/** A step that only AWS can show, where FLEET_AWS_CASES selects it. */
const onAws = (name: CaseName, title: string, run: () => Promise<void>) => step(title, run, isSelected(name));

let published: string;

describe("preparation", () => {
  step("the account has nothing of the fleet yet", async () => {
    const found = await inventoryOf(account, inFleet);
    if (found.length > 0) throw new Error(describeLeftovers(found, environment.fleet));
  });

  step("the stack is the one that is meant, and can be removed without a trace", async () => {
    const problems = stackProblems(await stackOf(environment), environment);
    if (problems.length > 0) throw new Error(describeProblems(`the stack ${environment.stack}`, problems));
  });

  step("the repositories get what fleet init begins with", async () => {
    published = await publish(environment);
  });

  const doctor = () => {
    const file = environment.configFile === undefined ? [] : ["--config-file", environment.configFile];
    const offline = environment.offline ? ["--offline"] : [];
    return tryFleet(["doctor", "--stack", environment.stack, ...file, ...offline]);
  };

  onAws("secrets", "fleet doctor reports a name of a secret that is scheduled for deletion", async () => {
    const [name = ""] = secretNames((await stackOf(environment)).settings);
    const tags = { [fleetTag]: environment.fleet, [clusterTag]: hubName };
    await whileScheduled(account, { name, tags, seconds: limits.lists }, async () => {
      const { code, stdout } = await doctor();
      expect(code).toBe(1);
      expect(stdout).toContain(`${name}: is scheduled for deletion`);
    });
  });

  step("fleet doctor finds nothing that must be done", async () => {
    const { code, stdout, stderr } = await doctor();
    console.log(stdout);
    expect(code, stdout + stderr).toBe(0);
  });
});

describe("the hub", () => {
  step("comes up by pulumi up", async () => {
    meters.hub.from = Date.now();
    const { code, stderr } = await tryPulumi(environment, ["up", "--yes", "--skip-preview", "--suppress-outputs"]);
    expect(code, stderr).toBe(0);
    const { settings } = await stackOf(environment);
    const urls = { "gitops-system": settings.gitopsSystemRepoUrl, "gitops-workloads": settings.gitopsWorkloadsRepoUrl };
    const keys = (await outputsOf(environment))["deployPublicKeys"] as Record<string, string>;
    for (const repository of repositories)
      await register(urls[repository] ?? "", `${keys[repository]?.trim()} ${environment.fleet}`);
  });

  step("is ACTIVE, its nodes and controllers are ready, and Flux has applied gitops-system", async () => {
    expect(await clusterStatus(account, names.hubCluster)).toBe("ACTIVE");
    const hub = await hubCluster();
    const { settings } = await stackOf(environment);
    await expectNodes(hub, settings.kubernetesVersion ?? "");
    await head(hub, published);
    await until(limits.pods, () => expectPods(hub));
    expect(await deploymentsOf(hub)).toEqual(expect.arrayContaining([...hubControllers]));
    expect(missingKinds(await inventoryOf(account, inFleet), hubKinds)).toEqual([]);
    meters.hub.billed = await billedOf(account, inFleet, settings.nodeDiskSize ?? 0);
  });

  onAws("access", "admits the principals of the stack, and viewers change nothing", async () => {
    const { settings } = await stackOf(environment);
    await expectAccess(account, names.hubCluster, settings);
    const [viewer] = settings.clusterViewers ?? [];
    expect(viewer, "clusterViewers of the stack names a role that this identity may assume").toBeDefined();
    await expectViewer(clusterOf(await kubectlOf(names.hubCluster, region, viewer)));
  });

  step("is left as it is by a second pulumi up", async () => {
    expectUnchanged(
      await tryPulumi(environment, ["up", "--yes", "--skip-preview", "--suppress-outputs", "--expect-no-changes"]),
    );
  });
});

const [from, to] = offeredVersions().slice(-2);
if (from === undefined || to === undefined) throw new Error("the Composition offers no two Kubernetes versions");

describe("a spoke", () => {
  step("comes up by fleet new-cluster, a commit and a push", async () => {
    const { settings } = await stackOf(environment);
    const system = await checkout(environment, "gitops-system");
    await fleet([
      ...["new-cluster", SPOKE, "--environment", environment.environment, "--tenant", "payments", "--nodes", "1"],
      ...["--kubernetes-version", from[0], "--admin", identity.admin],
      // Whoever reaches the hub from here reaches the spoke.
      ...(settings.endpointPublicAccessCidrs ?? []).flatMap((cidr) => ["--public-access-cidr", cidr]),
      ...["--repository", system.folder, "--stack", environment.stack],
    ]);
    await system.edit(join(spokePath, "spoke.yaml"), (spoke) => ({
      ...spoke,
      spec: withCases(spoke.spec, environment.cases, settings.volumeKeys?.[0]),
    }));
    meters.spoke.from = Date.now();
    await system.push(`Add spoke ${SPOKE}`);
    const hub = await hubCluster();
    await fetchNow(hub, "gitops-system", "flux-system");
    const spokes = spokesOn(hub, PAUSE);
    await until(limits.flux, async () => expect(await spokes.exists(SPOKE)).toBe(true));
    await spokes.untilReady(SPOKE, limits.spoke);
    await expectNodes((await onSpoke()).cluster, from[0]);
    expect(missingKinds(await inventoryOf(account, inSpoke), spokeKinds)).toEqual([]);
    const { diskSize } = (await spokes.spoke(SPOKE)).spec.nodes;
    meters.spoke.billed = await billedOf(account, inSpoke, diskSize);
  });

  onAws("service-cidr", "gives Services addresses of its own block", async () => {
    await expectServiceCidr(account, (await onSpoke()).cluster, spokeCluster);
  });

  onAws("tags", "puts the company's tags on nodes, their volumes and network interfaces", async () => {
    await withVolume((await onSpoke()).cluster, limits.pods, async () => {
      const found = await nodeResources(account, spokeCluster);
      for (const [kind, resources] of Object.entries(found)) {
        expect(resources.length, kind).toBeGreaterThan(0);
        expect(untagged(resources, companyTags), kind).toEqual([]);
      }
      // One more than the nodes' own.
      expect(found.volumes.length).toBeGreaterThan(found.instances.length);
    });
  });

  onAws("volume-key", "encrypts volumes of nodes and of claims with the company's key", async () => {
    const [key] = (await stackOf(environment)).settings.volumeKeys ?? [];
    if (key === undefined)
      throw new Error(`volumeKeys of the stack ${environment.stack} is empty: name a KMS key there`);
    await withVolume((await onSpoke()).cluster, limits.pods, async () => {
      const { instances, volumes } = await nodeResources(account, spokeCluster);
      // One more than the nodes' own.
      expect(volumes.length).toBeGreaterThan(instances.length);
      await expectVolumeKey(account, volumes, key);
    });
  });

  onAws("role-path", "has its roles and the hub's at the stack's path", async () => {
    const { rolePath = noPath } = (await stackOf(environment)).settings;
    if (rolePath === noPath)
      throw new Error(`rolePath of the stack ${environment.stack} is ${noPath}: set a path there`);
    expect(await rolesElsewhere(account, `${environment.fleet}-`, rolePath)).toEqual([]);
  });

  onAws("sessions", "lets Session Manager reach its nodes", async () => {
    const { instances } = await nodeResources(account, spokeCluster);
    await until(limits.pods, () =>
      expectSessions(
        region,
        instances.map(({ id }) => id),
      ),
    );
  });

  onAws("guardduty", "gets the endpoint of GuardDuty Runtime Monitoring", async () => {
    await until(limits.spoke, () => expectGuardDuty(account, region, spokeCluster));
  });

  step("runs an application, with what it orders in AWS, by fleet onboard, a commit and a push", async () => {
    const workloads = await checkout(environment, "gitops-workloads");
    const said = await fleet([
      ...["onboard", APP, "--cluster", SPOKE, "--environment", environment.environment, "--tenant", "payments"],
      ...["--repository-url", environment.appUrl, "--repository", workloads.folder, "--stack", environment.stack],
      ...(isSelected("load-balancers") ? ["--path", "./overlays/dev-door"] : []),
    ]);
    await register(environment.appUrl, /ssh-ed25519 \S+ .+/.exec(said)?.[0] ?? "");
    await workloads.push(`Onboard ${APP} on ${SPOKE}`);
    const { cluster, kubectl } = await onSpoke();
    await fetchNow(cluster, "gitops-workloads", "flux-system");
    await until(limits.app, async () => expect(await appliedOn(cluster)).toMatchObject({ ready: "True" }));
    expect((await infoBy(kubectl)).message).toBe(greetingAt(place));
    await expectOrders(account, cluster, place);
    await expectRole(account, cluster, place);
  });

  onAws("load-balancers", "puts the company's tags on the application's load balancer", async () => {
    const { cluster } = await onSpoke();
    const found = await until(limits.app, async () => {
      const { items } = await cluster.get(["ingresses", "--namespace", APP]);
      const hosts = items.flatMap(({ status }: KubernetesObject) =>
        (status?.loadBalancer?.ingress ?? []).map(({ hostname }: { hostname: string }) => hostname),
      );
      expect(hosts).toHaveLength(1);
      return loadBalancers(new ElasticLoadBalancingV2Client({ region }), hosts);
    });
    expect(found).toHaveLength(1);
    expect(untagged(found, companyTags)).toEqual([]);
  });

  step("goes up by one Kubernetes minor by a commit, in order, and its application goes on", async () => {
    const system = await checkout(environment, "gitops-system");
    await system.edit(join(spokePath, "spoke.yaml"), withSpec({ kubernetesVersion: to[0] }));
    await system.push(`Raise ${SPOKE} to ${to[0]}`);
    const hub = await hubCluster();
    await fetchNow(hub, "gitops-system", "flux-system");
    const selected = ["--namespace", "spokes", "--selector", `${labelKeys.cluster}=${SPOKE}`];
    let done = false;
    let looks = 0;
    const inOrder = async () => {
      for (; !done; await sleep(PAUSE)) {
        const { code, stdout } = await hub.tryKubectl(["get", upgradedKinds, ...selected, "--output", "json"]);
        // A look that had no answer: the next one counts.
        if (code !== 0) continue;
        expect(outOfOrder(JSON.parse(stdout).items, ...to)).toEqual([]);
        looks += 1;
      }
    };
    const raised = spokesOn(hub, PAUSE).untilVersion(SPOKE, to[0], limits.upgrade);
    await Promise.all([
      raised.finally(() => {
        done = true;
      }),
      inOrder(),
    ]);
    expect(looks).toBeGreaterThan(0);
    const { cluster, kubectl } = await onSpoke();
    await expectNodes(cluster, to[0]);
    await until(limits.app, async () => expect((await infoBy(kubectl)).message).toBe(greetingAt(place)));
    expect(await ordersOf(account, place)).toEqual(orders.there);
  });

  onAws(
    "rollback",
    "reports a version that someone rolled back in EKS, and follows a commit of that version",
    async () => {
      const hub = await hubCluster();
      const spokes = spokesOn(hub, PAUSE);
      const back = { spoke: SPOKE, clusterName: spokeCluster, version: from[0], seconds: limits.upgrade };
      await rollBack(account, hub, back, () =>
        until(limits.spoke, async () =>
          expect(await spokes.condition(SPOKE, "VersionCurrent")).toMatchObject({
            status: "False",
            reason: "RolledBack",
          }),
        ),
      );
      const system = await checkout(environment, "gitops-system");
      await system.edit(join(spokePath, "spoke.yaml"), withSpec({ kubernetesVersion: from[0] }));
      await system.push(`Keep ${SPOKE} at ${from[0]}`);
      await fetchNow(hub, "gitops-system", "flux-system");
      await spokes.untilVersion(SPOKE, from[0], limits.upgrade);
    },
  );
});

describe("removal", () => {
  removal("takes the application with what it ordered in AWS, by a commit", async () => {
    const workloads = await checkout(environment, "gitops-workloads");
    if (existsSync(join(workloads.folder, appPath))) {
      await workloads.remove(appPath);
      await workloads.push(`Remove ${APP} from ${SPOKE}`);
    }
    if ((await clusterStatus(account, spokeCluster)) !== "ACTIVE") return;
    const { cluster } = await onSpoke();
    if (await isMissing(cluster, ["gitrepository", "gitops-workloads", "--namespace", "flux-system"])) return;
    await fetchNow(cluster, "gitops-workloads", "flux-system");
    await until(limits.app, async () => {
      expect(await isMissing(cluster, ["namespace", APP])).toBe(true);
      expect(await ordersOf(account, place)).toEqual(orders.gone);
    });
  });

  removal("takes the spoke with everything of it, by a commit", async () => {
    const system = await checkout(environment, "gitops-system");
    if (existsSync(join(system.folder, spokePath))) {
      await system.remove(spokePath);
      await system.push(`Remove spoke ${SPOKE}`);
    }
    if ((await clusterStatus(account, names.hubCluster)) !== "ACTIVE") return;
    const hub = await hubCluster();
    if (await isMissing(hub, ["spokes", "--namespace", "spokes"])) return;
    await fetchNow(hub, "gitops-system", "flux-system");
    const gone = spokesOn(hub, PAUSE).untilGone(SPOKE, limits.removal);
    const KUBECONFIG = await kubeconfigOf(names.hubCluster, region);
    const sweep = () => tryFleet(["sweep", SPOKE, "--yes"], { KUBECONFIG });
    await (isSelected("guardduty") ? sweepingUntil(gone, sweep, 12 * PAUSE) : gone);
    await until(limits.lists, async () => expect(await inventoryOf(account, inSpoke)).toEqual([]));
    meters.spoke.to = Date.now();
    // The hub's API server refuses to let go of the root Kustomization until Flux has noted that the Spoke is gone.
    await until(limits.flux, async () => {
      const { items } = await hub.get(["kustomizations", "--namespace", "flux-system"]);
      const entries = items.flatMap(({ status }: KubernetesObject) => status?.inventory?.entries ?? []);
      const isOfSpoke = ({ id }: { id: string }) =>
        id.endsWith(`_${spokeApi.kind}`) || id.startsWith(`flux-system_${spokeSync("")}`);
      expect(entries.filter(isOfSpoke)).toEqual([]);
    });
  });

  removal("takes the hub, by pulumi destroy", async () => {
    const { code, stderr } = await tryPulumi(environment, ["destroy", "--yes", "--skip-preview"]);
    expect(code, stderr).toBe(0);
    meters.hub.to = Date.now();
  });

  removal("leaves nothing of the fleet in the account", async () => {
    await until(limits.lists, async () => {
      const left = await inventoryOf(account, inFleet);
      if (left.length > 0) throw new Error(describeLeftovers(left, environment.fleet));
    });
  });
});

afterAll(() => {
  const uses = Object.entries(meters).flatMap(([what, { from, to = Date.now(), billed }]) =>
    from === undefined || billed === undefined ? [] : [{ what, hours: (to - from) / 3_600_000, billed }],
  );
  const text = report(tried, uses);
  console.log(text);
  if (environment.report !== undefined) appendFileSync(environment.report, text);
});
