import type { Puller } from "../../lib/names.ts";
import type { SpokeIdentity } from "../../lib/spoke.ts";
import type { AnyEksAddon, FlowLogTraffic } from "./api.ts";
import type { GatewayService, InterfaceService } from "./endpoints.ts";
import type { Group } from "./groups.ts";
import type { TeamAccess } from "./teams.ts";

/** Public subnets have a route to the internet gateway. */
export const sides = ["public", "private"] as const;
export type Side = (typeof sides)[number];
/** What has a route table of its own: the public subnets together, the private ones by zone. */
export type Table = "public" | `private-${number}`;

type Dashed<Text extends string> = Text extends `${infer Head}_${infer Tail}` ? `${Head}-${Dashed<Tail>}` : Text;
/** With hyphens in place of the underscores of the bridge's keys. */
export const dashed = <const Text extends string>(text: Text) => text.replaceAll("_", "-") as Dashed<Text>;

type Undotted<Text extends string> = Text extends `${infer Head}.${infer Tail}` ? `${Head}-${Tail}` : Text;
const undotted = <const Text extends string>(text: Text) => text.replace(".", "-") as Undotted<Text>;

/** The roles of a spoke, as the boundary knows them: those of EKS itself, and one for each controller and add-on that acts in AWS. */
export type RoleName = "cluster" | "node" | "flow-logs" | Dashed<SpokeIdentity | Puller> | `addon-${string}`;

export const addonRoleName = (addon: string): RoleName => `addon-${dashed(addon)}`;

/** Groups of a role and of its policies. */
const roleGroups = { cluster: ["clusterRole", "clusterPolicies"], node: ["nodeRole", "nodePolicies"] } as const;
const groupsOf = (role: RoleName): readonly [role: Group, policies: Group] =>
  role === "cluster" || role === "node" ? roleGroups[role] : ["identityRoles", "identityPolicies"];

const slug = (policyName: string): string => dashed(policyName.replace(/^.*\//, "").toLowerCase());

/** Name of the claim on a network. */
export type ClaimKey = `network-${string}`;

const row = <Of extends Group, const Name extends string>(group: Of, key: Name) => ({ group, key });

/**
 * Every resource that a Spoke is composed of: its group, and its key, which Crossplane calls the composition resource name. A key is
 * never changed: under another one Crossplane would make the resource again, and delete what is there.
 */
export const resources = {
  claim: (key: ClaimKey) => row("claim", key),
  vpc: row("vpc", "vpc"),
  /** It goes with its VPC: the provider only stops managing it. */
  defaultGroup: row("vpc", "default-security-group"),
  internetGateway: row("internetGateway", "internet-gateway"),
  subnet: (side: Side, zone: number) => row("subnets", `subnet-${side}-${zone}`),
  routeTable: (table: Table) => row("routeTables", `route-table-${table}`),
  association: (side: Side, zone: number) => row("routes", `association-${side}-${zone}`),
  route: (table: Table) => row("routes", `route-${table}`),
  podBlock: row("podBlock", "pod-block"),
  podSubnet: (zone: number) => row("subnets", `subnet-pod-${zone}`),
  podAssociation: (zone: number) => row("routes", `association-pod-${zone}`),
  /** The attachment of the VPC to the transit gateway, and the routes through it. */
  transitGateway: row("transitGateway", "transit-gateway"),
  transitRoute: (cidr: string, zone: number) =>
    row("routes", `route-private-${zone}-to-${cidr.replaceAll(/[./]/g, "-")}`),
  address: (zone: number) => row("addresses", `address-${zone}`),
  natGateway: (zone: number) => row("natGateways", `nat-${zone}`),
  gatewayEndpoint: (service: GatewayService) => row("endpoints", `endpoint-${service}`),
  gatewayRoute: (service: GatewayService, table: Table) => row("routes", `endpoint-${service}-${table}`),
  interfaceEndpoint: (service: InterfaceService) => row("interfaceEndpoints", `endpoint-${undotted(service)}`),
  endpointSubnet: (service: InterfaceService, zone: number) =>
    row("interfaceEndpoints", `endpoint-${undotted(service)}-subnet-${zone}`),
  endpointGroup: (service: InterfaceService) => row("interfaceEndpoints", `endpoint-${undotted(service)}-group`),

  /** By the traffic that it tells, which AWS can't change. */
  flowLog: (traffic: FlowLogTraffic) =>
    row("flowLogs", `flow-log-${traffic.toLowerCase() as Lowercase<FlowLogTraffic>}`),
  flowLogGroup: row("flowLogGroup", "flow-log-group"),

  role: (role: RoleName) => row(groupsOf(role)[0], `role-${role}`),
  attachment: (role: RoleName, policyName: string) => row(groupsOf(role)[1], `attachment-${role}-${slug(policyName)}`),
  rolePolicy: (role: RoleName) => row(groupsOf(role)[1], `policy-${role}`),
  /** The association by which the pods of a service account get a role: by the role's name, or the account's where a role has several. */
  podIdentity: (name: string) => row("podIdentities", `pod-identity-${name}`),

  key: row("key", "key"),
  keyAlias: row("key", "key-alias"),
  logs: row("logs", "logs"),
  cluster: row("cluster", "cluster"),
  apiRule: (cidr: string) => row("apiRules", `api-from-${cidr.replaceAll(/[./]/g, "-")}`),

  addon: (name: AnyEksAddon) => row("addons", `addon-${name}`),

  launchTemplate: row("launchTemplate", "launch-template"),
  /** Of a further group of `spec.nodeGroups`, by its name. */
  furtherTemplate: (group: string) => row("launchTemplate", `launch-template-${group}`),
  /** By the digest of its fields; that of a cluster that is made elsewhere has none. */
  nodeGroup: (digest?: string) => row("nodeGroup", digest === undefined ? "node-group" : `node-group-${digest}`),
  furtherGroup: (group: string, digest: string) => row("nodeGroup", `node-group-${group}-${digest}`),

  oidcProvider: row("oidcProvider", "oidc-provider"),
  /** Access of a controller on the hub, by its name in the hub's cluster secret. */
  hubEntry: (identity: string) => row("accessEntries", `access-entry-${dashed(identity)}`),
  hubAdmin: (identity: string) => row("hubAdmin", `access-policy-${dashed(identity)}`),
  /**
   * Entry of an administrator or a team's member, by a digest of the ARN: one key for both, because somebody who changes from one to
   * the other keeps the entry.
   */
  adminEntry: (digest: string) => row("accessEntries", `access-entry-admin-${digest}`),
  adminPolicy: (digest: string) => row("accessPolicies", `access-policy-admin-${digest}`),

  /** Access of a team's member, by a digest of the ARN; EKS has one association for each access policy of an entry. */
  teamPolicy: (access: TeamAccess, digest: string) => row("accessPolicies", `access-policy-team-${access}-${digest}`),

  /** Access of Argo CD on the hub, and the Kustomization that writes its cluster secret. */
  argocdEntry: row("accessEntries", "access-entry-argocd"),
  argocdPolicy: row("accessPolicies", "access-policy-argocd"),
  argocdCluster: row("argocd", "argocd"),

  kubeConfig: row("handover", "kubeconfig"),
  clusterAuth: row("handover", "cluster-auth"),
  clusterSecret: row("handover", "cluster-secret"),
  bootstrap: row("bootstrap", "bootstrap"),
} as const;

type Made<Row> = Row extends (...args: never) => infer Resource ? Resource : Row;

/** One of {@link resources}. */
export type Resource = Made<(typeof resources)[keyof typeof resources]>;
/** Composition resource name. */
export type Key = Resource["key"];
