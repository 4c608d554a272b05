import { variable } from "../../../cli/render/envsubst.ts";
import { replaced, type Seed, spoke } from "./seeds.ts";

/** Faults that only the CEL rules of a definition tell: what the API server would refuse. */

const file = (name: string) => `gitops-system/spokes/fleet/${name}/spoke.yaml`;
const withMore = (name: string, cidr: string, more: string) => [
  ...spoke(name, cidr),
  replaced(file(name), "  network:\n", `${more}  network:\n`),
];
const long = "a".repeat(41);
const ofSpoke = { rule: "validation", clusters: ["hub"] } as const;

export const validationSeeds: readonly Seed[] = [
  {
    ...ofSpoke,
    fault: "a network with bits behind the prefix",
    file: file("amber"),
    on: "cidr: 10.128.0.1/18",
    changes: spoke("amber", "10.128.0.1/18"),
    problem:
      "Spoke amber: spec.network.cidr is refused: network.cidr must be an IPv4 network a.b.c.d/n with no bits set after the prefix, such as 10.64.0.0/18; got 10.128.0.1/18",
  },
  {
    ...ofSpoke,
    fault: "fewer nodes than the least, which is a default",
    file: file("beige"),
    on: "nodes:",
    changes: withMore("beige", "10.129.0.0/18", "  nodes:\n    min: 3\n"),
    problem: "Spoke beige: spec.nodes is refused: nodes must have min <= desired <= max (defaults: 2, 2 and 4)",
  },
  {
    ...ofSpoke,
    fault: "a public endpoint for everybody",
    file: file("coral"),
    on: "- 0.0.0.0/0",
    changes: withMore(
      "coral",
      "10.130.0.0/18",
      "  endpoint:\n    publicAccessCidrs:\n      - 5.6.7.0/24\n      - 0.0.0.0/0\n",
    ),
    problem:
      "Spoke coral: spec.endpoint.publicAccessCidrs.1 is refused: endpoint.publicAccessCidrs must not be 0.0.0.0/0, that is everybody; name your networks",
  },
  {
    ...ofSpoke,
    fault: "a name that is too long",
    file: file(long),
    on: `name: ${long}`,
    changes: spoke(long, "10.131.0.0/18"),
    problem: `Spoke ${long}: metadata.name is refused: the name of a Spoke is part of names in AWS and in Kubernetes: at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster-; got ${long}`,
  },
  {
    rule: "validation",
    clusters: ["hub"],
    needsDefinitions: true,
    on: "strategy:",
    fault: "what the rules of a given definition refuse",
    file: "gitops-system/spoke-bootstrap/flux/release.yaml",
    changes: [
      replaced(
        "gitops-system/spoke-bootstrap/flux/release.yaml",
        "cleanupOnFail: true\n    strategy:\n      name: RetryOnFailure",
        "cleanupOnFail: true\n    strategy:\n      name: RemediateOnFailure",
      ),
    ],
    problem: `HelmRelease ${variable("cluster_name")}-flux: spec.upgrade.strategy is refused: .retryInterval can only be set when .name is 'RetryOnFailure'`,
  },
];
