import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { kubernetesReleases } from "../../components/versions.ts";
import { alertRules } from "../../infra/metrics.ts";
import { root } from "../support/process.ts";

/** When alerts begin and end is Prometheus's own test (e2e/spoke-metrics.long.test.ts). */

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const rules: Rule[] = parse(alertRules()).groups.flatMap(({ rules }: { rules: Rule[] }) => rules);
const [, page = ""] = /^(docs\/guides\/alerts\.md)#/.exec(rules[0]?.annotations["runbook"] ?? "") ?? [];
const sections = [...readFileSync(join(root, page), "utf8").matchAll(/^## (\w+)$/gm)].map(([, name]) => name);

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

  test("tell of each Kubernetes minor that the fleet runs", () => {
    const ofSupport = rules.filter(({ alert }) => alert === "KubernetesSupportEnds");
    expect(ofSupport.map(({ expr }) => /kubernetes_version="([^"]+)"/.exec(expr)?.[1])).toEqual(
      kubernetesReleases.map(({ minor }) => minor),
    );
    for (const [index, { annotations }] of ofSupport.entries())
      expect(annotations["summary"]).toContain(kubernetesReleases[index]?.supportEnds);
  });
});
