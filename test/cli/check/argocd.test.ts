import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { repos } from "../../repos/support/spoke.ts";
import { application } from "../support/application-seeds.ts";
import { type Change, fleetFolder, found, removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";
import { argocdActs, argocdElsewhere, argocdRole, factsWith } from "../support/spoke-seeds.ts";

afterAll(removeCopies);

const onHub = factsWith({});

const findings = (...changes: readonly Change[]) =>
  withChanges(changes, (folder) =>
    found(check({ repos: folder, build: buildText }), folder).map(({ rule, file, line, problem }) => ({
      ...{ rule, file, problem },
      line: line.trim(),
    })),
  );

describe("fleet check, where the recorded facts say that Argo CD is elsewhere", () => {
  const folder = fleetFolder("fleet");
  const installed = { ...folder, to: `${folder.to}  - ../../platform/hub/argocd\n` };

  test("finds one on the hub as well, which would have no role", () => {
    expect(findings(installed, argocdElsewhere)).toEqual([
      {
        rule: "fleet",
        file: "gitops-system/platform/hub/argocd/step.yaml",
        line: "name: argocd",
        problem: expect.stringContaining(`argocdRoleArn ${argocdRole}): the hub has no role for its own`),
      },
    ]);
    expect(findings(installed, onHub)).toEqual([]);
    expect(findings(folder, argocdElsewhere)).toEqual([]);
  });
});

describe("fleet check, where Argo CD acts on spokes", () => {
  const file = "gitops-system/spokes/fleet/blue/spoke.yaml";
  const named = (admin: string, member: string): Change =>
    replaced(
      file,
      "  network:",
      `  admins:\n    - ${admin}\n  teams:\n    - name: payments\n      namespaces: [payment-app]\n      members:\n` +
        `        - role: ${member}\n          access: edit\n  network:`,
    );
  const admin = "arn:aws:iam::111111111111:role/admins";
  const other = "arn:aws:iam::111111111111:role/payers";

  test("finds its role among the administrators and the members of a Spoke, which would give it a second access entry", async () => {
    const common = [
      fleetFolder("fleet"),
      ...spoke("blue", "10.64.0.0/18"),
      ...(await application("payment-app", "payments")),
    ];
    const problem = (key: string) =>
      `Spoke blue: ${argocdRole} in spec.${key} is the role of Argo CD, whose only access entry on the spoke has the edit policy in its namespaces`;
    expect(findings(...common, named(argocdRole, other), argocdActs, argocdElsewhere)).toEqual([
      { rule: "spoke", file, line: `- ${argocdRole}`, problem: problem("admins") },
    ]);
    expect(findings(...common, named(admin, argocdRole), argocdActs, argocdElsewhere)).toEqual([
      { rule: "spoke", file, line: `- role: ${argocdRole}`, problem: problem("teams") },
    ]);
    expect(findings(...common, named(admin, other), argocdActs, argocdElsewhere)).toEqual([]);
    // It has no access of its own there.
    expect(findings(...common, named(argocdRole, other), argocdElsewhere)).toEqual([]);
    expect(findings(...common, named(argocdRole, other), argocdActs, onHub)).toEqual([]);
  });
});

describe("fleet check, where Argo CD's Applications stand on the hub", () => {
  const folder = fleetFolder("fleet");
  const file = "gitops-system/clusters/fleet/applications/applicationset.yaml";
  const copied = (name: string): Change => ({
    file: `gitops-system/clusters/fleet/applications/${name}`,
    to: readFileSync(join(repos, "gitops-system/platform/hub/argocd/applications/example", name), "utf8"),
  });
  const applications = [
    { ...folder, to: `${folder.to}  - ../../platform/hub/argocd\n  - ../../platform/hub/argocd/applications\n` },
    ...["kustomization.yaml", "project.yaml", "applicationset.yaml"].map(copied),
  ];
  const names = (namespaces: string) => ({ ...argocdActs, to: argocdActs.to.replace("[payment-app]", namespaces) });
  const problem = (namespace: string, known: string) =>
    `ApplicationSet payment-app goes to the namespace ${namespace} of spokes, where the Composition gives Argo CD no access: it can neither make nor remove anything there; argocd.namespaces has ${known}`;
  const finding = (namespace: string, known: string) => [
    { rule: "application", file, line: `namespace: ${namespace}`, problem: problem(namespace, known) },
  ];
  const to = (namespace: string) => replaced(file, "        namespace: payment-app", `        namespace: ${namespace}`);

  test("finds a namespace that was taken out of the Composition while an ApplicationSet still goes there", () => {
    expect(findings(...applications, names("[shop, payment-app]"))).toEqual([]);
    expect(findings(...applications, names("[shop, orders]"))).toEqual(finding("payment-app", "shop, orders"));
  });

  test("says nothing where no Composition gives Argo CD access: what it may do there is not the fleet's matter", () => {
    expect(findings(...applications)).toEqual([]);
    expect(findings(...applications, to("other"))).toEqual([]);
  });

  test("says nothing of what goes to the hub, nor of a namespace that only Argo CD fills in", () => {
    const acting = [...applications, argocdActs];
    expect(findings(...acting, to('"{{ .values.namespace }}"'))).toEqual([]);
    expect(findings(...acting, to("argocd"))).toEqual([]);
    expect(
      findings(...acting, replaced(file, '"{{ .server }}"', "https://kubernetes.default.svc"), to("other")),
    ).toEqual([]);
    expect(findings(...acting, to("other"))).toEqual(finding("other", "payment-app"));
  });

  test("says nothing of clusters that are no spokes, in whatever way an ApplicationSet names them", () => {
    const acting = [...applications, argocdActs, to("other")];
    const server = (text: string) => replaced(file, '"{{ .server }}"', text);
    expect(findings(...acting, server("https://203.0.113.7:6443"))).toEqual([]);
    const generators = (text: string): Change[] => {
      const whole = applications.at(-1)?.to ?? "";
      const own = whole.replace(/(?<=generators:\n)[\s\S]*?(?= {2}template:)/, text);
      return [...applications.slice(0, -1), { file, to: own.replace("namespace: payment-app", "namespace: other") }];
    };
    const said = (text: string) => findings(...generators(text), argocdActs).map(({ problem: words }) => words);
    const found = [expect.stringContaining("goes to the namespace other of spokes")];
    const clusters = (selector: string) => `    - clusters: {selector: ${selector}}\n`;
    expect(said("    - list: {elements: [{server: https://203.0.113.7:6443}]}\n")).toEqual([]);
    expect(said(clusters("{matchLabels: {owner: others}}"))).toEqual([]);
    expect(said(clusters("{matchExpressions: [{key: owner, operator: In, values: [others]}]}"))).toEqual([]);
    expect(said(clusters("{matchLabels: {fleet.internal/role: hub}}"))).toEqual([]);
    expect(said("    - clusters: {}\n")).toEqual(found);
    expect(said(clusters("{matchLabels: {enable_argocd: 'true'}}"))).toEqual(found);
    expect(said(clusters("{matchExpressions: [{key: owner, operator: DoesNotExist}]}"))).toEqual(found);
    const list = "{list: {elements: [{part: web}]}}";
    expect(said(`    - matrix: {generators: [${list}, {clusters: {selector: {}}}]}\n`)).toEqual(found);
  });

  test("finds an Application of one spoke, too, and says nothing of one for a cluster of another name or address", () => {
    const application = (to: string) => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  project: payments
  destination: {${to}, namespace: shop}
  source: {repoURL: https://git.example.com/shop.git, path: .}
`;
    const said = (to: string, composition: Change) => {
      const all = [...spoke("blue", "10.64.0.0/18"), ...applications.slice(0, -1), { file, to: application(to) }];
      return findings(...all, composition).map(({ problem: words }) => words);
    };
    expect(said("name: blue", argocdActs)).toEqual([
      expect.stringContaining("Application shop goes to the namespace shop of spokes"),
    ]);
    expect(said("name: blue", names("[shop]"))).toEqual([]);
    for (const other of ["name: other", "server: https://203.0.113.7:6443", "name: in-cluster"])
      expect(said(other, argocdActs), other).toEqual([]);
  });
});
