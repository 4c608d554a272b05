import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { application } from "../support/application-seeds.ts";
import { type Change, found, removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const findings = (changes: readonly Change[], folders?: string[]) =>
  withChanges(
    changes,
    (folder) => {
      const report = check({ repos: folder, build: buildText });
      return found(report, folder).map((each, index) => ({ ...each, remedy: report.findings[index]?.remedy }));
    },
    folders,
  );

const onBlue = (path: string) => application("payment-app", "payments", { path });
const blue = spoke("blue", "10.64.0.0/18");
const prod = replaced("gitops-system/spokes/fleet/blue/spoke.yaml", "environment: dev", "environment: prod");

describe("fleet check, of applications", () => {
  test("finds nothing wrong with an application that takes the overlay of its Spoke's environment", async () => {
    expect(findings([...blue, ...(await onBlue("./overlays/dev"))])).toEqual([]);
    expect(findings([...blue, prod, ...(await onBlue("./overlays/prod"))])).toEqual([]);
  });

  test("finds the overlay of another environment, at the line of the path, and says which one to take", async () => {
    expect(findings([...blue, prod, ...(await onBlue("./overlays/dev"))])).toEqual([
      {
        rule: "application",
        file: "gitops-workloads/clusters/blue/payment-app/sync.yaml",
        line: "  path: ./overlays/dev",
        problem:
          "Kustomization payment-app takes ./overlays/dev, of the environment dev; Spoke blue has the environment prod",
        remedy: expect.stringMatching(/^take \.\/overlays\/prod, or move the application to a spoke of dev;/),
        clusters: ["blue"],
      },
    ]);
  });

  test("finds a ProviderConfig with IRSA where pods get their roles by EKS Pod Identity, and none that asks the bridge", async () => {
    const podIdentity = replaced(
      "gitops-system/platform/composition/composition.yaml",
      "        kubeConfig: configMap\n",
      "        kubeConfig: configMap\n        workloadIdentity: pod-identity\n",
    );
    const changes = [...blue, ...(await onBlue("./overlays/dev"))];
    const irsa = changes.map((change) =>
      "to" in change && typeof change.to === "string"
        ? { ...change, to: change.to.replace("source: $" + "{aws_identity_source}", "source: IRSA") }
        : change,
    );
    expect(findings(irsa)).toEqual([]);
    expect(findings([...changes, podIdentity])).toEqual([]);
    expect(findings([...irsa, podIdentity])).toEqual([
      {
        rule: "application",
        file: expect.stringMatching(/^gitops-workloads\/clusters\/blue\/payment-app\//),
        line: "    source: IRSA",
        problem:
          "ProviderConfig payment-app/aws takes credentials by IRSA; Crossplane's pods on blue get theirs by EKS Pod Identity",
        remedy: "write source: $" + "{aws_identity_source}, which is right with both",
        clusters: ["blue"],
      },
    ]);
  });

  test("leaves folders that are no environment's to the team", async () => {
    expect(findings([...blue, prod, ...(await onBlue("./base"))])).toEqual([]);
  });

  test("finds the folder of an unknown cluster, and says which one was probably meant", async () => {
    const changes = [...blue, ...(await application("payment-app", "payments", { cluster: "bleu" }))];
    expect(findings(changes)).toMatchObject([
      {
        rule: "application",
        file: expect.stringMatching(/^gitops-workloads\/clusters\/bleu\/payment-app\//),
        problem: expect.stringContaining("no fleet's folder in gitops-system has a Spoke bleu"),
        remedy: expect.stringMatching(/^did you mean blue\? If not, make the spoke with fleet new-cluster bleu,/),
      },
    ]);
  });

  test("leads nobody to remove the folder of a spoke that was let go while its own Flux follows it", async () => {
    const changes = [...blue, ...(await application("payment-app", "payments", { cluster: "gone" }))];
    const [{ problem, remedy } = {}] = findings(changes);
    expect(problem).toContain("if the spoke was let go (fleet release), its own Flux still applies this folder");
    expect(remedy).toContain("remove the folder if the spoke is gone,");
    expect(remedy).toMatch(/let go, first suspend the Kustomizations workloads and tools .* deletes the applications/);
  });

  test("knows the spokes of every fleet", async () => {
    const other = spoke("green", "10.64.64.0/18", "fleet-prod");
    const changes = [...blue, ...other, ...(await application("payment-app", "payments", { cluster: "green" }))];
    expect(findings(changes)).toEqual([]);
  });

  test("says nothing where gitops-workloads is not among the repositories", () => {
    expect(findings(blue, ["gitops-system"])).toEqual([]);
  });
});
