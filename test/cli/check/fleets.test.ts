import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { Files } from "../../../cli/render/files.ts";
import { Findings } from "../../../cli/render/findings.ts";
import { follow } from "../../../cli/render/follow.ts";
import { FluxBuild } from "../../../cli/render/generate.ts";
import { openWorkspace } from "../../../cli/render/workspace.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { repos } from "../../repos/support/spoke.ts";
import {
  type Change,
  clusterApiSpoke,
  fleetFolder,
  found,
  removeCopies,
  spoke,
  withChanges,
} from "../support/seeds.ts";
import { argocdActs } from "../support/spoke-seeds.ts";

afterAll(removeCopies);

/** dev's branch merged into prod's: both fleets are in one repository. */
const dev = spoke("blue", "10.70.0.0/18", "fleet-dev");
const prod = spoke("green", "10.70.0.0/18", "fleet-prod");
const merged: readonly Change[] = [...dev, ...prod];

/** What the hub of a fleet gets, by the Kustomization that applies it. */
function onHub(fleet: string, changes: readonly Change[]): string[] {
  return withChanges(changes, (folder) => {
    const workspace = openWorkspace(folder, { fleet });
    try {
      const findings = new Findings(workspace.original);
      const common = { workspace, fleet, build: new FluxBuild(buildText), files: new Files(), findings };
      // The chains of the spokes are nobody else's: each is in its own spoke's name.
      const { hub } = follow({ ...common, handover: () => undefined });
      expect(findings.sorted()).toEqual([]);
      return hub.objects
        .map(({ manifest: { kind, metadata }, by }) => `${by.name}: ${kind} ${metadata.name}`)
        .filter((object) => !object.includes("check-"))
        .sort();
    } finally {
      workspace.remove();
    }
  });
}

describe("two fleets in one repository", () => {
  test("are each as they were alone: a merge brings no spoke of the other to a hub, and takes none away", () => {
    for (const [fleet, own] of [
      ["fleet-dev", dev],
      ["fleet-prod", prod],
    ] as const)
      expect(onHub(fleet, merged)).toEqual(onHub(fleet, own));
    expect(onHub("fleet-prod", merged).filter((object) => object.includes(": Spoke "))).toEqual([
      "spoke-green: Spoke green",
    ]);
  });

  test("are both checked: spokes of different fleets may share a network, and what is wrong is told with its fleet", () => {
    const wrong: readonly Change[] = [
      ...merged,
      { file: "gitops-system/spokes/fleet-prod/green/spoke.yaml", from: "  region:", to: "  size: big\n  region:" },
    ];
    withChanges(wrong, (folder) => {
      const report = check({ repos: folder, build: buildText });
      expect(found(report, folder)).toMatchObject([
        { rule: "schema", line: "  size: big", clusters: ["fleet-prod/hub"] },
      ]);
      expect(report.clusters.filter((name) => !name.includes("check-"))).toEqual([
        ...["fleet-dev/hub", "fleet-dev/blue"],
        ...["fleet-prod/hub", "fleet-prod/green"],
      ]);
    });
  });

  test("may each have something on its hub that the other has not", () => {
    const file = "gitops-system/clusters/fleet-prod/extra.yaml";
    const more: readonly Change[] = [
      ...merged,
      { ...fleetFolder("fleet-prod"), to: `${fleetFolder("fleet-prod").to}  - extra.yaml\n` },
      { file, to: "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: extra, namespace: flux-system }\n" },
    ];
    expect(onHub("fleet-prod", more)).toContain("flux-system: ConfigMap extra");
    expect(onHub("fleet-dev", more)).not.toContain("flux-system: ConfigMap extra");
  });
});

const hub = fleetFolder("fleet");
/** The hub's folder with further resources. */
const naming = (...resources: readonly string[]): Change => ({
  ...hub,
  to: `${hub.to}${resources.map((resource) => `  - ${resource}\n`).join("")}`,
});
const problemsOf = (changes: readonly Change[]) =>
  withChanges(changes, (repos) => found(check({ repos, build: buildText }), repos));

/** What a hub gets by changes that pass every check. */
function added(changes: readonly Change[], before: readonly Change[] = [hub]): string[] {
  expect(problemsOf(changes)).toEqual([]);
  const plain = onHub("fleet", before);
  return onHub("fleet", changes).filter((object) => !plain.includes(object));
}

test("a hub that names platform/hub/sealed-secrets gets Sealed Secrets, and the secrets of its own folder after it", () => {
  const folder = "gitops-system/clusters/fleet/secrets";
  const sealed =
    "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: { name: chat, namespace: flux-system }\n" +
    "spec: { encryptedData: { token: AgBy } }\n";
  const kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [chat.yaml]\n";
  const changes = [
    naming("../../platform/hub/sealed-secrets"),
    { file: `${folder}/kustomization.yaml`, to: kustomization },
    { file: `${folder}/chat.yaml`, to: sealed },
  ];
  expect(added(changes)).toEqual([
    ...["flux-system: ArtifactGenerator hub-secrets", "flux-system: Kustomization hub-secrets"],
    ...["flux-system: Kustomization sealed-secrets", "hub-secrets: SealedSecret chat"],
    ...["sealed-secrets: HelmRelease sealed-secrets", "sealed-secrets: HelmRepository sealed-secrets"],
  ]);
});

test("a hub that names platform/hub/prometheus sends its own metrics, by the manifests that spokes have", () => {
  expect(added([naming("../../platform/hub/prometheus")])).toEqual(
    expect.arrayContaining([
      ...["flux-system: ArtifactGenerator hub-metrics", "flux-system: Kustomization prometheus"],
      ...["prometheus: ConfigMap prometheus-scrape", "prometheus: Deployment kube-state-metrics"],
      "prometheus: Deployment prometheus",
    ]),
  );
});

/** Whether the object closes a namespace, as test/repos/namespaces.test.ts requires of each one. */
const closes = (object: string) => /: (NetworkPolicy (allow-|default-deny)|ServiceAccount default$)/.test(object);

test.each([
  [
    "argocd gets Argo CD, without rights on the hub beyond its own namespace",
    {
      argocd: ["HelmRelease argocd", "HelmRepository argo-cd", "Secret pull-secret"],
      "flux-system": ["ArtifactGenerator hub-argocd", "Kustomization argocd"],
    },
  ],
  [
    "cluster-inventory gets the definition of ClusterProfiles and what keeps them, within two namespaces",
    {
      "cluster-inventory": [
        ...["CustomResourceDefinition clusterprofiles.multicluster.x-k8s.io", "Deployment cluster-inventory"],
        ...["Namespace cluster-inventory", "Role cluster-inventory", "Role cluster-inventory"],
        ...["RoleBinding cluster-inventory", "RoleBinding cluster-inventory", "Secret pull-secret"],
        "ServiceAccount cluster-inventory",
      ],
      "flux-system": ["ArtifactGenerator hub-cluster-inventory", "Kustomization cluster-inventory"],
    },
  ],
  [
    "cluster-api gets Cluster API from upstream's repositories, and what its clusters need",
    {
      "cluster-api-cert-manager": [
        ...["HelmRelease cert-manager", "HelmRepository cert-manager", "Namespace cert-manager", "Secret pull-secret"],
      ],
      "cluster-api-clusters": [
        ...["ConfigMap eks-cluster-dev", "ConfigMap eks-cluster-prod", "Namespace cluster-api-clusters"],
        "ValidatingAdmissionPolicy cluster-api-guard.fleet.internal",
        "ValidatingAdmissionPolicyBinding cluster-api-guard.fleet.internal",
      ],
      "flux-system": [
        ...["ArtifactGenerator hub-cluster-api", "GitRepository cluster-api", "GitRepository cluster-api-provider-aws"],
        ...["Kustomization cluster-api", "Kustomization cluster-api-aws", "Kustomization cluster-api-cert-manager"],
        "Kustomization cluster-api-clusters",
      ],
    },
  ],
])("a hub that names platform/hub/%s", (what, objects) => {
  const made = added([naming(`../../platform/hub/${what.split(" ")[0]}`)]).filter((object) => !closes(object));
  expect(made).toEqual(Object.entries(objects).flatMap(([by, names]) => names.map((name) => `${by}: ${name}`)));
});

describe("a spoke of templates/cluster-api", () => {
  const onCluster = [...clusterApiSpoke("blue", "10.70.0.0/18"), naming("../../platform/hub/cluster-api")];

  test("is a HelmRelease of the chart in the version of its environment, the log group before it, and the Spoke after it", () => {
    const objects = onHub("fleet", onCluster).filter((object) => object.includes("blue"));
    expect(objects).toEqual([
      ...["cluster-blue-logs: Group cluster-blue", "cluster-blue: HelmRelease cluster-blue"],
      ...["each-spoke: Kustomization cluster-blue", "each-spoke: Kustomization cluster-blue-logs"],
      ...["each-spoke: Kustomization spoke-blue", "spoke-blue: Spoke blue"],
    ]);
  });

  test("passes every check, and has everything on its cluster that any spoke has", () => {
    withChanges(onCluster, (repos) => {
      const report = check({ repos, build: buildText });
      expect(found(report, repos)).toEqual([]);
      expect(report.clusters).toContain("blue");
    });
  });
});

test("a ClusterProfile in Git is checked against the definition in Git", () => {
  const profile =
    "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ClusterProfile\n" +
    "metadata: { name: far, namespace: cluster-inventory }\nspec: { clusterManager: { title: another } }\n";
  const changes = [
    naming("../../platform/hub/cluster-inventory", "far.yaml"),
    { file: "gitops-system/clusters/fleet/far.yaml", to: profile },
  ];
  expect(problemsOf(changes).map(({ rule }) => rule)).toEqual(expect.arrayContaining(["schema", "definition-order"]));
});

/** The example of platform/hub/argocd/applications as a file of the fleet's own folder. */
const copied = (name: string): Change => ({
  file: `gitops-system/clusters/fleet/applications/${name}`,
  to: readFileSync(join(repos, "gitops-system/platform/hub/argocd/applications/example", name), "utf8"),
});

const files = ["kustomization.yaml", "project.yaml", "applicationset.yaml"].map(copied);

test("a hub that names platform/hub/argocd/applications gets the applications of its own folder, after Argo CD", () => {
  const argocd = naming("../../platform/hub/argocd");
  const changes = [naming("../../platform/hub/argocd", "../../platform/hub/argocd/applications"), ...files];
  expect(problemsOf([...changes, argocdActs])).toEqual([]);
  const before = onHub("fleet", [argocd]);
  expect(onHub("fleet", changes).filter((object) => !before.includes(object))).toEqual([
    "flux-system: ArtifactGenerator hub-applications",
    "flux-system: Kustomization hub-applications",
    "hub-applications: AppProject payments",
    "hub-applications: ApplicationSet payment-app",
  ]);
});

test("a hub that applies them by its root Kustomization is found: Argo CD's kinds are not there yet", () => {
  expect(problemsOf([naming("../../platform/hub/argocd", "applications"), argocdActs, ...files])).toMatchObject([
    { rule: "definition-order", problem: expect.stringContaining("without waiting for argocd") },
  ]);
});

test("a Composition names namespaces of spokes for Argo CD; one of the platform is found", () => {
  const composition = { file: "gitops-system/platform/composition/composition.yaml", from: "kubeConfig: configMap\n" };
  const findings = (namespace: string) => {
    const named = `kubeConfig: configMap\n        argocd:\n          namespaces: [${namespace}]\n`;
    const changes = [...spoke("blue", "10.70.0.0/18"), { ...composition, to: named }];
    return problemsOf(changes);
  };
  expect(findings("shop")).toEqual([]);
  expect(findings("kube-system")).toMatchObject([
    { rule: "schema", problem: expect.stringContaining("argocd.namespaces.0: is a namespace of the platform") },
  ]);
});
