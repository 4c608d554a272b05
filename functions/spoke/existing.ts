import { flowLogTraffic, type Spoke } from "./api.ts";
import { gatewayServices, interfaceServices } from "./endpoints.ts";
import type { ManagedKind } from "./kinds.ts";
import { resources, sides } from "./resources.ts";

/**
 * What of a spoke AWS numbers itself, so that a name does not find it again: the provider makes it anew unless it is told the ID as the
 * external name. Everything else (clusters, roles, log groups, access entries …) it finds by names and ARNs that follow from the Spoke
 * (crossplane-contrib/provider-upjet-aws, config/externalname.go: these kinds are IdentifierFromProvider, and the others not).
 */
interface Numbered {
  readonly kind: ManagedKind;
  /** Regular expression of its ID; the definition has the same. */
  readonly form: string;
}

const numbered = (kind: ManagedKind, prefix: string): Numbered => ({ kind, form: `^${prefix}-[0-9a-f]{8,17}$` });

const places = [0, 1, 2] as const;
const subnets = sides.flatMap((side) => places.map((zone) => ({ side, zone })));
const tables = ["public", ...places.map((zone) => `private-${zone}` as const)] as const;

/** By composition resource name: the fields of `spec.existing`, without rules of the private endpoint and further node groups. */
export const numberedResources: Readonly<Record<string, Numbered>> = {
  [resources.vpc.key]: numbered("VPC", "vpc"),
  [resources.podBlock.key]: numbered("VPCIPv4CidrBlockAssociation", "vpc-cidr-assoc"),
  [resources.internetGateway.key]: numbered("InternetGateway", "igw"),
  [resources.transitGateway.key]: numbered("TransitGatewayVPCAttachment", "tgw-attach"),
  ...Object.fromEntries([
    ...subnets.map(({ side, zone }) => [resources.subnet(side, zone).key, numbered("Subnet", "subnet")]),
    ...subnets.map(({ side, zone }) => [
      resources.association(side, zone).key,
      numbered("RouteTableAssociation", "rtbassoc"),
    ]),
    ...places.flatMap((zone) => [
      [resources.podSubnet(zone).key, numbered("Subnet", "subnet")],
      [resources.podAssociation(zone).key, numbered("RouteTableAssociation", "rtbassoc")],
    ]),
    ...tables.map((table) => [resources.routeTable(table).key, numbered("RouteTable", "rtb")]),
    ...places.map((zone) => [resources.address(zone).key, numbered("EIP", "eipalloc")]),
    ...places.map((zone) => [resources.natGateway(zone).key, numbered("NATGateway", "nat")]),
  ]),
  ...Object.fromEntries(
    [...gatewayServices.map(resources.gatewayEndpoint), ...interfaceServices.map(resources.interfaceEndpoint)].map(
      ({ key }) => [key, numbered("VPCEndpoint", "vpce")],
    ),
  ),
  ...Object.fromEntries(flowLogTraffic.map((traffic) => [resources.flowLog(traffic).key, numbered("FlowLog", "fl")])),
  [resources.key.key]: { kind: "Key", form: "^(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$" },
  [resources.launchTemplate.key]: numbered("LaunchTemplate", "lt"),
  [resources.oidcProvider.key]: {
    kind: "OpenIDConnectProvider",
    form: "^arn:aws[-a-z]*:iam::[0-9]{12}:oidc-provider/[-A-Za-z0-9./]+$",
  },
};

/** Field of `spec.existing` with the rules that let networks in to the private endpoint, by network. */
export const ruleField = "api-from";
/** Field of `spec.existing` with the associations of EKS Pod Identity, by their names here: `addon-external-dns`. */
export const podIdentitiesField = "pod-identities";
/** Form of the ID of such an association. */
export const podIdentityForm = "^a-[0-9a-z]{1,38}$";
/** Field of `spec.existing` with the launch templates of further node groups, by group. */
export const templatesField = "launch-templates";
/** Form of the ID of such a launch template. */
export const templateForm = numbered("LaunchTemplate", "lt").form;
/** Form of the ID of such a rule. */
export const ruleForm = numbered("SecurityGroupIngressRule", "sgr").form;

/** IDs in AWS by composition resource name. */
export function existingIds({ spec: { existing } }: Pick<Spoke, "spec">): ReadonlyMap<string, string> {
  const {
    [ruleField]: rules = {},
    [templatesField]: templates = {},
    [podIdentitiesField]: podIdentities = {},
    madeBy: _,
    ...others
  } = existing ?? {};
  return new Map([
    ...(Object.entries(others) as [string, string][]),
    ...Object.entries(rules).map(([cidr, id]): [string, string] => [resources.apiRule(cidr).key, id]),
    ...Object.entries(podIdentities).map(([name, id]): [string, string] => [resources.podIdentity(name).key, id]),
    ...Object.entries(templates).map(([group, id]): [string, string] => [resources.furtherTemplate(group).key, id]),
  ]);
}
