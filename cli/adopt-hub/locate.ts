import type { ManagedKind } from "../../functions/spoke/kinds.ts";
import type { Tagged } from "../adopt/aws.ts";
import type { Planned } from "./preview.ts";

/** Under which ID `pulumi import` finds what AWS has. The forms are those of the section "Import" of each type in the Pulumi Registry. */

/** What AWS has under the name that the program gives. */
export interface Named {
  /** ID for `pulumi import`. */
  readonly id: string;
  /** Of an alias: ID of its key. */
  readonly key?: string;
  /** Why `pulumi up` can't use it as it is, and what to do first. */
  readonly unusable?: string;
}

/** What AWS has of a hub. */
export interface HubInAws {
  readonly account: string;
  /** Whether EKS has its cluster. */
  readonly hasCluster: boolean;
  /** What carries its tags and has an ID that AWS gave. */
  readonly tagged: readonly Tagged[];
  /** What has a name of its own, by the URN of the resource. */
  readonly named: ReadonlyMap<string, Named>;
  /** ID of each VPC's default security group, by the VPC's. */
  readonly defaultGroups: Readonly<Record<string, string>>;
  /** ARNs of the IAM OIDC providers with its tags: of a cluster that is gone, and of no use to another one. */
  readonly oidcProviders: readonly string[];
}

export interface Located {
  /** What AWS has, with the ID for `pulumi import`. */
  readonly found: readonly { readonly planned: Planned; readonly id: string }[];
  /** What AWS does not have: `pulumi up` makes it. */
  readonly missing: readonly Planned[];
  /** What this can't look for, because nothing tells it from another one. */
  readonly unknown: readonly Planned[];
  /** What several resources could be. */
  readonly ambiguous: readonly { readonly planned: Planned; readonly ids: readonly string[] }[];
  /** IDs of what carries the hub's tags, and `pulumi up` does not use. */
  readonly left: readonly string[];
}

/** Types whose ID AWS gives, told by the tag Name. */
const taggedKinds: Readonly<Record<string, ManagedKind>> = {
  "aws:ec2/eip:Eip": "EIP",
  "aws:ec2/internetGateway:InternetGateway": "InternetGateway",
  "aws:ec2/launchTemplate:LaunchTemplate": "LaunchTemplate",
  "aws:ec2/natGateway:NatGateway": "NATGateway",
  "aws:ec2/routeTable:RouteTable": "RouteTable",
  "aws:ec2/subnet:Subnet": "Subnet",
  "aws:ec2/vpc:Vpc": "VPC",
  "aws:ec2/vpcEndpoint:VpcEndpoint": "VPCEndpoint",
};

/** Types with a name of their own, which AWS is asked for. */
const namedTypes = [
  "aws:cloudwatch/logGroup:LogGroup",
  "aws:iam/policy:Policy",
  "aws:iam/role:Role",
  "aws:iam/rolePolicy:RolePolicy",
  "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
  "aws:kms/alias:Alias",
  "aws:secretsmanager/secret:Secret",
] as const;
export type NamedType = (typeof namedTypes)[number];

export const isNamed = (type: string): type is NamedType => (namedTypes as readonly string[]).includes(type);

/**
 * What `pulumi up` makes anew in any case: what is gone with the cluster, and values, which are in no state any more.
 */
const madeAnew = /^(?!aws:)|^aws:(eks|vpc)\/|^aws:iam\/openIdConnectProvider:|^aws:secretsmanager\/secretVersion:/;

/** IDs that a resource could have; undefined for a type that this can't look for. */
type Candidates = (planned: Planned) => readonly string[] | undefined;

function candidatesIn(all: readonly Planned[], { tagged, named, defaultGroups }: HubInAws): Candidates {
  const byUrn = new Map(all.map((each) => [each.urn, each]));
  /** The only ID of the resource that an input comes from. */
  const idFrom = ({ from }: Planned, input: string): string | undefined => {
    const source = byUrn.get(from[input]?.[0] ?? "");
    const ids = source === undefined ? [] : (candidates(source) ?? []);
    return ids.length === 1 ? ids[0] : undefined;
  };
  const some = (id: string | undefined): readonly string[] => (id === undefined ? [] : [id]);
  const tableOf = (planned: Planned): Tagged | undefined => {
    const id = idFrom(planned, "routeTableId");
    return tagged.find((each) => each.kind === "RouteTable" && each.id === id);
  };
  const derived: Readonly<Record<string, (planned: Planned) => string | undefined>> = {
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": (planned) => defaultGroups[idFrom(planned, "vpcId") ?? ""],
    "aws:ec2/route:Route": (planned) => {
      const table = tableOf(planned);
      const to = String(planned.inputs["destinationCidrBlock"]);
      return table?.routes?.includes(to) ? `${table.id}_${to}` : undefined;
    },
    "aws:ec2/routeTableAssociation:RouteTableAssociation": (planned) => {
      const table = tableOf(planned);
      const subnet = idFrom(planned, "subnetId") ?? "";
      return table?.associations?.[subnet] === undefined ? undefined : `${subnet}/${table.id}`;
    },
    "aws:kms/key:Key": ({ urn }) => {
      const alias = all.find(({ type, from }) => type === "aws:kms/alias:Alias" && from["targetKeyId"]?.[0] === urn);
      return named.get(alias?.urn ?? "")?.key;
    },
  };
  const candidates: Candidates = (planned) => {
    const { inputs, type, urn } = planned;
    const kind = taggedKinds[type];
    if (kind !== undefined) {
      const name = (inputs["tags"] as { readonly Name?: string } | undefined)?.Name;
      return tagged.filter((each) => each.kind === kind && each.tags["Name"] === name).map(({ id }) => id);
    }
    if (isNamed(type)) return some(named.get(urn)?.id);
    const of = derived[type];
    return of && some(of(planned));
  };
  return candidates;
}

/** Tells what AWS has of what `pulumi up` would make. */
export function locate(all: readonly Planned[], inAws: HubInAws): Located {
  const candidates = candidatesIn(all, inAws);
  const looked = all
    .filter(({ type }) => !madeAnew.test(type))
    .map((planned) => ({ planned, ids: candidates(planned) }));
  const used = new Set(looked.flatMap(({ ids }) => ids ?? []));
  return {
    found: looked.flatMap(({ planned, ids = [] }) => (ids.length === 1 ? [{ planned, id: ids[0] as string }] : [])),
    missing: looked.flatMap(({ planned, ids }) => (ids?.length === 0 ? [planned] : [])),
    unknown: looked.flatMap(({ planned, ids }) => (ids === undefined ? [planned] : [])),
    ambiguous: looked.flatMap(({ planned, ids = [] }) => (ids.length > 1 ? [{ planned, ids }] : [])),
    left: [...inAws.tagged.map(({ id }) => id).filter((id) => !used.has(id)), ...inAws.oidcProviders],
  };
}
