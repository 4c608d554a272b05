import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import * as fixtures from "../functions/spoke/support/fixtures.ts";
import { rightsOf } from "./support/addon-role.ts";
import type { Manifest } from "./support/kustomize.ts";
import { render, withAddons } from "./support/spoke.ts";

const rendered = render(withAddons("minimal", ["opencost", "prometheus"]));
const named = (step: string, wanted: string, name: string): Manifest => {
  const found = rendered.by(step).find(({ kind, metadata }) => kind === wanted && metadata.name === name);
  if (found === undefined) throw new Error(`${step} makes no ${wanted} ${name}`);
  return found;
};
const values = parse(named("opencost", "ConfigMap", "opencost-values")["data"]["values.yaml"]);
const agent = parse(named("prometheus", "ConfigMap", "prometheus-config")["data"]["prometheus.yaml"]);
const job = agent.scrape_configs.find(({ job_name: name }: { job_name: string }) => name === "opencost");

describe("OpenCost", () => {
  test("queries the fleet's workspace, and no other, and writes nothing", () => {
    const may = rightsOf("opencost");
    const workspace = fixtures.hub.metricsWorkspaceArn;
    for (const action of ["aps:QueryMetrics", "aps:GetSeries", "aps:GetLabels", "aps:GetMetricMetadata"]) {
      expect(may(action, workspace), action).toBe(true);
      expect(may(action, `${workspace}1`), action).toBe(false);
    }
    for (const action of ["aps:RemoteWrite", "aps:DeleteWorkspace", "aps:DescribeWorkspace"])
      expect(may(action, workspace), action).toBe(false);
  });

  test("asks that workspace where it is, by a proxy that signs", () => {
    const { prometheus, sigV4Proxy } = values.opencost;
    const [, , , region, , resource = ""] = fixtures.hub.metricsWorkspaceArn.split(":");
    expect(prometheus).toEqual({
      internal: { enabled: false },
      amp: { enabled: true, workspaceId: resource.replace("workspace/", "") },
    });
    expect(sigV4Proxy).toMatchObject({ region, host: `aps-workspaces.${region}.amazonaws.com` });
  });

  test("counts its own cluster only, by the label that the agent sets on every series", () => {
    const { defaultClusterId, extraEnv } = values.opencost.exporter;
    expect(extraEnv.CURRENT_CLUSTER_ID_FILTER_ENABLED).toBe("true");
    expect(agent.remote_write[0].write_relabel_configs).toContainEqual({
      target_label: extraEnv.PROM_CLUSTER_ID_LABEL,
      replacement: defaultClusterId,
    });
  });

  test("shows nobody anything but the agent: no UI, no door for AI agents, and no way in from other pods", () => {
    expect(values.opencost).toMatchObject({ ui: { enabled: false }, mcp: { enabled: false } });
    expect(named("opencost", "NetworkPolicy", "default-deny").spec).toEqual({
      podSelector: {},
      policyTypes: ["Ingress", "Egress"],
    });
    const [rule, ...others] = named("opencost", "NetworkPolicy", "allow-agent").spec.ingress;
    const pods = named("prometheus", "Deployment", "prometheus");
    expect(others).toEqual([]);
    expect(rule.from).toEqual([
      {
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": pods.metadata.namespace } },
        podSelector: { matchLabels: pods.spec.template.metadata.labels },
      },
    ]);
  });
});

describe("the agent's job for OpenCost", () => {
  const keep = new RegExp(`^(${job.metric_relabel_configs[0].regex})$`);

  test.for([
    ...["container_cpu_allocation", "container_memory_allocation_bytes", "node_cpu_hourly_cost"],
    ...["node_ram_hourly_cost", "node_gpu_hourly_cost", "node_total_hourly_cost", "kubecost_node_is_spot"],
    ...["pod_pvc_allocation", "pv_hourly_cost", "kubecost_pv_info", "kube_persistentvolume_capacity_bytes"],
    ...["kubecost_load_balancer_cost", "kube_namespace_labels", "kube_pod_labels"],
    ...["kube_node_status_capacity_cpu_cores", "kube_node_status_capacity_memory_bytes"],
    ...["kube_node_status_allocatable_cpu_cores", "kube_node_status_allocatable_memory_bytes"],
    ...["deployment_match_labels", "statefulSet_match_labels", "service_selector_labels"],
  ])("keeps %s, which only OpenCost has and its queries ask for", (metric) => expect(metric).toMatch(keep));

  test.for(["kube_pod_container_resource_requests", "container_cpu_usage_seconds_total", "go_goroutines"])(
    "leaves out %s, which another job sends or nobody asks for",
    (metric) => expect(metric).not.toMatch(keep),
  );

  test("leaves the labels as OpenCost has them, and looks for its pod in its namespace alone", () => {
    expect(job.honor_labels).toBe(true);
    const { namespace } = named("opencost", "NetworkPolicy", "allow-agent").metadata;
    expect(job.kubernetes_sd_configs.map(({ namespaces }: { namespaces: object }) => namespaces)).toEqual([
      { names: [namespace] },
    ]);
  });
});
