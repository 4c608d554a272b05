import { type QueryPlace, queryApi } from "./query-api.ts";

/** The Auto Scaling group that EKS makes for a node group. */
export interface ScalingGroup {
  readonly name: string;
  readonly minSize: number;
  readonly maxSize: number;
  readonly desiredSize: number;
  readonly subnets: readonly string[];
  readonly zones: readonly string[];
  /** Tags that it has from the start, and gives to its instances. */
  readonly tags: Readonly<Record<string, string>>;
  readonly instances: readonly { readonly id: string; readonly zone: string }[];
  /** Those of them that run, as EC2 tells of them. */
  readonly nodes: readonly NodeInstance[];
}

/** A node as an instance of EC2. */
interface NodeInstance {
  readonly id: string;
  readonly zone: string;
  readonly subnet: string;
  readonly address: string;
  /** Block of its pods' addresses. */
  readonly pods: string;
  /** Its security group. */
  readonly group: string;
}

type Fields = Readonly<Record<string, string | number>>;

const members = (name: string, values: readonly string[]): Fields =>
  Object.fromEntries(values.map((value, at) => [`${name}.member.${at + 1}`, value]));

function parametersOf(group: ScalingGroup): Fields {
  const { minSize, maxSize, desiredSize, subnets, zones, tags, instances, nodes } = group;
  const tagged = Object.entries(tags).map(([key, value], at) => {
    const tag = `Tags.member.${at + 1}`;
    return { [`${tag}.Key`]: key, [`${tag}.Value`]: value, [`${tag}.PropagateAtLaunch`]: "true" };
  });
  return Object.assign(
    { MinSize: minSize, MaxSize: maxSize, DesiredCapacity: desiredSize, VPCZoneIdentifier: subnets.join(",") },
    members("AvailabilityZones", zones),
    members(
      "Instances.Id",
      instances.map(({ id }) => id),
    ),
    members(
      "Instances.Zone",
      instances.map(({ zone }) => zone),
    ),
    ...(["id", "zone", "subnet", "address", "pods", "group"] as const).map((field) =>
      members(
        `Nodes.${(field[0] ?? "").toUpperCase()}${field.slice(1)}`,
        nodes.map((node) => node[field]),
      ),
    ),
    ...tagged,
  );
}

/** Keeps the groups of node groups in ministack, by its Query API: the SDK has no call that names a group's instances. */
export function scalingGroups(place: QueryPlace) {
  const call = queryApi(place, "autoscaling", "2011-01-01");
  return {
    /** Makes or changes the group; the tags of one that is there stay as they are. */
    keepScalingGroup: (group: ScalingGroup) =>
      call("KeepNodegroup", { AutoScalingGroupName: group.name, ...parametersOf(group) }),
    /** Removes the group, where there is one. */
    removeScalingGroup: (name: string) => call("DeleteAutoScalingGroup", { AutoScalingGroupName: name }),
  };
}
