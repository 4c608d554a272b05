import { variable } from "../../../cli/render/envsubst.ts";
import { replaced, type Seed, spoke } from "./seeds.ts";

/** Faults that the definition of the Spoke API is about: what the API server would refuse, most of it by CEL rules. */

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
    fault: "a network without a prefix, which is no fact of the bridge either",
    file: file("azure"),
    on: "cidr: 10.190.0.0",
    changes: spoke("azure", "10.190.0.0"),
    problem:
      "Spoke azure: spec.network.cidr is refused: network.cidr must be an IPv4 network a.b.c.d/n with no bits set after the prefix, such as 10.64.0.0/18; got 10.190.0.0",
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
    // source-watcher stops at a name that can be no label's value, so the hub's artifacts leave such a folder out.
    rule: "fleet",
    fault: "a name that is too long",
    file: `gitops-system/spokes/fleet/${long}/flux/sync.yaml`,
    on: "apiVersion:",
    changes: spoke(long, "10.131.0.0/18"),
    problem: `spokes/fleet/${long} can't be the folder of a spoke: no hub reads it`,
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
