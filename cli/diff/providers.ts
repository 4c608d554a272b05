import { accessStepId } from "../../functions/spoke/hub-access.ts";
import { at, type KubeObject } from "../../functions/spoke/kube.ts";
import { isOnlyObserved } from "../../functions/spoke/orphan.ts";
import { noPath } from "../../lib/iam/policy.ts";
import { crossplaneAnnotations, labelKeys, sharedNetworkTag } from "../../lib/labels.ts";
import { spokeApi } from "../../lib/spoke.ts";

/** Simulates what AWS reports about composed resources: the observed state of a spoke without a record. */

type Status = Readonly<Record<string, unknown>>;

const text = (value: unknown, ...path: (string | number)[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
};
const externalName = ({ metadata }: KubeObject) => metadata.annotations?.[crossplaneAnnotations.externalName];

/** Number of nodes in AWS: the value of `initProvider` counted when the group was made, and later changes of it have no effect. */
const scaling = ({ spec, status }: KubeObject) => ({
  ...(at(spec, "initProvider", "scalingConfig") ?? {}),
  ...(at(status, "atProvider", "scalingConfig") ?? {}),
  ...(at(spec, "forProvider", "scalingConfig") ?? {}),
});

/** Version of a control plane: `initProvider` applies at its creation only. */
const version = ({ spec, status }: KubeObject) =>
  at(spec, "forProvider", "version") ?? at(status, "atProvider", "version") ?? at(spec, "initProvider", "version");

/** A subnet of somebody else, in a zone of its own. */
const sharedSubnet = (key: string, object: KubeObject, fleet: string): Status => ({
  id: externalName(object),
  vpcId: text(object.spec, "forProvider", "vpcId"),
  availabilityZone: `${text(object.spec, "forProvider", "region")}${"abcdef".charAt(Number(key.split("-").at(-1)))}`,
  tags: { [sharedNetworkTag]: fleet },
});

/**
 * What AWS reports about the resource `key`, once it has carried out what `object` specifies.
 * @param account ID of the account that the resource is in
 * @param fleet for which a network of somebody else is taken to be shared, as spokes need it
 */
export function atProvider(key: string, object: KubeObject, account: string, fleet: string): Status {
  const spec = at(object.spec, "forProvider") as Record<string, unknown>;
  const name = externalName(object);
  const region = text(spec, "region");
  switch (object.kind) {
    case "Role":
      return { id: name, arn: `arn:aws:iam::${account}:role${text(spec, "path") || noPath}${name ?? ""}` };
    case "Key":
      return { id: "key-1", keyId: "key-1", arn: `arn:aws:kms:${region}:${account}:key/key-1` };
    case "EIP":
      return { id: `eipalloc-${key}`, allocationId: `eipalloc-${key}`, publicIp: `203.0.113.${key.slice(-1)}` };
    case "NATGateway":
      return { id: `natgateway-${key}`, publicIp: `203.0.113.${key.slice(-1)}` };
    case "LaunchTemplate":
      return { id: key === "launch-template" ? "lt-1" : `lt-${key}`, latestVersion: object.metadata.generation };
    case "OpenIDConnectProvider":
      return { id: key, arn: `arn:aws:iam::${account}:oidc-provider/${text(spec, "url").replace("https://", "")}` };
    case "NodeGroup": {
      // A release that is no longer specified stays.
      const releaseVersion = spec["releaseVersion"] ?? at(object.status, "atProvider", "releaseVersion");
      return {
        id: name,
        version: spec["version"],
        status: "ACTIVE",
        scalingConfig: scaling(object),
        ...(releaseVersion === undefined ? {} : { releaseVersion }),
        instanceTypes: spec["instanceTypes"],
        amiType: spec["amiType"],
        capacityType: spec["capacityType"],
      };
    }
    case "AccessEntry":
      return { id: key, kubernetesGroups: spec["kubernetesGroups"] };
    case "Addon":
      return { id: key, addonVersion: spec["addonVersion"] ?? "v1.0.0-eksbuild.1" };
    case "Cluster":
      return {
        id: name,
        arn: `arn:aws:eks:${region}:${account}:cluster/${name}`,
        endpoint: "https://100.64.254.2",
        status: "ACTIVE",
        version: version(object),
        vpcConfig: {
          ...(spec["vpcConfig"] as object),
          clusterSecurityGroupId: "sg-cluster",
          ...(isOnlyObserved(object) ? { vpcId: "vpc-made-elsewhere" } : {}),
        },
        certificateAuthority: [{ data: Buffer.from("-----BEGIN CERTIFICATE-----\nCA\n").toString("base64") }],
        identity: [{ oidc: [{ issuer: `https://oidc.eks.${region}.amazonaws.com/id/${"A".repeat(32)}` }] }],
      };
    case "Group":
      return { id: name, arn: `arn:aws:logs:${region}:${account}:log-group:${name}` };
    case "VPC":
      if (spec["cidrBlock"] === undefined)
        return { id: name, cidrBlock: "10.0.0.0/16", tags: { [sharedNetworkTag]: fleet } };
      return { id: isOnlyObserved(object) ? name : `vpc-${key}`, cidrBlock: spec["cidrBlock"] };
    case "Subnet":
      return isOnlyObserved(object) ? sharedSubnet(key, object, fleet) : { id: `subnet-${key}` };
    default:
      return { id: `${object.kind.toLowerCase()}-${key}` };
  }
}

/** The status of an object once its controller has done its work: `provided` is what AWS reports of it. */
export function reportedStatus(object: KubeObject, provided: () => Status): Status {
  if (object.kind === "ConfigMap" || object.kind === "Secret") return {};
  const ready = { type: "Ready", status: "True", reason: "Available" };
  if (object.kind === "Usage") return { conditions: [ready] };
  if (object.kind === "Kustomization") {
    const id = accessStepId(object.metadata.labels?.[labelKeys.cluster] ?? "", spokeApi.namespace);
    const inventory = { entries: [{ id, v: "v1" }] };
    return { observedGeneration: object.metadata.generation, conditions: [ready], inventory };
  }
  return { atProvider: provided(), conditions: [{ type: "Synced", status: "True" }, ready] };
}
