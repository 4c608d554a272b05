import { type Cidr, contains, overlaps, parseCidr, reservedProblem } from "../lib/cidr.ts";
import { type Problem, shown } from "../lib/problems.ts";
import { egressAddress, ownAddress, type Readable } from "./settings.ts";

/** Prefix lengths of a subnet in a VPC (EC2 User Guide, "Subnet CIDR blocks"). */
const subnetPrefixes = { min: 16, max: 28 };

interface NamedCidr {
  readonly name: string;
  readonly text: string;
  readonly cidr: Cidr;
}

function parsed(key: string, texts: readonly string[] | undefined): NamedCidr[] {
  return (texts ?? []).flatMap((text, index) => {
    const cidr = parseCidr(text);
    return cidr ? [{ name: `${key}[${index}]`, text, cidr }] : [];
  });
}

function subnetRules(settings: Readable): Problem[] {
  const vpc = parseCidr(settings.vpcCidr ?? "");
  const subnets = [
    ...parsed("privateSubnetCidrs", settings.privateSubnetCidrs),
    ...parsed("publicSubnetCidrs", settings.publicSubnetCidrs),
  ];
  const outside = subnets
    .filter(({ cidr }) => vpc !== undefined && !contains(vpc, cidr))
    .map(({ name, text }) => ({
      key: name,
      what: "is not inside the VPC",
      got: text,
      allowed: `a part of vpcCidr ${settings.vpcCidr}`,
      remedy: "choose a block inside the VPC, or leave the list empty, so that the program divides the VPC",
    }));
  const wrongSize = subnets
    .filter(({ cidr }) => cidr.prefix < subnetPrefixes.min || cidr.prefix > subnetPrefixes.max)
    .map(({ name, text }) => ({
      key: name,
      what: "has a size that EC2 refuses for a subnet",
      got: text,
      allowed: `/${subnetPrefixes.min} to /${subnetPrefixes.max}`,
      remedy: "change the prefix length",
    }));
  const overlapping = subnets.flatMap((first, index) =>
    subnets
      .slice(index + 1)
      .filter((second) => overlaps(first.cidr, second.cidr))
      .map((second) => ({
        key: second.name,
        what: `overlaps ${first.name}`,
        got: `${second.text} and ${first.text}`,
        allowed: "subnets that share no address",
        remedy: "change one of the two, or leave both lists empty, so that the program divides the VPC",
      })),
  );
  return [...outside, ...wrongSize, ...overlapping];
}

/** Lists with one item per zone must have as many items as there are zones. */
function zoneListRules(settings: Readable): Problem[] {
  const { zones } = settings;
  if (zones === undefined) return [];
  return (["availabilityZones", "privateSubnetCidrs", "publicSubnetCidrs"] as const).flatMap((key) => {
    const items = settings[key];
    if (items === undefined || items.length === 0) return [];
    const distinct = new Set(items).size;
    if (items.length === zones && (distinct === zones || key !== "availabilityZones")) return [];
    return [
      {
        key,
        what: distinct < items.length ? "names a zone twice" : "does not have one item for each zone",
        got: `${shown(items)} with zones ${zones}`,
        allowed: `empty, or ${zones} different items`,
        remedy: `change the list, or pulumi config set zones ${distinct}`,
      },
    ];
  });
}

function existingNetworkRules(settings: Readable): Problem[] {
  const { vpcId, privateSubnetIds, publicSubnetIds, egressCidrs } = settings;
  if (vpcId === undefined) return [];
  if (vpcId === "") {
    return Object.entries({ privateSubnetIds, publicSubnetIds, egressCidrs })
      .filter(([, items]) => items !== undefined && items.length > 0)
      .map(([key, items]) => ({
        key,
        what: "belongs to an existing VPC, but vpcId is empty",
        got: shown(items),
        allowed: "empty without vpcId",
        remedy: `pulumi config set vpcId <vpc>, or remove ${key}`,
      }));
  }
  if (privateSubnetIds === undefined || new Set(privateSubnetIds).size >= 2) return [];
  return [
    {
      key: "privateSubnetIds",
      what: "has too few subnets for a cluster",
      got: shown(privateSubnetIds),
      allowed: "at least two subnets in different zones of the VPC",
      remedy: "pulumi config set --path 'privateSubnetIds[0]' <subnet> (and [1])",
    },
  ];
}

/**
 * Public endpoints accept no reserved addresses: neither the hub's own, if it has one, nor those of its spokes, which admit egressCidrs
 * in any case.
 */
function reservedRules(settings: Readable): Problem[] {
  const { endpointPublicAccess, endpointPublicAccessCidrs, egressCidrs, vpcId } = settings;
  const listed = [
    {
      networks: parsed("endpointPublicAccessCidrs", endpointPublicAccess === true ? endpointPublicAccessCidrs : []),
      allowed: "public addresses of your networks",
      value: ownAddress,
    },
    {
      networks: parsed("egressCidrs", egressCidrs),
      allowed: "the public source addresses of the hub's traffic, each as /32",
      value: egressAddress(vpcId || undefined),
    },
  ];
  return listed.flatMap(({ networks, allowed, value }) =>
    networks.flatMap(({ name, text, cidr }) => {
      const what = reservedProblem(cidr);
      if (what === undefined) return [];
      return [{ key: name, what, got: text, allowed, remedy: `pulumi config set --path '${name}' ${value}` }];
    }),
  );
}

/** EKS rejects Services in the VPC, and an address of a spoke that is a Service's too can't be reached from the hub. */
function serviceRules({ serviceIpv4Cidr, spokeCidrPool, vpcCidr, vpcId }: Readable): Problem[] {
  const services = parseCidr(serviceIpv4Cidr ?? "");
  if (services === undefined) return [];
  return Object.entries({ spokeCidrPool, ...(vpcId ? {} : { vpcCidr }) }).flatMap(([key, text]) => {
    const other = parseCidr(text ?? "");
    if (other === undefined || !overlaps(services, other)) return [];
    return [
      {
        key: "serviceIpv4Cidr",
        what: `overlaps ${key}`,
        got: `${serviceIpv4Cidr} and ${key} ${text}`,
        allowed: `a block that shares no address with ${key}`,
        remedy: "pulumi config set serviceIpv4Cidr 172.20.0.0/16, or another block that your networks don't have",
      },
    ];
  });
}

/** Rules over the keys of the network: a new VPC's blocks, or the existing VPC's ids. */
export function networkRules(settings: Readable): readonly Problem[] {
  const always = [...reservedRules(settings), ...existingNetworkRules(settings), ...serviceRules(settings)];
  return settings.vpcId ? always : [...always, ...zoneListRules(settings), ...subnetRules(settings)];
}
