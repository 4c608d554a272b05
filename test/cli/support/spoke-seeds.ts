import { replaced, type Seed, spoke } from "./seeds.ts";

/** Faults in a Spoke, each of which is told at the Spoke and not at what stumbles over it. */

const file = "gitops-system/spokes/fleet/blue/spoke.yaml";
const pink = "gitops-system/spokes/fleet/pink/spoke.yaml";
const blue = (from: string, to: string) => [...spoke("blue", "10.64.0.0/18"), replaced(file, from, to)];

const common = { file, clusters: ["blue"], alone: true } as const;

export const spokeSeeds: readonly Seed[] = [
  {
    fault: "a Kubernetes version that the Composition does not have",
    changes: [
      ...spoke("pink", "10.100.0.0/18"),
      replaced(pink, 'kubernetesVersion: "1.34"', 'kubernetesVersion: "1.37"'),
    ],
    rule: "spoke",
    file: pink,
    clusters: ["pink"],
    on: "1.37",
    problem: "Spoke pink: the Composition spoke does not support Kubernetes 1.37; it has 1.34, 1.35, 1.36",
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
    ...common,
    fault: "sealing keys of a spoke's own without their folder",
    changes: blue("  environment: dev\n", "  environment: dev\n  sealing: cluster\n"),
    rule: "path",
    on: "sealing: cluster",
    problem:
      "Spoke blue: sealing cluster leads Kustomization blue-sealing-keys to ./spokes/fleet/blue/sealing-keys, which is not there",
  },
];
