import { stringify } from "yaml";
import { hubMetadata } from "../../../cli/render/clusters.ts";
import { bridgeData } from "../../../lib/bridge.ts";
import { type Change, replaced, type Seed, spoke } from "./seeds.ts";

/** Faults in a Spoke, each of which is told at the Spoke and not at what stumbles over it. */

const file = "gitops-system/spokes/fleet/blue/spoke.yaml";
const pink = "gitops-system/spokes/fleet/pink/spoke.yaml";
const blue = (from: string, to: string) => [...spoke("blue", "10.64.0.0/18"), replaced(file, from, to)];

/** A SealedSecret of a spoke, with the note for which scope it is sealed. */
export const sealedFor = (name: string, repository: string, scope: string) =>
  replaced(
    `gitops-system/spokes/fleet/${name}/secrets/${repository}.yaml`,
    "  namespace: flux-system\n",
    `  namespace: flux-system\n  annotations:\n    fleet.internal/sealed-for: ${scope}\n`,
  );
const plum = "gitops-system/spokes/fleet/plum/secrets/gitops-workloads.yaml";

/** The role of the Argo CD in another cluster of {@link argocdElsewhere}. */
export const argocdRole = "arn:aws:iam::111111111111:role/argocd";
/** The recorded facts about the hub of fleet, with other identities. */
export const factsWith = (identities: ReturnType<typeof hubMetadata>["identities"]): Change => {
  const hub = hubMetadata("fleet", "dev");
  return {
    file: "gitops-system/clusters/fleet/bridge.yaml",
    to: stringify(bridgeData({ ...hub, identities: { ...hub.identities, ...identities } })),
  };
};
export const argocdElsewhere = factsWith({
  argocd: { roleArn: argocdRole, namespace: "argocd", serviceAccount: "argocd-application-controller" },
  argocd_secrets: {
    roleArn: "arn:aws:iam::012345678901:role/fleet-hub-argocd-secrets",
    namespace: "argocd",
    serviceAccount: "argocd-secrets",
  },
});
/** Argo CD acts on spokes. */
export const argocdActs = replaced(
  "gitops-system/platform/composition/composition.yaml",
  "kubeConfig: configMap\n",
  "kubeConfig: configMap\n        argocd:\n          namespaces: [payment-app]\n",
);
const lilac = "gitops-system/spokes/fleet/lilac/spoke.yaml";

const common = { file, clusters: ["blue"], alone: true } as const;

export const spokeSeeds: readonly Seed[] = [
  {
    fault: "a Kubernetes version that the Composition does not have",
    changes: [
      ...spoke("pink", "10.100.0.0/18"),
      replaced(pink, 'kubernetesVersion: "1.35"', 'kubernetesVersion: "1.38"'),
    ],
    rule: "spoke",
    file: pink,
    clusters: ["pink"],
    on: "1.38",
    problem: "Spoke pink: the Composition spoke does not support Kubernetes 1.38; it has 1.35, 1.36, 1.37",
  },
  {
    ...common,
    fault: "an add-on that does not exist",
    changes: blue("  environment: dev\n", "  environment: dev\n  addons: [cert_manger]\n"),
    rule: "path",
    on: "cert_manger",
    problem: "Spoke blue: there is no add-on cert_manger in ./tools/dev",
  },
  {
    fault: "the role of Argo CD as an administrator",
    changes: [
      ...spoke("lilac", "10.120.0.0/18"),
      replaced(lilac, "  network:", `  admins:\n    - ${argocdRole}\n  network:`),
      argocdActs,
      argocdElsewhere,
    ],
    rule: "spoke",
    file: lilac,
    clusters: ["lilac"],
    on: argocdRole,
    problem: `Spoke lilac: ${argocdRole} in spec.admins is the role of Argo CD, whose only access entry on the spoke has the edit policy in its namespaces`,
  },
  {
    fault: "a secret that is sealed for another environment, beside one for the spoke's",
    changes: [
      ...spoke("plum", "10.104.0.0/18"),
      sealedFor("plum", "gitops-system", "dev"),
      sealedFor("plum", "gitops-workloads", "prod"),
    ],
    rule: "sealing",
    file: plum,
    clusters: ["plum"],
    on: "sealed-for: prod",
    problem:
      "SealedSecret flux-system/gitops-workloads is sealed for prod; the cluster opens only what is sealed for dev",
  },
  {
    ...common,
    fault: "sealing keys of a spoke's own without their folder",
    changes: blue("  environment: dev\n", "  environment: dev\n  sealing: cluster\n"),
    rule: "path",
    on: "sealing: cluster",
    problem:
      "Spoke blue: sealing cluster leads Kustomization blue-sealing-keys to ./spokes/fleet/blue/sealing-keys, which is not there",
  },
];
