import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AmpClient, ListWorkspacesCommand } from "@aws-sdk/client-amp";
import { GetRoleCommand } from "@aws-sdk/client-iam";
import { prepareAddons } from "@eks-gitops-fleet/local/cli";
import { supervisorOf } from "@eks-gitops-fleet/local/supervisor";
import { signedCalls } from "@eks-gitops-fleet/local/test";
import { ensureAddonProgram } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { alertRules } from "../../infra/alert-rules.ts";
import { withResources, withSpec } from "../support/checkout.ts";
import { dashboards, queriesOf } from "../support/dashboards.ts";
import { outcome, succeeds } from "../support/process.ts";
import { APP, sharedApp } from "./support/apps.ts";
import {
  account,
  eventually,
  execute,
  instance,
  kubectl,
  outputs,
  pulumi,
  scratch,
  tryKubectl,
  upWith,
} from "./support/fleet.ts";
import { switchHubOff } from "./support/hub.ts";
import { actingAs, assume, STS_AUDIENCE, serviceAccountToken } from "./support/identity.ts";
import { liar } from "./support/liar.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import {
  addSpoke,
  calledByGit,
  condition,
  getOnSpoke,
  on,
  onSpoke,
  system,
  tryOnSpoke,
  untilGone,
  untilReady,
} from "./support/spokes.ts";

/** Metrics of a spoke and of the hub, from their pods to the fleet's workspace (docs/guides/metrics.md). */

const name = "plum"; // environment dev
const region = "us-east-1";
const roleName = `fleet-spoke-${name}-addon-prometheus`;
const role = `arn:aws:iam::000000000000:role/${roleName}`;
const hubFile = join("clusters", "fleet", "kustomization.yaml");
const agent = { namespace: "prometheus", name: "prometheus-sa" };
const call = signedCalls({ instance }, `aps-workspaces.${region}.amazonaws.com`, { service: "aps", region });
/** Seconds that samples may take on a machine that is busy: they are taken every 30 seconds. */
const ARRIVAL_SECONDS = 240;

let repository: Checkout;
let workspace = "";
let switchHubOn: (() => Promise<void>) | undefined;

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

interface Rule {
  readonly name: string;
  readonly query: string;
}

/** What the workspace answers to a query, as the account's root. */
async function query(promql: string): Promise<readonly Series[]> {
  const path = `/workspaces/${workspace}/api/v1/query?query=${encodeURIComponent(promql)}`;
  const { status, text } = await call(account, { method: "GET", path });
  expect(status, text).toBe(200);
  return JSON.parse(text).data.result;
}
const arrives = (promql: string) =>
  eventually(ARRIVAL_SECONDS, async () => expect(await query(promql), promql).not.toEqual([]));
/** Samples of the agent itself in the last seconds. */
const samples = async (seconds: number): Promise<number> => {
  const [series] = await query(`count_over_time(up{job="prometheus",cluster="${name}"}[${seconds}s])`);
  return Number(series?.value[1] ?? 0);
};

beforeAll(async () => {
  await prepareAddons(instance, ["prometheus"]);
  // Clusters of other tests count, too.
  await upWith((config) => ({ ...config, metrics: "amp", serviceQuotas: { vpcs: 100, addresses: 100 } }));
  workspace = (await outputs()).bridgeData.metrics_workspace_arn.split("/").at(-1);
  repository = await system();
  const withAddon = (spoke: Editable) => ({ ...spoke, spec: { ...spoke.spec, addons: ["prometheus"] } });
  await repository.edit(hubFile, withResources("../../platform/hub/prometheus"));
  await addSpoke(repository, name, "dev", withAddon, calledByGit);
  await repository.push(`Add spoke ${name} with metrics`);
  await untilReady(name, 900);
  await sharedApp(name, "dev");
});
afterAll(async () => {
  await switchHubOn?.();
  await repository.restore();
  await untilGone(name);
  await eventually(300, async () =>
    expect((await tryKubectl(["get", "namespace", "prometheus"])).stderr).toContain("NotFound"),
  );
  await pulumi(["up", "--yes", "--skip-preview"]);
  const amp = new AmpClient({ region, endpoint: instance.awsEndpoint, credentials: account.sts.config.credentials });
  expect((await amp.send(new ListWorkspacesCommand())).workspaces).toEqual([]);
});

describe("the fleet's workspace", () => {
  test("gets the metrics of the spoke's agent, nodes, kubelets and containers", async () => {
    for (const job of ["prometheus", "kube-state-metrics", "node-exporter", "kubelet", "kubelet-resource", "cadvisor"])
      await arrives(`up{job="${job}",cluster="${name}"} == 1`);
    await arrives(`node_memory_MemAvailable_bytes{cluster="${name}"}`);
    await arrives(`container_memory_working_set_bytes{cluster="${name}",namespace="${APP}"}`);
  });

  test("the sample application's metrics arrive in the workspace, with the labels of its cluster", async () => {
    await arrives(`http_requests_total{app="${APP}"}`);
    const [series] = await query(`http_requests_total{app="${APP}"}`);
    expect(series?.metric).toMatchObject({
      ...{ fleet: "fleet", cluster: name, environment: "dev", tenant: "payments" },
      namespace: APP,
    });
  });

  test("knows which objects of Flux are Ready", async () => {
    await arrives(`gotk_resource_info{customresource_kind="Kustomization",name="prometheus",cluster="${name}"}`);
    await arrives(`gotk_resource_info{customresource_kind="HelmRelease",ready="True"}`);
    // More than once: kube-state-metrics could show the first kind alone after its first answer.
    for (const kind of ["Kustomization", "HelmRelease", "GitRepository"])
      await arrives(`count_over_time(gotk_resource_info{customresource_kind="${kind}",cluster="hub"}[3m]) > 3`);
    await arrives(`kube_deployment_status_replicas_available{deployment="${APP}"} == 1`);
  });

  test("has the fleet's alerts, and none is about to fire for a cluster that is well", async () => {
    const { text } = await call(account, { method: "GET", path: `/workspaces/${workspace}/api/v1/rules` });
    const rules = JSON.parse(text).data.groups.flatMap(({ rules }: { rules: object[] }) => rules) as Rule[];
    const limits = {
      sealingKeyEnds: Object.fromEntries(
        ["local", "dev", "prod", "cluster-amber"].map((scope) => [scope, "2036-01-31"]),
      ),
    };
    const wanted: { alert: string }[] = parse(alertRules(limits)).groups.flatMap(
      ({ rules }: { rules: object[] }) => rules,
    );
    expect(rules.map(({ name }) => name).sort()).toEqual(wanted.map(({ alert }) => alert).sort());
    // Whether support ends soon is a matter of the day.
    for (const { name: alert, query: promql } of rules.filter(({ name }) => !name.endsWith("SupportEnds")))
      await eventually(ARRIVAL_SECONDS, async () => expect(await query(promql), alert).toEqual([]));
  });

  test("gets the hub's own metrics by a role of its own, with every Spoke and what Crossplane does not keep in sync", async () => {
    for (const job of ["prometheus", "kube-state-metrics", "node-exporter", "kubelet"])
      await arrives(`up{job="${job}",cluster="hub",environment="local"} == 1`);
    await arrives(`fleet_spoke_info{name="${name}",spoke_environment="dev",spoke_tenant="payments",ready="True"}`);
    await arrives(
      `crossplane_package_info{cluster="hub",customresource_kind="Provider",healthy="True",installed="True"}`,
    );
    await arrives(
      `crossplane_quota_info{cluster="hub",customresource_kind="VPC",provider_config="default",id=~"vpc-.+"}`,
    );
    const pause = (paused: string) =>
      kubectl(["annotate", "vpc", `${name}-vpc`, "--namespace", "spokes", `crossplane.io/paused${paused}`]);
    await pause("=true");
    try {
      await arrives(`crossplane_resource_info{cluster="hub",spoke="${name}",name="${name}-vpc",synced!="True"}`);
    } finally {
      await pause("-");
    }
    await arrives(`absent(crossplane_resource_info{cluster="hub",spoke="${name}"})`);
  });

  test("believes no pod that claims to be of another cluster", async () => {
    const exposes = `up{cluster="other",environment="prod"} 1\nforged{cluster="other",tenant="other"} 1\n`;
    await onSpoke(name, ["apply", "--filename", "-"], { input: JSON.stringify(liar(exposes)) });
    await arrives(`forged{cluster="${name}",tenant="payments"}`);
    expect(await query('{cluster="other"}')).toEqual([]);
    await onSpoke(name, ["delete", "pod/liar", "configmap/liar", "--namespace", "default", "--wait=false"]);
  });
});

test("the fleet's alerts begin and end as docs/guides/metrics.md#when-an-alert-fires says, by Prometheus's own test of rules", async () => {
  const promtool = await ensureAddonProgram("prometheus", "promtool", () => {});
  const cases = readFileSync(join(import.meta.dirname, "support", "alert-rules.test.yaml"), "utf8");
  const file = join(scratch, "alert-rules.test.yaml");
  const rules = join(scratch, "alert-rules.yaml");
  // Its time begins with 1970.
  const limits = { releases: [{ minor: "1.34", supportEnds: "1970-04-02" }], serviceQuotas: { clusters: 5 } };
  writeFileSync(rules, alertRules({ ...limits, sealingKeyEnds: { dev: "1970-04-02T00:00:00Z" } }));
  writeFileSync(file, cases.replace("__rules__", rules));
  await succeeds(execute(promtool, ["test", "rules", file]));
});

describe("the dashboards", () => {
  const values = { environment: "dev", cluster: name, application: APP };
  test.each(dashboards.flatMap((dashboard) => queriesOf(dashboard, values)))(
    "%s has something to show",
    (_panel, promql) => arrives(promql),
  );
});

describe("the role of the agent", () => {
  const write = { method: "POST", path: "", body: "no samples" };

  test("writes to the workspace, reads nothing of it, and writes to no other", async () => {
    const own = await actingAs(role, agent, on(name));
    // IAM let it through: it is Prometheus that refuses a body like this.
    expect((await call(own, { ...write, path: `/workspaces/${workspace}/api/v1/remote_write` })).status).toBe(400);
    expect((await call(own, { ...write, path: "/workspaces/ws-other/api/v1/remote_write" })).status).toBe(403);
    expect((await call(own, { method: "GET", path: `/workspaces/${workspace}/api/v1/query?query=up` })).status).toBe(
      403,
    );
    expect((await call(undefined, { ...write, path: `/workspaces/${workspace}/api/v1/remote_write` })).status).toBe(
      403,
    );
  });

  test("is for its service account alone", async () => {
    const token = await serviceAccountToken({ namespace: "default", name: "default" }, STS_AUDIENCE, on(name));
    expect(await outcome(assume(role, token))).toMatch(/^AccessDenied/);
  });
});

describe("when something is away", () => {
  test("a workspace that takes nothing loses no sample: they come later, and the spoke does not notice", async () => {
    await eventually(ARRIVAL_SECONDS, async () => expect(await samples(120)).toBeGreaterThan(2));
    const server = (await supervisorOf(instance).list()).find(({ id }) => id === `prometheus.${workspace}`);
    const pid = server?.pid as number;
    process.kill(pid, "SIGSTOP");
    const since = Date.now();
    try {
      await sleep(90_000);
      const { items } = await getOnSpoke(name, ["pods", "--namespace", "prometheus"]);
      for (const { status } of items)
        expect(status.containerStatuses[0]).toMatchObject({ ready: true, restartCount: 0 });
    } finally {
      process.kill(pid, "SIGCONT");
    }
    // One sample each 30 seconds.
    await eventually(ARRIVAL_SECONDS, async () => {
      const seconds = Math.round((Date.now() - since) / 1000);
      expect(await samples(seconds)).toBeGreaterThanOrEqual(Math.floor(seconds / 30) - 1);
    });
    expect(await condition(name, "Ready")).toMatchObject({ status: "True" });
  });

  test("a hub that is down stops no metrics of its spokes", async () => {
    switchHubOn = await switchHubOff();
    await sleep(60_000);
    await eventually(ARRIVAL_SECONDS, async () => expect(await samples(60)).toBeGreaterThan(0));
    await switchHubOn();
    switchHubOn = undefined;
  });
});

describe("the add-on that is turned off", () => {
  test("goes with its namespaces and its role, and what the workspace has stays", async () => {
    await untilReady(name, 600);
    await repository.edit(`spokes/fleet/${name}/spoke.yaml`, withSpec({ addons: [] }));
    await repository.push(`Turn metrics off on ${name}`);
    await eventually(400, async () => {
      for (const namespace of ["prometheus", "node-exporter"])
        expect((await tryOnSpoke(name, ["get", "namespace", namespace])).stderr).toContain("NotFound");
      expect(await outcome(account.iam.send(new GetRoleCommand({ RoleName: roleName })))).toMatch(/^NoSuchEntity/);
    });
    expect(await query(`count_over_time(up{cluster="${name}"}[1h])`)).not.toEqual([]);
  }, 1_200_000);
});
