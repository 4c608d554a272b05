import { atProvider, reportedStatus } from "../../../../cli/diff/providers.ts";
import { at, condition, type KubeObject } from "../../../../functions/spoke/kube.ts";

type Status = Record<string, unknown>;

const text = (value: unknown, ...path: (string | number)[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
};
const account = ({ spec }: KubeObject) =>
  at(spec, "providerConfigRef", "kind") === "ProviderConfig" ? "111111111111" : "000000000000";

/** Fields of `forProvider` that name another resource, with the field of that resource's status that they must equal. */
const references: Readonly<Record<string, readonly [field: string, kinds: readonly string[]][]>> = {
  Subnet: [["vpcId", ["VPC"]]],
  InternetGateway: [["vpcId", ["VPC"]]],
  RouteTable: [["vpcId", ["VPC"]]],
  Route: [
    ["routeTableId", ["RouteTable"]],
    ["gatewayId", ["InternetGateway"]],
    ["natGatewayId", ["NATGateway"]],
  ],
  RouteTableAssociation: [
    ["routeTableId", ["RouteTable"]],
    ["subnetId", ["Subnet"]],
  ],
  TransitGatewayVPCAttachment: [["vpcId", ["VPC"]]],
  VPCEndpoint: [["vpcId", ["VPC"]]],
  VPCEndpointRouteTableAssociation: [
    ["routeTableId", ["RouteTable"]],
    ["vpcEndpointId", ["VPCEndpoint"]],
  ],
  VPCIPv4CidrBlockAssociation: [["vpcId", ["VPC"]]],
  VPCEndpointSecurityGroupAssociation: [["vpcEndpointId", ["VPCEndpoint"]]],
  VPCEndpointSubnetAssociation: [
    ["subnetId", ["Subnet"]],
    ["vpcEndpointId", ["VPCEndpoint"]],
  ],
  NATGateway: [
    ["subnetId", ["Subnet"]],
    ["allocationId", ["EIP"]],
  ],
};

function checkReferences(key: string, object: KubeObject, all: ReadonlyMap<string, KubeObject>): void {
  for (const [field, kinds] of references[object.kind] ?? []) {
    const id = at(object.spec, "forProvider", field);
    if (typeof id !== "string") continue;
    const found = [...all.values()].some(
      (other) => kinds.includes(other.kind) && text(other.status, "atProvider", "id") === id,
    );
    if (!found) throw new Error(`${key}: ${field} ${id} is no ${kinds.join(" or ")} that exists`);
  }
}

/** What the controller of an object's kind says of it once it has done its work. */
export function reported(key: string, object: KubeObject, all: ReadonlyMap<string, KubeObject>): Status {
  return {
    ...reportedStatus(object, () => {
      if (object.status === undefined) checkReferences(key, object, all);
      return atProvider(key, object, account(object), "fleet");
    }),
  };
}

/** Whether an endpoint has network interfaces. */
const isInterface = (key: string): boolean => !/^endpoint-(s3|dynamodb)$/.test(key);

/** What has to be gone before something else: a kind, keys, or what a function says of an object and its key. */
type Rule = string | RegExp | ((key: string, object: KubeObject) => boolean);

/** Whether the nodes are what the creation of an add-on waits for: without them it goes on until its timeout. */
const isUnfinished = (key: string, object: KubeObject): boolean =>
  ["addon-coredns", "addon-aws-ebs-csi-driver"].includes(key) && condition(object, "Ready")?.status !== "True";

/** Kinds and keys that must be gone before AWS, EKS or Flux let something go: the order that the design asks for. */
function blockers(key: string, object: KubeObject): readonly Rule[] {
  const untilBootstrapIsGone = ["Kustomization"];
  switch (object.kind) {
    case "VPC":
      return [
        ...["Subnet", "InternetGateway", "RouteTable", "VPCEndpoint", "FlowLog", "Cluster"],
        "VPCIPv4CidrBlockAssociation",
      ];
    case "VPCIPv4CidrBlockAssociation":
      return [/^subnet-pod/];
    case "Subnet":
      return ["NATGateway", "RouteTableAssociation", "Cluster", "NodeGroup", "TransitGatewayVPCAttachment"];
    case "TransitGatewayVPCAttachment":
      return [/^route-private-\d-to/, "NodeGroup", ...untilBootstrapIsGone];
    case "InternetGateway":
      return ["EIP", "NATGateway"];
    case "EIP":
      return ["NATGateway"];
    case "NATGateway":
      return [/^route-private/, "NodeGroup", ...untilBootstrapIsGone];
    case "RouteTable":
      return ["Route", "RouteTableAssociation", "VPCEndpointRouteTableAssociation"];
    case "VPCEndpoint":
      return isInterface(key) ? ["NodeGroup", ...untilBootstrapIsGone] : ["VPCEndpointRouteTableAssociation"];
    case "VPCEndpointSecurityGroupAssociation":
    case "VPCEndpointSubnetAssociation":
      return ["NodeGroup", ...untilBootstrapIsGone];
    case "Route":
    case "RouteTableAssociation":
    case "VPCEndpointRouteTableAssociation":
      return ["NodeGroup", "Cluster", ...untilBootstrapIsGone];
    case "Cluster":
      return [
        ...[
          ...["NodeGroup", "Addon", "PodIdentityAssociation", "AccessEntry"],
          ...["AccessPolicyAssociation", "VPCEndpointSecurityGroupAssociation"],
        ],
        ...["VPCEndpointSubnetAssociation", /^endpoint-(?!s3|dynamodb)/, ...untilBootstrapIsGone],
      ];
    case "Role":
      return (
        {
          "role-cluster": [/^attachment-cluster/, "Cluster"],
          "role-node": [/^attachment-node/, "NodeGroup"],
        }[key] ?? [...untilBootstrapIsGone, new RegExp(`^(attachment|policy)-${key.slice("role-".length)}`)]
      );
    case "Addon":
      return isUnfinished(key, object) ? untilBootstrapIsGone : ["NodeGroup"];
    case "LaunchTemplate":
      return ["NodeGroup"];
    case "FlowLog":
    case "Key":
      return ["Cluster"];
    case "Group":
      return key === "flow-log-group" ? ["FlowLog"] : ["Cluster"];
    case "ConfigMap":
      return key.startsWith("network-") ? ["VPC"] : untilBootstrapIsGone;
    case "AccessEntry":
      return ["AccessPolicyAssociation", ...untilBootstrapIsGone];
    case "Secret":
    case "PodIdentityAssociation":
    case "ClusterAuth":
    case "AccessPolicyAssociation":
    case "RolePolicy":
    case "OpenIDConnectProvider":
      return untilBootstrapIsGone;
    case "NodeGroup":
      return [...untilBootstrapIsGone, isUnfinished];
    case "Usage":
      return [/^(?!deletion-guard$)/];
    default:
      return [];
  }
}

/** Keys of what still exists although it must be gone before `key`. */
export function mustOutlive(key: string, object: KubeObject, all: ReadonlyMap<string, KubeObject>): string[] {
  const rules = blockers(key, object);
  const meets = (otherKey: string, other: KubeObject) => (rule: Rule) => {
    if (typeof rule === "function") return rule(otherKey, other);
    return typeof rule === "string" ? rule === other.kind : rule.test(otherKey);
  };
  return [...all].flatMap(([otherKey, other]) =>
    otherKey !== key && rules.some(meets(otherKey, other)) ? [otherKey] : [],
  );
}
