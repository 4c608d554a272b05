import { expect, test } from "vitest";
import { dashboards, type Panel, queriesOf } from "../support/dashboards.ts";

const overlap = ({ gridPos: a }: Panel, { gridPos: b }: Panel) =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

test("there are dashboards of the fleet, a cluster and an application, each with an id of its own", () => {
  expect(dashboards.map(({ uid }) => uid).sort()).toEqual(["fleet-application", "fleet-cluster", "fleet-clusters"]);
});

test.each(dashboards.map((dashboard) => [dashboard.title, dashboard] as const))(
  "%s: its panels lie side by side, and its queries name variables that it has",
  (_title, dashboard) => {
    const { panels, templating } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const panel of panels) {
      expect(panel.gridPos.x + panel.gridPos.w, panel.title).toBeLessThanOrEqual(24);
      for (const other of panels)
        if (panel !== other) expect(overlap(panel, other), `${panel.title} and ${other.title}`).toBe(false);
    }
    const known = Object.fromEntries(templating.list.map(({ name }) => [name, "x"]));
    for (const [panel, promql] of queriesOf(dashboard, known)) expect(promql, panel).not.toMatch(/\$\w/);
  },
);

test.each(dashboards.map((dashboard) => [dashboard.title, dashboard] as const))(
  "%s: everything in it asks the data source that is chosen, of any that speaks for Prometheus",
  (_title, dashboard) => {
    const [chosen] = dashboard.templating.list;
    // Grafana finds Amazon Managed Service for Prometheus by this type, too (grafana/grafana, matchPluginId.ts).
    expect(chosen).toMatchObject({ name: "datasource", type: "datasource", query: "prometheus" });
    const asked: unknown[] = [];
    JSON.parse(JSON.stringify(dashboard), (key, value) => {
      if (key === "datasource") asked.push(value);
      return value;
    });
    expect(asked.length).toBeGreaterThan(dashboard.panels.length);
    for (const source of asked) expect(source).toEqual({ type: "prometheus", uid: `\${datasource}` });
  },
);
