import { at, type KubeObject } from "../../../../functions/spoke/kube.ts";

type Status = Record<string, unknown>;

const text = (value: unknown, ...path: (string | number)[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
};
const externalName = ({ metadata }: KubeObject) => metadata.annotations?.["crossplane.io/external-name"];
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

/** What AWS reports of a resource that it was asked for. */
function atProvider(key: string, object: KubeObject): Status {
  const spec = at(object.spec, "forProvider") as Record<string, unknown>;
  const name = externalName(object);
  const role = (id: string) => `arn:aws:iam::${account(object)}:role/${id}`;
  switch (object.kind) {
    case "Role":
      return { id: name, arn: role(name ?? "") };
    case "Key":
      return { id: "key-1", keyId: "key-1", arn: `arn:aws:kms:${text(spec, "region")}:${account(object)}:key/key-1` };
    case "EIP":
      return { id: `eipalloc-${key}`, allocationId: `eipalloc-${key}`, publicIp: `203.0.113.${key.slice(-1)}` };
    case "LaunchTemplate":
      return { id: "lt-1", latestVersion: object.metadata.generation };
    case "OpenIDConnectProvider":
      return {
        id: key,
        arn: `arn:aws:iam::${account(object)}:oidc-provider/${text(spec, "url").replace("https://", "")}`,
      };
    case "NodeGroup":
      return { id: name, version: spec["version"], status: "ACTIVE" };
    case "Addon":
      return { id: key, addonVersion: spec["addonVersion"] ?? "v1.0.0-eksbuild.1" };
    case "Cluster":
      return {
        id: name,
        arn: `arn:aws:eks:${text(spec, "region")}:${account(object)}:cluster/${name}`,
        endpoint: "https://100.64.254.2",
        status: "ACTIVE",
        version: spec["version"],
        certificateAuthority: [{ data: Buffer.from("-----BEGIN CERTIFICATE-----\nCA\n").toString("base64") }],
        identity: [
          { oidc: [{ issuer: `https://oidc.eks.${text(spec, "region")}.amazonaws.com/id/${"A".repeat(32)}` }] },
        ],
      };
    default:
      return { id: `${object.kind.toLowerCase()}-${key}` };
  }
}

/** What the controller of an object's kind says of it once it has done its work. */
export function reported(key: string, object: KubeObject, all: ReadonlyMap<string, KubeObject>): Status {
  if (object.kind === "ConfigMap" || object.kind === "Secret") return {};
  const ready = { type: "Ready", status: "True", reason: "Available" };
  if (object.kind === "Usage") return { conditions: [ready] };
  if (object.kind === "Kustomization") return { observedGeneration: object.metadata.generation, conditions: [ready] };
  if (object.status === undefined) checkReferences(key, object, all);
  return { atProvider: atProvider(key, object), conditions: [{ type: "Synced", status: "True" }, ready] };
}

/** Kinds and keys that must be gone before AWS, EKS or Flux let something go: the order that the design asks for. */
function blockers(key: string, { kind }: KubeObject): readonly (string | RegExp)[] {
  const untilBootstrapIsGone = ["Kustomization"];
  switch (kind) {
    case "VPC":
      return ["Subnet", "InternetGateway", "RouteTable", "Cluster"];
    case "Subnet":
      return ["NATGateway", "RouteTableAssociation", "Cluster", "NodeGroup"];
    case "InternetGateway":
      return ["EIP", "NATGateway"];
    case "EIP":
      return ["NATGateway"];
    case "NATGateway":
      return [/^route-private/, "NodeGroup", ...untilBootstrapIsGone];
    case "RouteTable":
      return ["Route", "RouteTableAssociation"];
    case "Route":
    case "RouteTableAssociation":
      return ["NodeGroup", "Cluster", ...untilBootstrapIsGone];
    case "Cluster":
      return ["NodeGroup", "Addon", "AccessEntry", "AccessPolicyAssociation", ...untilBootstrapIsGone];
    case "Role":
      return (
        {
          "role-cluster": [/^attachment-cluster/, "Cluster"],
          "role-node": [/^attachment-node/, "NodeGroup"],
        }[key] ?? [...untilBootstrapIsGone, new RegExp(`^(attachment|policy)-${key.slice("role-".length)}`)]
      );
    case "LaunchTemplate":
      return ["NodeGroup"];
    case "Key":
    case "Group":
      return ["Cluster"];
    case "ConfigMap":
      return key.startsWith("network-") ? ["VPC"] : untilBootstrapIsGone;
    case "AccessEntry":
      return ["AccessPolicyAssociation", ...untilBootstrapIsGone];
    case "Secret":
    case "ClusterAuth":
    case "AccessPolicyAssociation":
    case "RolePolicy":
    case "OpenIDConnectProvider":
    case "NodeGroup":
      return untilBootstrapIsGone;
    case "Usage":
      return [/^(?!deletion-guard$)/];
    default:
      return [];
  }
}

/** Keys of what still exists although it must be gone before `key`. */
export function mustOutlive(key: string, object: KubeObject, all: ReadonlyMap<string, KubeObject>): string[] {
  const rules = blockers(key, object);
  return [...all].flatMap(([otherKey, other]) =>
    otherKey !== key && rules.some((rule) => (typeof rule === "string" ? rule === other.kind : rule.test(otherKey)))
      ? [otherKey]
      : [],
  );
}
