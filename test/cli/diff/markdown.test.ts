import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Change } from "../../../cli/diff/compare.ts";
import { commentLimit } from "../../../cli/diff/fit.ts";
import { markdown, marker, terminalText } from "../../../cli/diff/markdown.ts";
import type { Stack } from "../../../cli/diff/preview.ts";
import type { ClusterReport, Report } from "../../../cli/diff/report.ts";

const change = (more: Partial<Change> = {}): Change => ({
  operation: "changed",
  apiVersion: "apps/v1",
  kind: "Deployment",
  namespace: "apps",
  name: "web",
  on: "blue",
  by: "Kustomization apps/web",
  stateful: false,
  diff: [" spec:", "-  replicas: 1", "+  replicas: 2"],
  ...more,
});

const lost = (operation: "deleted" | "replaced", spoke: string, kind: string): Change => {
  const { diff: _, ...rest } = change({ operation, kind, namespace: "spokes", name: `${spoke}-${kind.toLowerCase()}` });
  return {
    ...rest,
    apiVersion: `ec2.aws.m.upbound.io/v1beta1`,
    on: "hub",
    by: "the Composition",
    stateful: true,
    ...(operation === "replaced"
      ? { because: ["spec.forProvider.cidrBlock"], diff: ["-    cidrBlock: a", "+    cidrBlock: b"] }
      : {}),
  };
};

const cluster = (name: string, changes: readonly Change[], more: Partial<ClusterReport> = {}): ClusterReport => ({
  name,
  environment: "dev",
  template: false,
  changes,
  problems: [],
  refused: false,
  ...more,
});

const hub = (changes: readonly Change[] = []): ClusterReport => ({
  name: "hub",
  template: false,
  changes,
  problems: [],
  refused: false,
});

const report = (clusters: readonly ClusterReport[], more: Partial<Report> = {}): Report => ({
  base: { label: "main", commit: "a".repeat(40) },
  head: { label: "HEAD", commit: "b".repeat(40) },
  clusters,
  stacks: [],
  assumed: [],
  gaps: [],
  notes: [],
  ...more,
});

const stack: Stack = {
  name: "prod",
  same: 41,
  errors: [],
  changes: [
    {
      operation: "replace",
      type: "aws:kms/key:Key",
      name: "secrets",
      stateful: true,
      properties: ["multiRegion"],
      because: ["multiRegion"],
    },
    {
      operation: "update",
      type: "aws:eks/cluster:Cluster",
      name: "hub",
      stateful: true,
      properties: ["vpcConfig.publicAccessCidrs[0]"],
      because: [],
    },
  ],
};

const golden = (name: string) => join(import.meta.dirname, "golden", `${name}.md`);

describe("the comment on a pull request", () => {
  test("has what may lose data on top, then numbers, then every cluster and stack folded", async () => {
    const { diff: _, ...web } = change();
    const whole = report(
      [
        hub([
          change({
            kind: "Composition",
            namespace: undefined as never,
            name: "spoke",
            on: "hub",
            by: "Kustomization flux-system/platform-api",
          }),
        ]),
        cluster("blue", [
          lost("deleted", "blue", "Table"),
          change(),
          { ...web, operation: "created", kind: "Service" },
        ]),
        cluster("green", [lost("replaced", "green", "VPC"), lost("deleted", "green", "Table")], {
          environment: "prod",
          problems: ["spec.network.cidr can't be changed"],
        }),
        cluster("teal", []),
        cluster("check-dev", [change({ on: "check-dev" })], { template: true }),
        cluster("check-prod", [], { template: true, environment: "prod" }),
      ],
      {
        stacks: [stack, { name: "dev", changes: [], same: 43, errors: [] }],
        notes: [
          "blue: HelmRelease spokes/blue-flux is not rendered, only its own fields are compared: there is no helm on PATH",
        ],
      },
    );
    await expect(markdown(whole)).toMatchFileSnapshot(golden("changes"), "npm run generate");
  });

  test("says in one line that nothing changes", async () => {
    await expect(markdown(report([hub(), cluster("blue", [])]))).toMatchFileSnapshot(
      golden("nothing"),
      "npm run generate",
    );
  });

  test("says what could not be compared, and does not claim then that nothing changes", async () => {
    const gaps = ["head, repos/gitops-system/clusters/hub/api.yaml:3: the file api does not exist"];
    await expect(markdown(report([hub()], { gaps }))).toMatchFileSnapshot(golden("gaps"), "npm run generate");
  });

  test("shows a preview that failed", () => {
    const text = markdown(
      report([hub()], { stacks: [{ name: "dev", changes: [], same: 0, errors: ["vpcCidr is wrong"] }] }),
    );
    expect(text).toContain("<b>stack dev</b>: its preview fails");
    expect(text).toContain("- ⚠ vpcCidr is wrong");
  });

  test("is text on a terminal: no Markdown, no HTML, no character that acts on it, and nothing cut", () => {
    const odd = change({ name: "`x` *y* <b>\u001b[31m", diff: ["+  a: <b>\u0007"] });
    const text = terminalText(
      report([hub(), cluster("blue", [lost("deleted", "blue", "Table"), odd])], {
        ...{ stacks: [stack], assumed: ["no facts"], gaps: ["head, a.yaml:3: gone"], notes: ["by hand"] },
      }),
    );
    expect(text).toContain("- changed Deployment apps/`x` *y* <b>\ufffd[31m on blue, by Kustomization apps/web");
    expect(text).toContain("    +  a: <b>\ufffd\n");
    expect(text).toContain("Assumed: no facts.");
    expect(text).toMatch(/^Kind +created +changed +replaced +deleted$/m);
    expect(text).toContain("blue (dev): 1 changed, 1 deleted\n");
    expect(text).not.toMatch(/<\/?(details|summary|sub)>|\[!|\*\*|```|&#|<!--/);
    const many = Array.from({ length: 3000 }, (_, index) => change({ name: `web-${index}` }));
    expect(terminalText(report([cluster("blue", many)]))).toContain("apps/web-2999 on blue");
  });

  test("has no place where a name or a value could be Markdown, HTML or a mention", () => {
    const name = "`x` </details><script>@team |";
    const diff = ["+  a: ```", "+  </details>"];
    const text = markdown(
      report([cluster("blue", [change({ name, kind: "<b>@team", diff })], { problems: ["<img> @team"] })]),
    );
    expect(text).not.toMatch(/<script>(?!@team \|``)/);
    expect(text).not.toContain("<img>");
    expect(text).not.toMatch(/\*\* <b>/);
    expect(text).toContain("````diff\n+  a: ```\n+  </details>\n````");
    expect(text).toContain("``apps/`x` </details><script>@team |``");
  });
});

describe("a change that is too large for a comment", () => {
  const many = (spoke: string, count: number): Change[] =>
    Array.from({ length: count }, (_, index) =>
      change({
        name: `web-${index}`,
        on: spoke,
        diff: Array.from({ length: 40 }, (_each, line) => `+  line-${line}: ${"x".repeat(30)}`),
      }),
    );
  const large = report([
    hub([change({ on: "hub", name: "small" })]),
    cluster("blue", [lost("deleted", "blue", "Table"), ...many("blue", 200)]),
    cluster("green", many("green", 100)),
  ]);
  const text = markdown(large);
  const summary = text.slice(0, text.indexOf("<details>"));

  test("is cut at whole changes for each cluster, with a word on the rest, and stays within the limit", () => {
    expect(text.length).toBeLessThanOrEqual(commentLimit);
    expect(text.length).toBeGreaterThan(commentLimit * 0.9);
    const sections = text.split("<details>").slice(1);
    expect(sections).toHaveLength(3);
    expect(sections[0]).not.toContain("left out");
    for (const [section, whole] of [
      [sections[1], 201],
      [sections[2], 100],
    ] as const) {
      const [, left] = /_(\d+) more changes left out: a comment has no room for more/.exec(section ?? "") ?? [];
      expect((section?.match(/^- \*\*/gm) ?? []).length + Number(left)).toBe(whole);
      expect((section?.match(/^```/gm) ?? []).length % 2).toBe(0);
      expect(section?.trimEnd().endsWith("</details>")).toBe(true);
    }
  });

  test("has its summary whole", () => {
    const small = markdown(large, Number.MAX_SAFE_INTEGER);
    expect(small.startsWith(summary)).toBe(true);
    expect(summary.startsWith(marker)).toBe(true);
    expect(summary).toContain("**deleted** Table: `spokes/blue-table` – blue (dev)");
    expect(summary).toContain("**3 of 3 clusters touched**: 301 changed, 1 deleted.");
  });

  test("and for more clusters than have room names the others in the summary, and counts what is missing", () => {
    const fleet = report([
      hub(),
      ...Array.from({ length: 400 }, (_, index) => cluster(`spoke-${index}`, many(`spoke-${index}`, 2))),
    ]);
    const whole = markdown(fleet);
    expect(whole.length).toBeLessThanOrEqual(commentLimit);
    expect(whole).toContain("| spoke-399 (dev) |");
    const shown = whole.split("<details>").length - 1;
    expect(whole).toContain(`_${400 - shown} sections left out`);
  });
});

describe("the list price of spokes", () => {
  const cost = (before: number, after: number, unknown: readonly string[] = []) => ({
    before: { month: before, unknown: [] },
    after: { month: after, unknown },
  });
  const unknown = ["price unknown for m9x.large in xx-north-9"];
  const one = cluster("blue", [change()], { cost: cost(412.4, 1530) });
  const other = cluster("pink", [change()], { environment: "prod", cost: cost(0, 121) });
  const dark = cluster("dark", [change()], { cost: cost(289, 121, unknown) });

  test("is a line for each spoke whose price changes, and one for all of them", () => {
    const text = terminalText(report([hub(), one, other, cluster("teal", [change()])]));
    expect(text).toContain(`
- list price of blue (dev): 412 → 1,530 USD a month
- list price of pink (prod): 0 → 121 USD a month
- list price of these 2 spokes: 412 → 1,651 USD a month
`);
    expect(text).not.toContain("teal (dev):  ");
  });

  test("is not compared where a price is unknown, and the line for all says what it leaves out", () => {
    expect(terminalText(report([one, other, dark]))).toContain(`
- list price of blue (dev): 412 → 1,530 USD a month
- list price of pink (prod): 0 → 121 USD a month
- list price of dark (dev): can't be compared: price unknown for m9x.large in xx-north-9
- list price of 2 of these 3 spokes: 412 → 1,651 USD a month, without dark (dev)
`);
    expect(terminalText(report([one, dark]))).not.toContain("these");
  });

  test("has no line for all where it is one, and none at all where nothing changes", () => {
    expect(markdown(report([one]))).toContain("- list price of blue (dev): 412 → 1,530 USD a month\n");
    expect(markdown(report([one]))).not.toContain("these");
    expect(markdown(report([cluster("teal", [change()])]))).not.toContain("list price");
  });
});
