import type { ManagedKind } from "../../functions/spoke/kinds.ts";
import type { Tagged } from "../adopt/aws.ts";
import type { Planned } from "./preview.ts";

/** Under which ID `pulumi import` finds what AWS has. The forms are those of the section "Import" of each type in the Pulumi Registry. */

/** What AWS has of a resource. */
interface Candidate {
  /** ID for `pulumi import`. */
  readonly id: string;
  /** Why `pulumi up` can't use it as it is, and what to do first. */
  readonly unusable?: string;
}

/** What AWS has under the name that the program gives. */
export interface Named extends Candidate {
  /** Of an alias: ID of its key. */
  readonly key?: string;
  /** Of a sealing key's secret: its public certificate in PEM. */
  readonly certificate?: string;
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
  /** Workspaces with its tags, by their types. */
  readonly workspaces: Readonly<Partial<Record<WorkspaceType, readonly string[]>>>;
  /** ARNs of the rules in the workspaces of metrics, and the IDs of those that have an alert manager. */
  readonly inMetrics: { readonly rules: readonly string[]; readonly alertManagers: readonly string[] };
  /** ID of each VPC's default security group, by the VPC's. */
  readonly defaultGroups: Readonly<Record<string, string>>;
  /** ARNs of the IAM OIDC providers with its tags: of a cluster that is gone, and of no use to another one. */
  readonly oidcProviders: readonly string[];
}

export interface Located {
  /** What AWS has, with the ID for `pulumi import`. */
  readonly found: readonly (Candidate & { readonly planned: Planned })[];
  /** What AWS does not have: `pulumi up` makes it. */
  readonly missing: readonly Planned[];
  /** What this can't look for: types that a hub had not when this was written. */
  readonly unknown: readonly Planned[];
  /** What several resources could be. */
  readonly ambiguous: readonly { readonly planned: Planned; readonly ids: readonly string[] }[];
  /** What carries the hub's tags, and `pulumi up` does not use: IDs, with the kind. */
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

/** Types with neither a name nor a tag Name, told by the hub's tags. */
export const workspaceTypes = ["aws:amp/workspace:Workspace", "aws:grafana/workspace:Workspace"] as const;
export type WorkspaceType = (typeof workspaceTypes)[number];

const isWorkspace = (type: string): type is WorkspaceType => (workspaceTypes as readonly string[]).includes(type);

/**
 * What `pulumi up` makes anew in any case: what is gone with the cluster, values, which are in no state any more, and what is put over what is
 * there.
 */
const madeAnew =
  /^(?!aws:)|^aws:(eks|vpc)\/|^aws:iam\/openIdConnectProvider:|^aws:secretsmanager\/secret(Version|Policy):|^aws:kms\/keyPolicy:|^aws:grafana\/roleAssociation:/;

/** What a resource could be; undefined for a type that this can't look for. */
type Candidates = (planned: Planned) => readonly Candidate[] | undefined;

const nameTag = ({ inputs }: Planned): string | undefined =>
  (inputs["tags"] as { readonly Name?: string } | undefined)?.Name;

/** What to do about a key that AWS is about to delete. */
export const keepKey = (key: string): string =>
  `AWS is about to delete it: aws kms cancel-key-deletion --key-id ${key}, then aws kms enable-key --key-id ${key}`;

function candidatesIn(all: readonly Planned[], inAws: HubInAws): Candidates {
  const { tagged, named, workspaces, inMetrics, defaultGroups } = inAws;
  const byUrn = new Map(all.map((each) => [each.urn, each]));
  /** The only ID of the resource that an input comes from. */
  const idFrom = ({ from }: Planned, input: string): string | undefined => {
    const source = byUrn.get(from[input]?.[0] ?? "");
    const ids = source === undefined ? [] : (candidates(source) ?? []);
    return ids.length === 1 ? ids[0]?.id : undefined;
  };
  const some = (id: string | undefined): readonly Candidate[] => (id === undefined ? [] : [{ id }]);
  const tableOf = (planned: Planned): Tagged | undefined => {
    const id = idFrom(planned, "routeTableId");
    return tagged.find((each) => each.kind === "RouteTable" && each.id === id);
  };
  const derived: Readonly<Record<string, Candidates>> = {
    "aws:amp/alertManagerDefinition:AlertManagerDefinition": (planned) => {
      const workspace = idFrom(planned, "workspaceId");
      return some(inMetrics.alertManagers.find((id) => id === workspace));
    },
    "aws:amp/ruleGroupNamespace:RuleGroupNamespace": (planned) => {
      const own = `/${idFrom(planned, "workspaceId")}/${String(planned.inputs["name"])}`;
      return some(inMetrics.rules.find((arn) => arn.endsWith(own)));
    },
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": (planned) =>
      some(defaultGroups[idFrom(planned, "vpcId") ?? ""]),
    "aws:ec2/route:Route": (planned) => {
      const table = tableOf(planned);
      const to = String(planned.inputs["destinationCidrBlock"]);
      return some(table?.routes?.includes(to) ? `${table.id}_${to}` : undefined);
    },
    "aws:ec2/routeTableAssociation:RouteTableAssociation": (planned) => {
      const table = tableOf(planned);
      const subnet = idFrom(planned, "subnetId") ?? "";
      return some(table?.associations?.[subnet] === undefined ? undefined : `${subnet}/${table.id}`);
    },
    // By its alias, or by its tags: whoever deletes both deletes the alias first.
    "aws:kms/key:Key": (planned) => {
      const alias = all.find(
        ({ type, from }) => type === "aws:kms/alias:Alias" && from["targetKeyId"]?.[0] === planned.urn,
      );
      const { key, unusable } = named.get(alias?.urn ?? "") ?? {};
      if (key !== undefined) return [{ id: key, ...(unusable !== undefined && { unusable }) }];
      return tagged.flatMap(({ kind, id, tags, leaving }) =>
        kind === "Key" && tags["Name"] === nameTag(planned) ? [{ id, ...(leaving && { unusable: keepKey(id) }) }] : [],
      );
    },
  };
  const candidates: Candidates = (planned) => {
    const { type, urn } = planned;
    const kind = taggedKinds[type];
    if (kind !== undefined)
      return tagged.filter(
        (each) => each.kind === kind && each.failed === undefined && each.tags["Name"] === nameTag(planned),
      );
    if (isNamed(type)) return [named.get(urn) ?? []].flat();
    if (isWorkspace(type)) return (workspaces[type] ?? []).map((id) => ({ id }));
    return derived[type]?.(planned);
  };
  return candidates;
}

/** Tells what AWS has of what `pulumi up` would make. */
export function locate(all: readonly Planned[], inAws: HubInAws): Located {
  const candidates = candidatesIn(all, inAws);
  const looked = all
    .filter(({ type }) => !madeAnew.test(type))
    .map((planned) => ({ planned, those: candidates(planned) }));
  const used = new Set(looked.flatMap(({ those = [] }) => those.map(({ id }) => id)));
  return {
    found: looked.flatMap(({ planned, those = [] }) => {
      const [one, ...others] = those;
      if (one === undefined || others.length > 0) return [];
      const { id, unusable } = one;
      return [{ id, planned, ...(unusable !== undefined && { unusable }) }];
    }),
    missing: looked.flatMap(({ planned, those }) => (those?.length === 0 ? [planned] : [])),
    unknown: looked.flatMap(({ planned, those }) => (those === undefined ? [planned] : [])),
    ambiguous: looked.flatMap(({ planned, those = [] }) =>
      those.length > 1 ? [{ planned, ids: those.map(({ id }) => id) }] : [],
    ),
    left: [
      ...inAws.tagged.filter(({ id }) => !used.has(id)).map(({ kind, id }) => `${kind} ${id}`),
      ...inAws.oidcProviders.map((arn) => `OpenIdConnectProvider ${arn}`),
    ],
  };
}
