import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { managedKinds, pluralOf } from "../../functions/spoke/kinds.ts";
import * as fixtures from "../functions/spoke/support/fixtures.ts";
import { rolePatches } from "../support/addon-catalogue.ts";
import { rightsOf } from "./support/addon-role.ts";
import { orderedKinds } from "./support/ordered.ts";
import { render, withAddons } from "./support/spoke.ts";

interface Resource {
  readonly groupVersionKind: Readonly<Record<"group" | "version" | "kind", string>>;
}

describe("prometheus", () => {
  const rendered = render(withAddons("minimal", ["prometheus"]));
  const objects = rendered.by("prometheus");
  const find = (kind: string, name: string) =>
    objects.find((object) => object.kind === kind && object.metadata.name.startsWith(name));
  const podOf = (kind: string, name: string) => find(kind, name)?.spec.template.spec;
  const configuration = parse(String(find("ConfigMap", "prometheus-config")?.["data"]["prometheus.yaml"]));

  test("sends to the fleet's workspace as the service account that its role trusts, signed for the workspace's region", () => {
    const { metricsWorkspaceArn, metricsEndpoint } = fixtures.hub;
    expect(configuration.remote_write).toMatchObject([
      { url: `${metricsEndpoint}api/v1/remote_write`, sigv4: { region: metricsWorkspaceArn.split(":")[3] } },
    ]);
    const account = find("ServiceAccount", "prometheus-sa");
    expect(account?.metadata.namespace).toBe(rolePatches["prometheus"]?.[0]?.value.namespace);
    expect(account?.metadata["annotations"]).toEqual({
      "eks.amazonaws.com/role-arn": "arn:aws:iam::000000000000:role/fleet-spoke-blue-addon-prometheus",
    });
    expect(podOf("Deployment", "prometheus").serviceAccountName).toBe(
      rolePatches["prometheus"]?.[0]?.value.serviceAccount,
    );
  });

  test("writes to the fleet's workspace, and does nothing else in AWS", () => {
    const may = rightsOf("prometheus");
    const workspace = fixtures.hub.metricsWorkspaceArn;
    expect(may("aps:RemoteWrite", workspace)).toBe(true);
    expect(may("aps:RemoteWrite", `${workspace}1`)).toBe(false);
    for (const action of ["aps:QueryMetrics", "aps:GetSeries", "aps:PutRuleGroupsNamespace", "aps:DeleteWorkspace"])
      expect(may(action, workspace), action).toBe(false);
  });

  test("says of every series from which cluster it is, whatever a pod exposes", () => {
    const [{ write_relabel_configs: labels }] = configuration.remote_write;
    const written = labels.map((rule: Record<string, string>) => [rule["target_label"], rule["replacement"]]);
    expect(Object.fromEntries(written)).toMatchObject({ fleet: "fleet", cluster: "blue", environment: "dev" });
    // Without a source or an expression it replaces in every series.
    for (const rule of labels) expect(Object.keys(rule).sort()).toEqual(["replacement", "target_label"]);
    expect(configuration.global).not.toHaveProperty("external_labels");
  });

  test("takes only so much from one pod", () => {
    const pods = configuration.scrape_configs.find(({ job_name: job }: { job_name: string }) => job === "pods");
    expect(pods).toMatchObject({ sample_limit: 10_000, body_size_limit: "10MB", label_limit: 40 });
  });

  test("believes only kubelets that the cluster's authority vouches for", () => {
    for (const { scheme, tls_config: tls } of configuration.scrape_configs)
      if (scheme === "https") expect(tls).toEqual({ ca_file: "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt" });
  });

  test("keeps its samples on its own disk, within the limit that the node gives it", () => {
    const { volumes, containers } = podOf("Deployment", "prometheus");
    expect(volumes).toContainEqual({ name: "storage", emptyDir: { sizeLimit: "2Gi" } });
    expect(containers[0].args).toContain("--agent");
    expect(containers[0].resources.limits["ephemeral-storage"]).toBe("3Gi");
  });

  test("lets nothing but node-exporter see the node", () => {
    for (const name of ["prometheus", "kube-state-metrics"]) {
      const { hostNetwork, hostPID, volumes } = podOf("Deployment", name);
      expect([hostNetwork, hostPID, volumes.some((volume: object) => "hostPath" in volume)], name).toEqual([
        undefined,
        undefined,
        false,
      ]);
    }
    expect(find("DaemonSet", "node-exporter")?.metadata.namespace).toBe("node-exporter");
  });

  test("gives kube-state-metrics every kind that it is told to watch, and no Secret", () => {
    const { args } = podOf("Deployment", "kube-state-metrics").containers[0];
    const kinds = String(args.find((arg: string) => arg.startsWith("--resources=")))
      .slice("--resources=".length)
      .split(",");
    const rules = find("ClusterRole", "kube-state-metrics")?.["rules"] as { resources: string[] }[];
    const readable = rules.flatMap(({ resources }) => resources);
    expect(kinds.filter((kind) => !readable.includes(kind))).toEqual([]);
    expect(readable).not.toContain("secrets");
    const text = String(find("ConfigMap", "kube-state-metrics-resources")?.["data"]["resources.yaml"]);
    for (const { groupVersionKind } of parse(text, { merge: true }).spec.resources)
      expect(readable).toContain(pluralOf(groupVersionKind.kind));
  });

  test("tells metrics of the same name apart by their help, or kube-state-metrics would show one kind of them", () => {
    const text = String(find("ConfigMap", "kube-state-metrics-resources")?.["data"]["resources.yaml"]);
    const helps = parse(text, { merge: true }).spec.resources.flatMap(({ metrics }: { metrics: { help: string }[] }) =>
      metrics.map(({ help }) => help),
    );
    expect(helps.length).toBeGreaterThan(20);
    expect(new Set(helps).size).toBe(helps.length);
  });

  test("has a metric about every kind that Crossplane makes for a spoke or an application, and keeps those that are not well", () => {
    const text = String(find("ConfigMap", "kube-state-metrics-resources")?.["data"]["resources.yaml"]);
    const watched = parse(text, { merge: true })
      .spec.resources.filter(({ metricNamePrefix: prefix }: { metricNamePrefix: string }) => prefix === "crossplane")
      .map(({ groupVersionKind: { group, version, kind } }: Resource) => `${group}/${version} ${kind}`);
    const { ClusterAuth: _, ...made } = managedKinds;
    const ordered = orderedKinds
      .map((name) => name.split("."))
      .map(([service, kind]) => [kind, `${service}.aws.m.upbound.io/v1beta1`]);
    const expected = [...Object.entries(made), ...ordered].map(([kind, api]) => `${api} ${kind}`);
    expect(watched.sort()).toEqual(expected.sort());
    const { metric_relabel_configs: rules } = configuration.scrape_configs.find(
      ({ job_name: job }: { job_name: string }) => job === "kube-state-metrics",
    );
    expect(rules).toEqual([
      { source_labels: ["__name__", "ready", "synced"], regex: "crossplane_resource_info;True;True", action: "drop" },
    ]);
  });
});
