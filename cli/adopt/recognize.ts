import type { Existing, ExistingNetwork, FlowLogTraffic, NatGateways, SpokeSpec } from "../../functions/spoke/api.ts";
import { askedGroups, firstGroup, nodesTag } from "../../functions/spoke/asked-groups.ts";
import { isAuto } from "../../functions/spoke/auto-mode.ts";
import { type EndpointService, gatewayEndpointsOf, interfaceEndpointsOf } from "../../functions/spoke/endpoints.ts";
import { podIdentitiesField, ruleField, templatesField } from "../../functions/spoke/existing.ts";
import { sidesOf } from "../../functions/spoke/isolated.ts";
import type { ManagedKind } from "../../functions/spoke/kinds.ts";
import { launchTemplateOf, templateOf } from "../../functions/spoke/node-groups.ts";
import { resources, sides } from "../../functions/spoke/resources.ts";
import { parseCidr, zoneSubnets } from "../../lib/cidr.ts";
import { clusterTag, fleetTag } from "../../lib/labels.ts";
import { natGatewayCount } from "../../lib/nat-gateways.ts";
import { nodeGroupName } from "../../lib/node-groups.ts";
import { spokeNames } from "../../lib/spoke.ts";
import { compare } from "../../lib/version.ts";
import type { InAws, Tagged } from "./aws.ts";
import type { ClusterInAws } from "./cluster.ts";

/** Which resource in AWS is which part of a spoke. */

/** What decides which parts a spoke has; defaults are filled in. */
export interface AdoptedSpec extends Pick<SpokeSpec, "compute" | "nodes" | "nodeGroups"> {
  readonly kubernetesVersion: string;
  readonly network: {
    readonly cidr?: string;
    readonly zones: number;
    readonly availabilityZones?: readonly string[];
    readonly natGateways: NatGateways;
    readonly existing?: ExistingNetwork;
    readonly flowLogs?: FlowLogTraffic;
    readonly podCidr?: string;
    readonly endpoints?: readonly EndpointService[];
    readonly transitGateway?: SpokeSpec["network"]["transitGateway"];
  };
}

export interface Subject {
  readonly spoke: string;
  readonly fleet: string;
  /** Prefix of the fleet's clusters. */
  readonly prefix: string;
  readonly spec: AdoptedSpec;
}

/** What was recognized. */
export interface Recognized {
  readonly existing: Existing;
  readonly cidr: string | undefined;
  readonly availabilityZones: readonly string[] | undefined;
  /** Parts that AWS does not have: the hub makes them. */
  readonly missing: readonly string[];
  /** Parts that several resources could be, each with their IDs. */
  readonly ambiguous: ReadonlyMap<string, readonly string[]>;
  /** IDs of what carries the spoke's tags and is none of its parts. */
  readonly left: readonly string[];
  /** Why AWS failed to make something that carries the spoke's tags, by its ID. */
  readonly failed: ReadonlyMap<string, string>;
  /** Why AWS's resources can't be this Spoke's. */
  readonly contradictions: readonly string[];
}

/** A part of a spoke: its composition resource name, its kind, and the end of its tag Name, as the Composition sets it. */
type Part = readonly [key: string, kind: ManagedKind, name: string];

/** The parts that carry tags. Of a network of somebody else nothing does. */
function partsOf({ network, ...spec }: AdoptedSpec): Part[] {
  const { zones, natGateways, existing, flowLogs, podCidr, endpoints, transitGateway } = network;
  const templates = askedGroups(spec).map(({ name }): Part => [templateOf(name).key, "LaunchTemplate", nodesTag(name)]);
  if (existing !== undefined) return templates;
  const places = Array.from({ length: zones }, (_, zone) => zone);
  const withGateway = places.slice(0, natGatewayCount(natGateways, zones));
  const onlyPublic: Part[] = [
    [resources.internetGateway.key, "InternetGateway", "internet"],
    [resources.routeTable("public").key, "RouteTable", "public"],
  ];
  return [
    [resources.vpc.key, "VPC", "vpc"],
    ...(natGateways === "isolated" ? [] : onlyPublic),
    ...places.flatMap((zone) =>
      sidesOf(network).map((side): Part => [resources.subnet(side, zone).key, "Subnet", `${side}-${zone}`]),
    ),
    ...(podCidr === undefined ? [] : places).map(
      (zone): Part => [resources.podSubnet(zone).key, "Subnet", `pod-${zone}`],
    ),
    ...places.map((zone): Part => [resources.routeTable(`private-${zone}`).key, "RouteTable", `private-${zone}`]),
    ...withGateway.map((zone): Part => [resources.address(zone).key, "EIP", `nat-${zone}`]),
    ...withGateway.map((zone): Part => [resources.natGateway(zone).key, "NATGateway", `nat-${zone}`]),
    ...gatewayEndpointsOf(endpoints).map(
      (service): Part => [resources.gatewayEndpoint(service).key, "VPCEndpoint", service],
    ),
    ...[transitGateway].flatMap((gateway): Part[] => {
      const { key } = resources.transitGateway;
      return gateway === undefined ? [] : [[key, "TransitGatewayVPCAttachment", key]];
    }),
    ...interfaceEndpointsOf(endpoints).map((service): Part => {
      const { key } = resources.interfaceEndpoint(service);
      return [key, "VPCEndpoint", key];
    }),
    ...[flowLogs].flatMap((traffic): Part[] => {
      const key = traffic && resources.flowLog(traffic).key;
      return key === undefined ? [] : [[key, "FlowLog", key]];
    }),
    ...templates,
  ];
}

const keyPart: Part = [resources.key.key, "Key", "secrets"];

/** An ID as people are told it: that of a key does not say what it is of. */
export const shown = (kind: string, id: string): string => (kind === "Key" ? `key ${id}` : id);

/** Tag by which Crossplane's AWS provider names the object that it made a resource for (upjet, pkg/resource). */
const objectTag = "crossplane-name";

function contradictions(
  { spoke, fleet, prefix, spec }: Subject,
  { cluster }: InAws,
  found: ReadonlyMap<string, Tagged>,
): string[] {
  const vpc = found.get(resources.vpc.key);
  const cidr = parseCidr(vpc?.cidr ?? "");
  const { network } = spec;
  const said: string[] = [];
  if (vpc !== undefined && network.cidr !== undefined && vpc.cidr !== network.cidr)
    said.push(`the VPC ${vpc.id} has ${vpc.cidr}, spec.network.cidr says ${network.cidr}`);
  for (let zone = 0; zone < network.zones; zone += 1)
    for (const side of sides) {
      const subnet = found.get(resources.subnet(side, zone).key);
      const own = cidr && zoneSubnets(cidr, zone)[`${side}Cidr`];
      if (subnet === undefined || own === undefined) continue;
      if (subnet.cidr !== own)
        said.push(`${side} subnet ${zone}, ${subnet.id}, has ${subnet.cidr}, the fleet's has ${own}`);
      const named = network.availabilityZones?.[zone];
      if (named !== undefined && subnet.zone !== named)
        said.push(
          `${side} subnet ${zone}, ${subnet.id}, is in ${subnet.zone}, spec.network.availabilityZones says ${named}`,
        );
    }
  for (const [key, { id, vpc: its }] of found)
    if (vpc !== undefined && its !== undefined && its !== vpc.id)
      said.push(`${key}, ${id}, is in ${its}, the VPC with the spoke's tags is ${vpc.id}`);
  if (cluster === undefined) return said;
  const { cluster: name } = spokeNames(prefix, spoke);
  if (cluster.tags[fleetTag] !== fleet || cluster.tags[clusterTag] !== spoke)
    said.push(`the EKS cluster ${name} does not carry the tags ${fleetTag}=${fleet} and ${clusterTag}=${spoke}`);
  if (compare(cluster.version, spec.kubernetesVersion) > 0)
    said.push(
      `the EKS cluster ${name} runs Kubernetes ${cluster.version}, which the hub would roll back: spec.kubernetesVersion is ${spec.kubernetesVersion}, set it to ${cluster.version}`,
    );
  if (cluster.isAuto !== isAuto({ spec }))
    said.push(
      `the EKS cluster ${name} has EKS Auto Mode ${cluster.isAuto ? "on" : "off"}, which can't be changed; spec.compute says ${spec.compute ?? "node-groups"}`,
    );
  if (vpc !== undefined && cluster.vpcId !== vpc.id)
    said.push(`the EKS cluster ${name} is in ${cluster.vpcId}, the VPC with the spoke's tags is ${vpc.id}`);
  const { existing } = network;
  if (existing !== undefined && cluster.vpcId !== existing.vpcId)
    said.push(`the EKS cluster ${name} is in ${cluster.vpcId}, spec.network.existing says ${existing.vpcId}`);
  return said;
}

/** The zone of each place; undefined where no subnet tells it. */
function zonesOf({ network }: AdoptedSpec, found: ReadonlyMap<string, Tagged>): readonly string[] | undefined {
  const zones = Array.from({ length: network.zones }, (_, zone) =>
    sides
      .map((side) => found.get(resources.subnet(side, zone).key)?.zone)
      .concat(network.availabilityZones?.[zone])
      .find((name) => name !== undefined),
  );
  return zones.every((zone) => zone !== undefined) ? zones : undefined;
}

/** The association of each subnet with a route table. */
function associationsOf(found: ReadonlyMap<string, Tagged>, { tagged }: InAws, zones: number): [string, string][] {
  const ids = Object.assign({}, ...tagged.map(({ associations }) => associations ?? {})) as Record<string, string>;
  const pairs = Array.from({ length: zones }, (_, zone) => [
    ...sides.map((side) => [resources.subnet(side, zone), resources.association(side, zone)] as const),
    [resources.podSubnet(zone), resources.podAssociation(zone)] as const,
  ]).flat();
  return pairs.flatMap(([subnet, association]): [string, string][] => {
    const id = ids[found.get(subnet.key)?.id ?? ""];
    return id === undefined ? [] : [[association.key, id]];
  });
}

/** The association of the VPC with the block of the pods, which has no tags. */
function podBlockOf({ network: { podCidr, existing } }: AdoptedSpec, found: ReadonlyMap<string, Tagged>) {
  if (podCidr === undefined || existing !== undefined) return [];
  return [[resources.podBlock.key, found.get(resources.vpc.key)?.blocks?.[podCidr]]] as const;
}

/** Node groups that the Spoke does not ask for. */
function otherNodeGroups({ prefix, spoke, spec }: Subject, { cluster }: InAws): readonly string[] {
  const names = spokeNames(prefix, spoke);
  const current = askedGroups(spec).map((group) =>
    nodeGroupName(group.name === firstGroup ? names.nodeGroup : names.furtherGroup(group.name), group),
  );
  return (cluster?.nodeGroups ?? []).filter((each) => !current.includes(each));
}

/** What was found, in the form of `spec.existing`: launch templates of further node groups stand together. */
function existingOf(
  found: readonly (readonly [key: string, id: string])[],
  { podIdentities = {}, rules = {} }: Partial<Pick<ClusterInAws, "podIdentities" | "rules">>,
): Existing {
  const groupOf = (key: string) => launchTemplateOf(key)?.group ?? firstGroup;
  const isFurther = ([key]: readonly [string, string]) => groupOf(key) !== firstGroup;
  const templates = found.filter(isFurther).map(([key, id]) => [groupOf(key), id] as const);
  return {
    ...Object.fromEntries(found.filter((each) => !isFurther(each))),
    ...(templates.length > 0 ? { [templatesField]: Object.fromEntries(templates) } : {}),
    ...(Object.keys(podIdentities).length > 0 ? { [podIdentitiesField]: podIdentities } : {}),
    ...(Object.keys(rules).length > 0 ? { [ruleField]: rules } : {}),
  };
}

/** Tells the parts of a spoke by the tags that the Composition gives them. */
export function recognize(subject: Subject, inAws: InAws): Recognized {
  const { spoke, prefix, spec } = subject;
  const { cluster: name } = spokeNames(prefix, spoke);
  const { cluster, tagged } = inAws;
  const parts = partsOf(spec);
  // The key that a cluster uses can't be another one, whatever its tags say.
  const usable = tagged.filter(
    ({ kind, id, failed }) => failed === undefined && (kind !== "Key" || id === (cluster?.key ?? id)),
  );
  const candidates = new Map(
    [...parts, keyPart].map(([key, kind, end]) => [
      key,
      usable.filter(
        (each) =>
          each.kind === kind && (each.tags["Name"] === `${name}-${end}` || each.tags[objectTag] === `${spoke}-${key}`),
      ),
    ]),
  );
  const found = new Map([...candidates].flatMap(([key, all]) => (all.length === 1 ? [[key, all[0] as Tagged]] : [])));
  const known: readonly (readonly [string, string | undefined])[] = [
    ...parts.map(([key]) => [key, found.get(key)?.id] as const),
    ...associationsOf(found, inAws, spec.network.zones),
    ...podBlockOf(spec, found),
    [resources.key.key, cluster?.key ?? found.get(resources.key.key)?.id],
    [resources.oidcProvider.key, cluster?.oidcProvider],
  ];
  const all = new Set([...candidates.values()].flat());
  return {
    existing: existingOf(
      known.flatMap(([key, id]) => (id === undefined ? [] : [[key, id] as const])),
      cluster ?? {},
    ),
    cidr: found.get(resources.vpc.key)?.cidr,
    availabilityZones: zonesOf(spec, found),
    missing: [
      ...known.flatMap(([key, id]) => (id === undefined && (candidates.get(key) ?? []).length < 2 ? [key] : [])),
      ...(cluster === undefined ? [resources.cluster.key] : []),
    ],
    ambiguous: new Map(
      [...candidates].flatMap(([key, some]) => (some.length > 1 ? [[key, some.map(({ id }) => id)]] : [])),
    ),
    left: [
      ...tagged.filter((each) => !all.has(each)).map(({ kind, id }) => shown(kind, id)),
      ...otherNodeGroups(subject, inAws).map((group) => `node group ${group}`),
    ],
    failed: new Map(tagged.flatMap(({ id, failed }) => (failed === undefined ? [] : [[id, failed]]))),
    contradictions: contradictions(subject, inAws, found),
  };
}
