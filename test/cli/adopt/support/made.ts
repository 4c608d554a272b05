import type { InAws, Tagged } from "../../../../cli/adopt/aws.ts";
import type { Subject } from "../../../../cli/adopt/recognize.ts";
import { numberedResources } from "../../../../functions/spoke/existing.ts";
import { at, type KubeObject, textAt } from "../../../../functions/spoke/kube.ts";
import { isOnlyObserved } from "../../../../functions/spoke/orphan.ts";
import { identityTag, type Tags } from "../../../../lib/labels.ts";
import type { World } from "../../../functions/spoke/support/world.ts";

/** What AWS has of a spoke that a hub has made, as the Composition describes it. */

export const idOf = ({ status }: KubeObject): string => textAt(status, "atProvider", "id") ?? "";
const forProvider = ({ spec }: KubeObject) => at(spec, "forProvider") as Record<string, unknown>;
const withTags = [
  ...["VPC", "Subnet", "InternetGateway", "RouteTable", "EIP", "NATGateway", "VPCEndpoint", "FlowLog"],
  ...["TransitGatewayVPCAttachment", "LaunchTemplate", "Key"],
];

/** The resources of one spoke; IDs are those that the simulation gives. */
export function inAwsOf(world: World): InAws {
  const objects = [...world.live.values()].map(({ object }) => object);
  const of = (kind: string) => objects.filter((object) => object.kind === kind);
  const blocks = of("VPCIPv4CidrBlockAssociation").map((each) => [String(forProvider(each)["cidrBlock"]), idOf(each)]);
  const associations = of("RouteTableAssociation").map((object) => ({ id: idOf(object), ...forProvider(object) }));
  const tagged = objects
    .filter((object) => withTags.includes(object.kind) && !isOnlyObserved(object))
    .map((object): Tagged => {
      const { availabilityZone, cidrBlock, tags } = forProvider(object);
      const id = idOf(object);
      const own = associations.filter((each) => at(each, "routeTableId") === id);
      return {
        ...{ kind: object.kind as Tagged["kind"], id, tags: tags as Tags },
        ...{ cidr: cidrBlock as string | undefined, zone: availabilityZone as string | undefined },
        ...(object.kind === "VPC" ? { blocks: Object.fromEntries(blocks) } : {}),
        associations: Object.fromEntries(own.map((each) => [String(at(each, "subnetId")), each.id])),
      };
    });
  const cluster = of("Cluster")[0] as KubeObject;
  const rules = of("SecurityGroupIngressRule").map((object) => [String(forProvider(object)["cidrIpv4"]), idOf(object)]);
  const podIdentities = of("PodIdentityAssociation").map((object) => [
    (forProvider(object)["tags"] as Tags)[identityTag],
    idOf(object),
  ]);
  return {
    account: "000000000000",
    tagged,
    cluster: {
      tags: forProvider(cluster)["tags"] as Tags,
      version: world.spoke.spec.kubernetesVersion,
      vpcId: idOf(of("VPC")[0] as KubeObject),
      isAuto: world.spoke.spec.compute === "auto",
      key: idOf(of("Key")[0] as KubeObject),
      oidcProvider: "arn:aws:iam::000000000000:oidc-provider/oidc.example/id/BLUE",
      nodeGroups: of("NodeGroup").map(idOf),
      podIdentities: Object.fromEntries(podIdentities),
      rules: Object.fromEntries(rules),
    },
  };
}

export const subjectOf = ({ spoke }: World): Subject => ({
  ...{ spoke: spoke.metadata.name, fleet: "fleet", prefix: "fleet-spoke-", spec: spoke.spec },
});

/** Keys of what the simulation made that AWS numbers. */
export const numberedKeys = (world: World): string[] =>
  [...world.live]
    .filter(([key, { object }]) => Object.hasOwn(numberedResources, key) && !isOnlyObserved(object))
    .map(([key]) => key)
    .sort();
