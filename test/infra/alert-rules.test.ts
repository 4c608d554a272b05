import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { kubernetesReleases } from "../../components/versions.ts";
import { alertRules } from "../../infra/alert-rules.ts";
import { root } from "../support/process.ts";

/** When alerts begin and end is Prometheus's own test (e2e/spoke-metrics.long.test.ts). */

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const rulesOf = (...args: Parameters<typeof alertRules>): Rule[] =>
  parse(alertRules(...args)).groups.flatMap(({ rules }: { rules: Rule[] }) => rules);
const rules = rulesOf({ sealingKeyEnds: { dev: "2036-01-31T00:00:00Z" } });
const [, page = ""] = /^(docs\/guides\/metrics\.md)#/.exec(rules[0]?.annotations["runbook"] ?? "") ?? [];
const sections = [...readFileSync(join(root, page), "utf8").matchAll(/^### (\w+)$/gm)].map(([, name]) => name);

describe("the fleet's alerts", () => {
  test("each name their own section of the page that says what to do, which has no other", () => {
    for (const { alert, annotations } of rules)
      expect(annotations["runbook"], alert).toBe(`${page}#${alert.toLowerCase()}`);
    expect(sections).toEqual([...new Set(rules.map(({ alert }) => alert))]);
  });

  test("go by what the cluster's own agent exposes, not by an application's metrics of the same name", () => {
    for (const { alert, expr } of rules)
      for (const [selector] of expr.matchAll(/\{[^}]*\}/g)) expect(selector, alert).toContain("job=");
  });

  test("ask kube-state-metrics for metrics and kinds that it is told to expose, with the labels that they have", () => {
    const folder = "repos/gitops-system/tools/base/addons/prometheus/release";
    const { data } = parse(readFileSync(join(root, folder, "kube-state-metrics-config.yaml"), "utf8"));
    const exposed = new Map<string, Set<string>>();
    for (const { groupVersionKind, metricNamePrefix: prefix, metrics, labelsFromPath } of parse(
      data["resources.yaml"],
      { merge: true },
    ).spec.resources)
      for (const { name, each, ...metric } of metrics) {
        const labels = [labelsFromPath, metric.labelsFromPath, each.info?.labelsFromPath].flatMap((paths = {}) =>
          Object.keys(paths),
        );
        const known = exposed.get(`${prefix}_${name}`) ?? new Set(["job", "cluster", "customresource_kind"]);
        exposed.set(
          `${prefix}_${name}`,
          new Set([...known, ...labels, `customresource_kind=${groupVersionKind.kind}`]),
        );
      }
    const asked = rules.flatMap(({ alert, expr }) =>
      [...expr.matchAll(/(\w+)\{([^}]*job="kube-state-metrics"[^}]*)\}/g)].map(([, metric = "", selector = ""]) => ({
        ...{ alert, metric, selector },
      })),
    );
    const own = asked.filter(({ metric }) => !metric.startsWith("kube_"));
    expect(own.length).toBeGreaterThan(5);
    for (const { alert, metric, selector } of own) {
      const known = exposed.get(metric);
      for (const [, label = ""] of selector.matchAll(/(\w+)(?:=|!)/g))
        expect(known, `${alert} ${metric}`).toContain(label);
      const [, kind] = /customresource_kind="(\w+)"/.exec(selector) ?? [];
      if (kind !== undefined) expect(known, `${alert} ${metric}`).toContain(`customresource_kind=${kind}`);
    }
  });

  test("tell of each Kubernetes minor that the fleet runs", () => {
    const ofSupport = rules.filter(({ alert }) => alert === "KubernetesSupportEnds");
    expect(ofSupport.map(({ expr }) => /kubernetes_version="([^"]+)"/.exec(expr)?.[1])).toEqual(
      kubernetesReleases.map(({ minor }) => minor),
    );
    for (const [index, { annotations }] of ofSupport.entries())
      expect(annotations["summary"]).toContain(kubernetesReleases[index]?.supportEnds);
    const ofHub = rules.filter(({ alert }) => alert === "HubSupportEnds");
    expect(ofHub.map(({ expr }) => /kubelet_version=~"v1\[\.\](\d+)/.exec(expr)?.[1])).toEqual(
      kubernetesReleases.map(({ minor }) => minor.split(".")[1]),
    );
  });

  test("tell of quotas by what the stack says of them, by AWS's defaults else, and of vCPUs only by the stack", () => {
    const bounds = (given: Parameters<typeof alertRules>[0]) =>
      rulesOf(given)
        .filter(({ alert }) => alert === "QuotaNear")
        .map(({ expr }) => expr.slice(expr.indexOf(">=")));
    expect(bounds({})).toEqual([">= 4 <= 5", ">= 4 <= 5", ">= 80 <= 100"]);
    expect(bounds({ serviceQuotas: { vpcs: 21, vcpus: 64 } })).toEqual([
      ">= 17 <= 21",
      ">= 4 <= 5",
      ">= 80 <= 100",
      ">= 52 <= 64",
    ]);
  });

  test("tell of each scope whose sealing key ends, and of none where the stack has none", () => {
    const ofKeys = (sealingKeyEnds: Record<string, string>) =>
      rulesOf({ sealingKeyEnds }).filter(({ alert }) => alert === "SealingKeyEnds");
    const [dev, prod] = ofKeys({ dev: "2036-01-31T00:00:00Z", prod: "2037-01-31T00:00:00Z" });
    expect([dev?.expr, prod?.annotations["summary"]]).toEqual([
      `vector(time()) > ${Date.UTC(2035, 10, 2) / 1000}`,
      "Nothing can be sealed any more for prod after 2037-01-31T00:00:00Z",
    ]);
    expect(ofKeys({})).toEqual([]);
  });
});
