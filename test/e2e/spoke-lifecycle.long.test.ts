import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deployed, nodeGroupsOf, removed, watchAvailability } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { chainKinds, managedKinds, otherKinds } from "../../functions/spoke/kinds.ts";
import { labelKeys } from "../../lib/labels.ts";
import { withSpec } from "../support/checkout.ts";
import { minorOf } from "../support/cluster.ts";
import { missingKinds, spokeKinds } from "../support/inventory-lines.ts";
import { eventually, get, git, instance, kubectl, outputs, root, tryKubectl } from "./support/fleet.ts";
import { type Change, firstOf, record, removals } from "./support/history.ts";
import { spokeInventory } from "./support/inventory.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import {
  addSpoke,
  clusterOf,
  clusterOn,
  condition,
  getOnSpoke,
  kindsInAws,
  managedOf,
  onSpoke,
  sharedSpoke,
  spoke,
  system,
  tryOnSpoke,
  untilGone,
  untilReady,
  untilVersion,
  workloads,
} from "./support/spokes.ts";

/** Upgraded, removed and made again. */
const SPOKE = "mayfly";
/** What happens to the one must not touch the other. */
const OTHER = "blue";
/** Seconds until Flux has tried a commit, on a machine that is busy. */
const SYNC_SECONDS = 300;
const folder = join("spokes", "fleet", SPOKE, "spoke.yaml");
const inSpokes = ["--namespace", "spokes"];
const { Usage: _, ...others } = otherKinds;
const everyKind = { ...kindsInAws, ...others, ...chainKinds };
const ofSpoke = (name: string) => ({ labelSelector: `${labelKeys.cluster}=${name}` });

const { fleet } = (await outputs()).bridgeData;
let repository: Checkout;

/** Pushes to gitops-system, and tells Flux on the hub as a webhook of the Git host does. */
async function push(message: string): Promise<string> {
  const commit = await repository.push(message);
  const now = `reconcile.fluxcd.io/requestedAt=${Date.now()}`;
  await kubectl(["annotate", "gitrepository", "gitops-system", "--namespace", "flux-system", "--overwrite", now]);
  return commit;
}

const askFor = (kubernetesVersion: string) => repository.edit(folder, withSpec({ kubernetesVersion }));

type Said = readonly ["False", RegExp, kind?: string, name?: string];

/** Waits until Flux on the hub says this of what applies the spokes' Kustomizations, or of what cuts their folders out of the repository. */
const untilFlux = (status: "True" | "False", message = /./, kind = "kustomization", name = "each-spoke") =>
  eventually(SYNC_SECONDS, async () => {
    const { metadata, spec, status: is } = await get([kind, name, "--namespace", "flux-system"]);
    const ready = is.conditions.find(({ type }: { type: string }) => type === "Ready");
    // Of the condition: Flux raises the status' own only when it succeeds.
    const { status: got, message: said, observedGeneration } = ready;
    expect({ observedGeneration, status: got, message: said }, spec.path).toEqual({
      observedGeneration: metadata.generation,
      status,
      message: expect.stringMatching(message),
    });
  });

/** Every object of a spoke in AWS as Crossplane knows it, and in which state: as long as nobody touches one, nothing here changes. */
async function managed(name: string): Promise<string[]> {
  return (await managedOf(name))
    .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
    .sort();
}

/** When the API server of a spoke was started (seconds since 1970), and the minor version that it speaks. */
async function apiServer(name: string): Promise<{ readonly started: number; readonly version: string }> {
  const metrics = await onSpoke(name, ["get", "--raw", "/metrics"]);
  return {
    started: Number(/^process_start_time_seconds (\S+)$/m.exec(metrics)?.[1]),
    version: await minorOf(clusterOn(name)),
  };
}

/** What removals keep to, by design: everything of the first kind is gone before anything of the second goes. */
const order: readonly (readonly [earlier: RegExp, later: RegExp])[] = [
  [/^(Kustomization|HelmRelease) /, /^(?!Kustomization |HelmRelease )/],
  [/^AccessPolicyAssociation /, /^AccessEntry /],
  [/^(AccessEntry|Addon|NodeGroup) /, /^Cluster /],
  [/^NodeGroup /, /^LaunchTemplate /],
  [/^Cluster /, /^(Group|Key|Alias|Route) /],
  [/^Route /, /^(NATGateway|RouteTable) /],
  [/^NATGateway /, /^(EIP|Subnet) /],
  [/^EIP /, /^InternetGateway /],
  [/^VPCEndpointRouteTableAssociation /, /^(VPCEndpoint|RouteTable) /],
  [/^(InternetGateway|RouteTable|Subnet|VPCEndpoint) /, /^VPC /],
  [/^VPC /, /^ConfigMap network-/],
];

const definition = parse(readFileSync(join(root, "repos/gitops-system/platform/composition/composition.yaml"), "utf8"));
const addonVersions: Readonly<Record<string, Readonly<Record<string, string>>>> =
  definition.spec.pipeline[0].input.kubernetesVersions;

beforeAll(async () => {
  repository = await system();
  await addSpoke(repository, SPOKE, "dev");
  await askFor("1.35");
  await push(`Add spoke ${SPOKE}`);
  await sharedSpoke(OTHER, "dev");
  await untilReady(SPOKE);
});

afterAll(async () => {
  await repository.remove(join("spokes", "fleet", SPOKE));
  await push(`Remove spoke ${SPOKE}`);
  await untilGone(SPOKE);
});

describe("the Kubernetes version of a spoke", () => {
  test("can't go up by two minors at once: Flux says why, and the spoke stays as it is", async () => {
    await askFor("1.37");
    await push(`Raise ${SPOKE} too much`);
    await untilFlux("False", /one minor at a time and never down: the control plane runs 1\.34, got 1\.36/);
    expect(await spoke(SPOKE)).toMatchObject({ spec: { kubernetesVersion: "1.35" } });
  });

  test("goes up by one minor: the control plane, then the EKS add-ons, then the nodes", async () => {
    const before = await apiServer(SPOKE);
    expect(before.version).toBe("1.35");
    const { Addon, Cluster, NodeGroup } = managedKinds;
    const history = await record({ Addon, Cluster, NodeGroup }, ofSpoke(SPOKE));
    try {
      await askFor("1.36");
      await push(`Raise ${SPOKE}`);
      await untilVersion(SPOKE, "1.36");

      const after = await apiServer(SPOKE);
      expect(after.version).toBe("1.36");
      expect(after.started).toBeGreaterThan(before.started);

      const at = ({ object }: Change) => object.status?.atProvider ?? {};
      const controlPlane = firstOf(
        history,
        "the control plane on 1.36",
        (change) => change.kind === "Cluster" && at(change).version === "1.36",
      );
      const [former, next] = [addonVersions["1.35"], addonVersions["1.36"]];
      // Some run in the same version on both.
      const raised = Object.entries(next ?? {}).filter(([name, version]) => former?.[name] !== version);
      const addons = raised.map(([name, version]) => ({
        asked: firstOf(history, `${name} asked for ${version}`, ({ kind, object }) => {
          const { addonName, addonVersion } = object.spec.forProvider;
          return kind === "Addon" && addonName === name && addonVersion === version;
        }),
        done: firstOf(history, `${name} on ${version}`, (change) => {
          const { addonName } = change.object.spec.forProvider;
          return change.kind === "Addon" && addonName === name && at(change).addonVersion === version;
        }),
      }));
      const nodes = firstOf(
        history,
        "nodes asked for 1.36",
        ({ kind, object }) => kind === "NodeGroup" && object.spec.forProvider.version === "1.36",
      );
      expect(raised.map(([name]) => name)).toEqual(expect.arrayContaining(["kube-proxy", "coredns"]));
      for (const { asked } of addons) expect(asked).toBeGreaterThan(controlPlane);
      for (const { done } of addons) expect(nodes).toBeGreaterThan(done);
    } finally {
      history.stop();
    }
  }, 1_200_000);

  test("can't go down again: Flux says why, and goes on when the commit is taken back", async () => {
    await askFor("1.35");
    await push(`Lower ${SPOKE}`);
    await untilFlux("False", /never down: the control plane runs 1\.35, got 1\.34/);
    await askFor("1.36");
    await push(`Leave ${SPOKE} as it is`);
    await untilFlux("True");
  });
});

describe("other nodes of a spoke", () => {
  test("come beside the former, which EKS drains when they are Ready: an application with a budget stays available", async () => {
    const cluster = clusterOf(SPOKE);
    const groups = async () => {
      const { items } = await getOnSpoke(SPOKE, ["nodes"]);
      return items.map(({ metadata }: Editable) => metadata.labels["eks.amazonaws.com/nodegroup"]);
    };
    const [former] = await groups();
    const { namespace, name } = await deployed(instance, cluster, former);
    expect(await nodeGroupsOf(instance, cluster, namespace)).toEqual([former, former]);
    const availability = watchAvailability(instance, cluster, namespace, name);
    await repository.edit(folder, (object) => ({
      ...object,
      spec: { ...object.spec, nodes: { ...object.spec.nodes, instanceTypes: ["m6i.xlarge"] } },
    }));
    await push(`Give ${SPOKE} larger nodes`);
    await eventually(600, async () => {
      const now = await groups();
      expect(now).not.toEqual([]);
      expect(now).not.toContain(former);
    });
    await untilReady(SPOKE);
    const seen = await availability.stop();
    expect(Math.min(...seen), `replicas that were available: ${seen.join(", ")}`).toBeGreaterThanOrEqual(1);
    const [current] = await groups();
    expect(await nodeGroupsOf(instance, cluster, namespace)).toEqual([current, current]);
    await removed(instance, cluster, namespace);
  }, 1_200_000);
});

describe("a protected spoke", () => {
  const names = () =>
    readdirSync(join(repository.folder, "spokes", "fleet"), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
  const protect = (name: string, deletionProtection: boolean) =>
    repository.edit(join("spokes", "fleet", name, "spoke.yaml"), withSpec({ deletionProtection }));
  const changed: string[] = [];
  const uids = async () =>
    (await get(["spokes", ...inSpokes])).items.map(({ metadata }: Editable) => `${metadata.name} ${metadata.uid}`);

  // Every spoke, as one of the mistakes is about all of them.
  beforeAll(async () => {
    for (const name of names()) {
      const { deletionProtection = false } = (await spoke(name)).spec;
      if (deletionProtection) continue;
      changed.push(name);
      await protect(name, true);
    }
    await push("Protect every spoke");
    await eventually(SYNC_SECONDS, async () => {
      const { items } = await get(["spokes", ...inSpokes]);
      expect(items.length).toBeGreaterThan(1);
      for (const { metadata, spec } of items) expect(spec.deletionProtection, metadata.name).toBe(true);
    });
  });
  afterAll(async () => {
    for (const name of changed) await protect(name, false);
    await push("Protect no spoke any more");
    await eventually(SYNC_SECONDS, async () => {
      for (const name of changed) expect((await spoke(name)).spec.deletionProtection, name).toBe(false);
    });
  });

  const refusal = /Spoke \S+ is protected: set spec\.deletionProtection to false in a commit of its own/;
  test.each<readonly [string, () => Promise<void>, Said]>([
    ["of its folder", () => repository.remove(join("spokes", "fleet", OTHER)), ["False", refusal]],
    [
      "of the whole folder of the fleet's spokes",
      () => repository.remove("spokes/fleet"),
      ["False", /'spokes\/fleet' does not exist/, "artifactgenerator", "spokes"],
    ],
    [
      "of all spokes by a wrong path of what Flux applies",
      () => repository.edit(join("platform", "hub", "spokes.yaml"), withSpec({ path: `./spokes/fleet/${SPOKE}` })),
      ["False", refusal],
    ],
  ])("survives the removal %s, and Flux goes on when that is taken back", async (what, mistake, said) => {
    const before = await uids();
    await mistake();
    await push(`Remove by mistake: ${what}`);
    await untilFlux(...said);
    await git(["revert", "--no-commit", "HEAD"], repository.folder);
    await push("Take it back");
    await untilFlux("True", /./, "artifactgenerator", "spokes");
    await untilFlux("True");
    expect(await uids()).toEqual(before);
    for (const { metadata, status } of (await get(["spokes", ...inSpokes])).items) {
      expect(metadata.deletionTimestamp, metadata.name).toBeUndefined();
      // Crossplane would note an attempt, and carry it out as soon as the protection is off.
      expect(Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith("usage."))).toEqual([]);
      expect(status.conditions.map(({ type }: { type: string }) => type)).not.toContain("Deleting");
    }
  });
});

describe("removing a spoke", () => {
  const queue = `fleet-spoke-${SPOKE}_ledger`;
  const finalizer = "example.com/held-by-a-test";
  const step = join("spoke-bootstrap", "steps", "workloads.yaml");
  const until = (timeout: string) => repository.edit(step, withSpec({ timeout }));
  let before: string;

  /** An application that orders a queue, and that can't go as long as the test holds it. */
  const application = [
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: "ledger",
        labels: { "fleet.internal/tenant": "payments", "pod-security.kubernetes.io/enforce": "baseline" },
      },
    },
    {
      apiVersion: "aws.m.upbound.io/v1beta1",
      kind: "ProviderConfig",
      metadata: { name: "aws", namespace: "ledger" },
      spec: { credentials: { source: "IRSA" } },
    },
    {
      apiVersion: "sqs.aws.m.upbound.io/v1beta1",
      kind: "Queue",
      metadata: { name: "ledger", namespace: "ledger" },
      spec: {
        providerConfigRef: { kind: "ProviderConfig", name: "aws" },
        forProvider: { region: "us-east-1", name: queue },
      },
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "held", namespace: "ledger", finalizers: [finalizer] } },
  ];

  beforeAll(async () => {
    const governance = await workloads();
    await governance.write(join("clusters", SPOKE, "ledger.yaml"), ...application);
    await governance.push(`Deploy ledger on ${SPOKE}`);
    // Flux on the hub gives up waiting for the applications after this time; the change is for removals only.
    before = parse(readFileSync(join(repository.folder, step), "utf8")).spec.timeout;
    await until("10s");
    await push("Wait less for applications that are removed");
    await eventually(SYNC_SECONDS, async () => {
      const { spec } = await get(["kustomization", `${SPOKE}-workloads`, ...inSpokes]);
      expect(spec.timeout).toBe("10s");
      expect(await spokeInventory(fleet, SPOKE)).toContain(`queue ${queue}`);
      expect((await getOnSpoke(SPOKE, ["configmap", "held", "--namespace", "ledger"])).metadata.finalizers).toEqual([
        finalizer,
      ]);
    });
  });
  afterAll(async () => {
    await until(before);
    await push("Wait for applications that are removed");
    const governance = await workloads();
    await governance.remove(join("clusters", SPOKE));
    await governance.push(`Remove ledger from ${SPOKE}`);
  });

  test("takes everything down in order, also when that outlasts Flux's timeout, and touches no other spoke", async () => {
    expect(missingKinds(await spokeInventory(fleet, SPOKE), [...spokeKinds, "queue"])).toEqual([]);
    const untouched = await managed(OTHER);
    const history = await record(everyKind, ofSpoke(SPOKE));
    try {
      await repository.remove(join("spokes", "fleet", SPOKE));
      await push(`Remove spoke ${SPOKE}`);
      // Flux on the hub has let go of the applications, which are still there.
      await eventually(SYNC_SECONDS, async () => {
        const { stderr } = await tryKubectl(["get", "kustomization", `${SPOKE}-workloads`, ...inSpokes]);
        expect(stderr).toContain("not found");
      });
      await eventually(SYNC_SECONDS, async () =>
        expect((await spokeInventory(fleet, SPOKE)).join()).not.toContain(queue),
      );
      const flux = await getOnSpoke(SPOKE, ["kustomizations", "--namespace", "flux-system"]);
      const going = (name: string) =>
        flux.items.find(({ metadata }: Editable) => metadata.name === name)?.metadata.deletionTimestamp !== undefined;
      expect({ applications: going("workloads"), tools: going("tools") }).toEqual({ applications: true, tools: false });
      const providers = await getOnSpoke(SPOKE, ["deployments", "--namespace", "crossplane-system"]);
      expect(providers.items.map(({ metadata }: Editable) => metadata.name).join()).toContain("provider-aws-sqs");
      expect(await condition(SPOKE, "Deleting")).toMatchObject({ status: "True" });

      const release = ["--type", "merge", "--patch", '{"metadata":{"finalizers":null}}'];
      await onSpoke(SPOKE, ["patch", "configmap", "held", "--namespace", "ledger", ...release]);
      await untilGone(SPOKE);

      expect(await spokeInventory(fleet, SPOKE)).toEqual([]);
      const gone = removals(history);
      for (const [earlier, later] of order) {
        const last = gone.findLastIndex((each) => earlier.test(each));
        const first = gone.findIndex((each) => later.test(each));
        expect(last, `${earlier} in ${gone.join(", ")}`).toBeGreaterThan(-1);
        expect(first, `${earlier} before ${later}: ${gone.join(", ")}`).toBeGreaterThan(last);
      }
      for (const { kind, name, object } of history.changes()) {
        for (const dependency of (kind === "Kustomization" && object.spec.dependsOn) || [])
          expect(gone.indexOf(`${kind} ${name}`)).toBeLessThan(gone.indexOf(`Kustomization ${dependency.name}`));
        if (kind === "RolePolicyAttachment" || kind === "RolePolicy")
          expect(gone.indexOf(`${kind} ${name}`)).toBeLessThan(gone.indexOf(roleOf(object, history.changes())));
      }
    } finally {
      history.stop();
    }
    expect(await managed(OTHER)).toEqual(untouched);
  }, 1_800_000);

  test("leaves its name free at once", async () => {
    await git(["revert", "--no-commit", "HEAD"], repository.folder);
    await push(`Add spoke ${SPOKE} again`);
    await untilReady(SPOKE, 900);
    expect((await tryOnSpoke(SPOKE, ["get", "namespace", "ledger"])).code).toBe(0);
  }, 1_200_000);
});

/** The Role object that a policy is of. */
function roleOf(policy: Editable, changes: readonly Change[]): string {
  const external = (object: Editable) => object.metadata.annotations?.["crossplane.io/external-name"];
  const role = changes.find(({ kind, object }) => kind === "Role" && external(object) === policy.spec.forProvider.role);
  return `Role ${role?.name}`;
}
