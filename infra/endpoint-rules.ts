import { maxPublicAddresses, parseCidr, publicAddresses, reservedFor } from "../lib/cidr.ts";
import { type Problem, shown } from "../lib/problems.ts";
import { ownAddress, type Readable } from "./settings.ts";

/**
 * A private endpoint admits what is in the cluster's security group, which EKS makes with the cluster and which admits only its own members
 * (EKS User Guide, "View Amazon EKS security group requirements for clusters"). So in a VPC that the stack makes, nobody but the nodes
 * gets in. In a VPC that exists somebody may have put a runner into the group or added a rule, so nothing is refused there.
 */
function unreachable(settings: Readable): Problem[] {
  const { endpointPublicAccess, endpointPrivateAccess, endpointPrivateAccessCidrs, vpcId } = settings;
  const onlyPrivate = endpointPublicAccess === false && endpointPrivateAccess === true;
  if (!onlyPrivate || vpcId !== "" || endpointPrivateAccessCidrs?.length !== 0) return [];
  return [
    {
      key: "endpointPrivateAccessCidrs",
      what: "leaves a private endpoint that only the cluster's own nodes may use, so pulumi up can't reach it either",
      got: `${shown(endpointPrivateAccessCidrs)}, and endpointPublicAccess is false`,
      allowed:
        "the networks, connected to the hub's VPC or inside it, from which pulumi up, pipelines and people connect",
      remedy:
        "pulumi config set --path 'endpointPrivateAccessCidrs[0]' <network>; the first pulumi up needs a public endpoint, or a VPC that exists (docs/guides/deploy.md#private-endpoints)",
    },
  ];
}

/** Rules over the two endpoints of the hub's Kubernetes API, and who may use them. */
export function endpointRules(settings: Readable): readonly Problem[] {
  const { endpointPublicAccess, endpointPrivateAccess, endpointPublicAccessCidrs: cidrs } = settings;
  const { endpointPrivateAccessCidrs: connected = [] } = settings;
  const problems: Problem[] = unreachable(settings);
  if (endpointPublicAccess === false && endpointPrivateAccess === false) {
    problems.push({
      key: "endpointPrivateAccess",
      what: "leaves the cluster without an endpoint",
      got: "false, and endpointPublicAccess is false too",
      allowed: "at least one of the two endpoints",
      remedy: "pulumi config set endpointPrivateAccess true",
    });
  }
  if (endpointPrivateAccess === false && connected.length > 0) {
    problems.push({
      key: "endpointPrivateAccessCidrs",
      what: "names networks for an endpoint that the cluster does not have",
      got: `${shown(connected)}, and endpointPrivateAccess is false`,
      allowed: "networks together with endpointPrivateAccess true, or none",
      remedy: "pulumi config set endpointPrivateAccess true, or pulumi config rm endpointPrivateAccessCidrs",
    });
  }
  const everybody = connected.filter((text) => (parseCidr(text)?.prefix ?? 32) < 8);
  if (everybody.length > 0) {
    problems.push({
      key: "endpointPrivateAccessCidrs",
      what: "admits more addresses than a network of yours can have",
      got: shown(everybody),
      allowed: "networks of /8 or smaller that are connected to the VPC",
      remedy: "pulumi config set --path 'endpointPrivateAccessCidrs[0]' 10.20.0.0/16",
    });
  }
  const samples = connected.filter((text) => {
    const cidr = parseCidr(text);
    return cidr !== undefined && reservedFor(cidr)?.startsWith("documentation");
  });
  if (samples.length > 0) {
    problems.push({
      key: "endpointPrivateAccessCidrs",
      what: "names a network for documentation (RFC 5737), which connects to nothing",
      got: shown(samples),
      allowed: "networks of yours that are connected to the hub's VPC",
      remedy:
        "pulumi config set --path 'endpointPrivateAccessCidrs[0]' <network>; the first pulumi up needs a public endpoint, or a VPC that exists (docs/guides/deploy.md#private-endpoints)",
    });
  }
  const admitted = publicAddresses((cidrs ?? []).flatMap((text) => parseCidr(text) ?? []));
  if (endpointPublicAccess === true && cidrs !== undefined && (cidrs.length === 0 || admitted > maxPublicAddresses)) {
    problems.push({
      key: "endpointPublicAccessCidrs",
      what:
        admitted === 2 ** 32
          ? "opens the Kubernetes API to the whole Internet"
          : admitted > maxPublicAddresses
            ? `opens the Kubernetes API to ${admitted} public addresses`
            : "names no address that may use the public endpoint",
      got: shown(cidrs),
      allowed: `the networks of people and pipelines that use the cluster, at most ${maxPublicAddresses} public addresses together (a /8)`,
      remedy: `pulumi config set --path 'endpointPublicAccessCidrs[0]' ${ownAddress}, or endpointPublicAccess false`,
    });
  }
  return problems;
}
