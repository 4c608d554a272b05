import { afterAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { check } from "../../../cli/check/check.ts";
import { hubMetadata } from "../../../cli/render/clusters.ts";
import { bridgeData } from "../../../lib/bridge.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { application } from "../support/application-seeds.ts";
import { type Change, fleetFolder, found, removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const argocdRole = "arn:aws:iam::111111111111:role/argocd";
const hub = hubMetadata("fleet", "dev");
const recorded = (identities: typeof hub.identities): Change => ({
  file: "gitops-system/clusters/fleet/bridge.yaml",
  to: stringify(bridgeData({ ...hub, identities: { ...hub.identities, ...identities } })),
});
const subject = { namespace: "argocd", serviceAccount: "argocd-application-controller" };
const elsewhere = recorded({
  argocd: { roleArn: argocdRole, ...subject },
  argocd_secrets: {
    roleArn: "arn:aws:iam::012345678901:role/fleet-hub-argocd-secrets",
    namespace: "argocd",
    serviceAccount: "argocd-secrets",
  },
});
const onHub = recorded({});

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
    expect(findings(installed, elsewhere)).toEqual([
      {
        rule: "fleet",
        file: "gitops-system/platform/hub/argocd/step.yaml",
        line: "name: argocd",
        problem: expect.stringContaining(`argocdRoleArn ${argocdRole}): the hub has no role for its own`),
      },
    ]);
    expect(findings(installed, onHub)).toEqual([]);
    expect(findings(folder, elsewhere)).toEqual([]);
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
  const acts = replaced(
    "gitops-system/platform/composition/composition.yaml",
    "kubeConfig: configMap\n",
    "kubeConfig: configMap\n        argocd:\n          namespaces: [payment-app]\n",
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
      `Spoke blue: spec.${key} names ${argocdRole}, the role of Argo CD, whose only access entry has the edit policy in its namespaces`;
    expect(findings(...common, named(argocdRole, other), acts, elsewhere)).toEqual([
      { rule: "spoke", file, line: `- ${argocdRole}`, problem: problem("admins") },
    ]);
    expect(findings(...common, named(admin, argocdRole), acts, elsewhere)).toEqual([
      { rule: "spoke", file, line: `- role: ${argocdRole}`, problem: problem("teams") },
    ]);
    expect(findings(...common, named(admin, other), acts, elsewhere)).toEqual([]);
    // It has no access of its own there.
    expect(findings(...common, named(argocdRole, other), elsewhere)).toEqual([]);
    expect(findings(...common, named(argocdRole, other), acts, onHub)).toEqual([]);
  });
});
