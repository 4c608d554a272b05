import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { podNetwork } from "@eks-gitops-fleet/local/test";
import type { V1Pod } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { expectOrders, expectRole, greetingAt, orders, ordersOf } from "../support/app.ts";
import {
  APP,
  appFolder,
  applied,
  fetchNow,
  info,
  manifests,
  ROLLOUT_SECONDS,
  sharedApp,
  untilApplied,
  untilServed,
} from "./support/apps.ts";
import { account, eventually, instance } from "./support/fleet.ts";
import type { Checkout } from "./support/repository.ts";
import {
  clusterOf,
  clusterOn,
  condition,
  getOnSpoke,
  onSpoke,
  sharedSpoke,
  tryOnSpoke,
  workloads,
} from "./support/spokes.ts";

const SPOKE = "blue";
const place = {
  fleet: "fleet",
  spoke: SPOKE,
  environment: "dev",
  accountId: "000000000000",
  region: "us-east-1",
  partition: "aws",
};

let team: Checkout;
beforeAll(async () => {
  await sharedSpoke(SPOKE, "dev");
  await sharedApp(SPOKE, "dev");
  team = await manifests();
});
afterAll(async () => {
  const restored = await team.restore();
  if (restored === undefined) return;
  await fetchNow(SPOKE);
  await untilApplied(SPOKE, restored);
});

/** Pushes what the team's checkout holds and has the spoke fetch it at once. */
async function push(message: string): Promise<string> {
  const commit = await team.push(message);
  await fetchNow(SPOKE);
  return commit;
}

describe("an application on a spoke", () => {
  test("answers HTTP, and knows where it runs by the facts of the cluster", async () => {
    expect((await info(SPOKE)).message).toBe(greetingAt(place));
  });

  test("has its table and its queue in AWS, under the cluster's and its own name, with the fleet's tags", async () => {
    await expectOrders(account, clusterOn(SPOKE), place);
  });

  test("has its own IAM role in its pods, under the tenants' boundary", async () => {
    await expectRole(account, clusterOn(SPOKE), place);
  });

  test("is rolled out by a commit of its team", async () => {
    const message = `payments, ${Date.now()}`;
    await team.edit("base/deployment.yaml", (deployment) => {
      const { env } = deployment.spec.template.spec.containers[0];
      env.find(({ name }: { name: string }) => name === "PODINFO_UI_MESSAGE").value = message;
      return deployment;
    });
    await untilApplied(SPOKE, await push("Greet otherwise"));
    await untilServed(SPOKE, message);
  });
});

describe("the network of an application", () => {
  const pods = async (namespace: string, selector: string) =>
    (await getOnSpoke(SPOKE, ["pods", "--namespace", namespace, "--selector", selector])).items as V1Pod[];
  const networkOf = (found: V1Pod[]) => podNetwork(instance, clusterOf(SPOKE), found[0] as V1Pod);

  test("reaches DNS and AWS's APIs, and neither the platform's pods nor another port of its node or of the cloud", async () => {
    const dns = await pods("kube-system", "k8s-app=kube-dns");
    const { podIP, hostIP } = dns[0]?.status ?? {};
    const cases = [
      { host: podIP, port: 53, allowed: true },
      { host: instance.gatewayAddress, port: 443, allowed: true },
      { host: instance.gatewayAddress, port: 4566, allowed: false },
      { host: instance.gatewayAddress, port: 2222, allowed: false },
      { host: hostIP, port: 10250, allowed: false },
      // Its readiness.
      { host: podIP, port: 8181, allowed: false },
    ];
    // The tests before may have had its pod replaced.
    const app = await eventually(60, async () => {
      const standing = (await pods(APP, "")).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
      return networkOf(standing);
    });
    const platform = await networkOf(dns);
    for (const { host = "", port, allowed } of cases) {
      // A node enforces policies on a new pod once its agent has seen it, as on EKS.
      await eventually(60, async () =>
        expect(await app.connect(host, port), `${host}:${port}`).toBe(allowed ? "open" : "ECONNREFUSED"),
      );
      // The twin: something listens there, and only the policies stop it.
      expect(await platform.connect(host, port), `${host}:${port} from CoreDNS`).toBe("open");
    }
  });
});

describe("what an application team may do", () => {
  const deployer = `--as=system:serviceaccount:${APP}:deployer`;
  const configMap = (namespace: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "of-the-team", namespace },
  });
  const wide = (apiVersion: string, kind: string, more: object = {}) => ({
    apiVersion,
    kind,
    metadata: { name: "of-the-team" },
    ...more,
  });
  const rbac = "rbac.authorization.k8s.io/v1";
  const clusterRole = wide(rbac, "ClusterRole", { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] });
  const create = (object: object) =>
    tryOnSpoke(SPOKE, ["create", deployer, "--dry-run=server", "--filename", "-"], { input: JSON.stringify(object) });

  test("its service account makes objects in its own namespace, and in no other", async () => {
    expect(await create(configMap(APP))).toMatchObject({ code: 0 });
    for (const namespace of ["default", "flux-system", "kube-system"])
      expect(await create(configMap(namespace)), namespace).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(
          `cannot create resource "configmaps" in API group "" in the namespace "${namespace}"`,
        ),
      });
  });

  test.for([
    wide("v1", "Namespace"),
    clusterRole,
    wide(rbac, "ClusterRoleBinding", {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    }),
    wide("aws.m.upbound.io/v1beta1", "ClusterProviderConfig", { spec: { credentials: { source: "IRSA" } } }),
  ])("its service account makes nothing cluster-wide: $kind", async (object) => {
    expect(await create(object)).toMatchObject({ code: 1, stderr: expect.stringContaining("at the cluster scope") });
    // The twin: nothing but the right is missing.
    const allowed = ["create", "--dry-run=server", "--filename", "-"];
    expect(await tryOnSpoke(SPOKE, allowed, { input: JSON.stringify(object) })).toMatchObject({ code: 0 });
  });

  const overlay = async (objects: readonly object[]) => {
    await mkdir(join(team.folder, "overlays", "dev"), { recursive: true });
    await writeFile(
      join(team.folder, "overlays/dev/team.yaml"),
      objects.map((object) => stringify(object)).join("---\n"),
    );
    await team.edit("overlays/dev/kustomization.yaml", (kustomization) => ({
      ...kustomization,
      resources: ["../../base", "team.yaml"],
    }));
  };

  test("a commit with a cluster-wide object is refused as a whole, in words, and the application goes on", async () => {
    await overlay([configMap(APP), clusterRole]);
    const refused = await push("Give ourselves everything");
    await eventually(ROLLOUT_SECONDS, async () => {
      const { ready, message, attempted, commit } = await applied(SPOKE);
      expect({ ready, attempted }, message).toEqual({ ready: "False", attempted: refused });
      expect(commit).not.toBe(refused);
      expect(message).toContain(`"system:serviceaccount:${APP}:deployer" cannot patch resource "clusterroles"`);
    });
    expect((await tryOnSpoke(SPOKE, ["get", "clusterrole", "of-the-team"])).stderr).toContain("NotFound");
    expect((await tryOnSpoke(SPOKE, ["get", "configmap", "of-the-team", "--namespace", APP])).stderr).toContain(
      "NotFound",
    );
    expect(await info(SPOKE)).toHaveProperty("message");
  });

  test("the commit that fixes it is applied; an object for another namespace lands in the application's own", async () => {
    await overlay([configMap("default")]);
    await untilApplied(SPOKE, await push("Keep to what is ours"));
    await onSpoke(SPOKE, ["get", "configmap", "of-the-team", "--namespace", APP]);
    const elsewhere = await tryOnSpoke(SPOKE, ["get", "configmap", "of-the-team", "--namespace", "default"]);
    expect(elsewhere.stderr).toContain("NotFound");
  });
});

describe("an application whose folder is removed from gitops-workloads", () => {
  const ordered = () => ordersOf(account, place);

  test("goes with all that it ordered in AWS, leaves its spoke Ready, and can be put back", async () => {
    const governance = await workloads();
    expect(await ordered()).toEqual(orders.there);
    await governance.remove(appFolder(SPOKE));
    await governance.push(`Remove ${APP} from ${SPOKE}`);
    await fetchNow(SPOKE, "gitops-workloads", "flux-system");
    await eventually(ROLLOUT_SECONDS, async () => {
      expect((await tryOnSpoke(SPOKE, ["get", "namespace", APP])).stderr).toContain("NotFound");
    });
    expect(await ordered()).toEqual(orders.gone);
    expect(await condition(SPOKE, "Ready")).toMatchObject({ status: "True" });

    await governance.restore();
    await fetchNow(SPOKE, "gitops-workloads", "flux-system");
    await eventually(ROLLOUT_SECONDS, async () => expect(await applied(SPOKE)).toMatchObject({ ready: "True" }));
    expect(await ordered()).toEqual(orders.there);
    expect(await info(SPOKE)).toHaveProperty("message");
  });
});
