import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { application } from "../support/application-seeds.ts";
import { type Change, found, removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const role = (name: string) => `arn:aws:iam::111111111111:role/${name}`;

const applications = [...(await application("payment-app", "payments")), ...(await application("search", "search"))];

interface Written {
  readonly name?: string;
  readonly namespaces: readonly string[];
  readonly members?: readonly string[];
}

/** The spoke blue with these teams, and what else is changed. */
const withTeams = (teams: readonly Written[], spec = ""): Change[] => [
  ...spoke("blue", "10.64.0.0/18"),
  replaced(
    "gitops-system/spokes/fleet/blue/spoke.yaml",
    "  network:",
    `${spec}  teams:\n${teams
      .map(
        ({ name = "payments", namespaces, members = [role("payers")] }) =>
          `    - name: ${name}\n      namespaces:\n${namespaces.map((each) => `        - ${each}\n`).join("")}      members:\n${members.map((each) => `        - role: ${each}\n          access: edit\n`).join("")}`,
      )
      .join("")}  network:`,
  ),
];

const findings = (changes: readonly Change[], folders?: readonly string[]) =>
  withChanges(
    changes,
    (folder) =>
      found(check({ repos: folder, build: buildText }), folder).map(({ rule, file, line, problem }) => ({
        ...{ rule, file, problem },
        line: line.trim(),
      })),
    folders && [...folders],
  );

const finding = (line: string, problem: string) => ({
  rule: "team",
  file: "gitops-system/spokes/fleet/blue/spoke.yaml",
  line,
  problem: expect.stringContaining(problem),
});

describe("fleet check", () => {
  test("finds nothing wrong with teams in the namespaces of their applications", () => {
    const teams = [{ namespaces: ["payment-app"] }, { name: "search", namespaces: ["search"] }];
    expect(findings([...withTeams(teams), ...applications])).toEqual([]);
  });

  test("finds every namespace of a team that gitops-workloads does not put on the cluster, and names those that it does", () => {
    const changes = [...withTeams([{ namespaces: ["payment-app", "payment-ap", "billing"] }]), ...applications];
    const problem = (name: string) =>
      `Spoke blue: the team payments has the namespace ${name}, which gitops-workloads does not put on the cluster; it puts there payment-app, search`;
    expect(findings(changes)).toEqual([
      finding("- payment-ap", problem("payment-ap")),
      finding("- billing", problem("billing")),
    ]);
  });

  test("finds a team in the namespace of another team's application", () => {
    expect(findings([...withTeams([{ namespaces: ["payment-app", "search"] }]), ...applications])).toEqual([
      finding("- search", "the team payments has the namespace search, whose label fleet.internal/tenant is search"),
    ]);
  });

  test("finds a team in a namespace that an add-on of the fleet's own brings", () => {
    const addon = "gitops-system/tools/base/addons/metrics_server/release";
    const changes = [
      ...withTeams([{ namespaces: ["metering"] }], "  addons: [metrics_server]\n"),
      ...applications,
      { file: `${addon}/metering.yaml`, to: "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: metering\n" },
      replaced(`${addon}/kustomization.yaml`, "resources:\n", "resources:\n  - metering.yaml\n"),
    ];
    expect(findings(changes)).toEqual([
      finding("- metering", "the namespace metering, which is the platform's: Kustomization metrics-server makes it"),
    ]);
  });

  test("finds a team in a namespace of the platform once, as the API server would refuse it", () => {
    const changes = [...withTeams([{ namespaces: ["payment-app", "cert-manager"] }]), ...applications];
    expect(findings(changes).map(({ rule, line }) => [rule, line])).toEqual([["validation", "- cert-manager"]]);
  });

  test.each([
    ...["fleet-hub-kustomize-controller", "fleet-spoke-blue-node", "fleet-spoke-blue-crossplane"],
    ...["fleet-spoke-green_search", "some/path/fleet-hub-node"],
  ])("finds the member %s, which no person assumes", (name) => {
    const members = [role("payers"), role(name)];
    expect(findings([...withTeams([{ namespaces: ["payment-app"], members }]), ...applications])).toEqual([
      finding(`- role: ${role(name)}`, `the team payments has the member ${role(name)}, a role of the fleet itself`),
    ]);
  });

  test("lets a member's role begin like the fleet", () => {
    const members = [role("fleet-payers"), role("fleet-hubs")];
    expect(findings([...withTeams([{ namespaces: ["payment-app"], members }]), ...applications])).toEqual([]);
  });

  test("says nothing of namespaces where gitops-workloads is not among the repositories", () => {
    expect(findings(withTeams([{ namespaces: ["payment-ap"] }]), ["gitops-system"])).toEqual([]);
  });
});
