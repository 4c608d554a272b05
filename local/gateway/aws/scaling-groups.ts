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
}

interface Place {
  /** URL of ministack. */
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string };
  readonly region: string;
}

type Fields = Readonly<Record<string, string | number>>;

const members = (name: string, values: readonly string[]): Fields =>
  Object.fromEntries(values.map((value, at) => [`${name}.member.${at + 1}`, value]));

function parametersOf(group: ScalingGroup): Fields {
  const { minSize, maxSize, desiredSize, subnets, zones, tags, instances } = group;
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
    ...tagged,
  );
}

/** Keeps the groups of node groups in ministack, by its Query API: the SDK has no call that names a group's instances. */
export function scalingGroups({ endpoint, credentials, region }: Place) {
  const call = async (action: string, name: string, parameters: Fields = {}): Promise<void> => {
    const fields = { Action: action, Version: "2011-01-01", AutoScalingGroupName: name, ...parameters };
    const day = new Date().toISOString().slice(0, 10).replaceAll("-", "");
    // ministack checks no signature of its root: only the key id counts.
    const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${day}/${region}/autoscaling/aws4_request, SignedHeaders=host, Signature=unused`;
    const body = new URLSearchParams(
      Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
    );
    const answer = await fetch(endpoint, { method: "POST", headers: { authorization }, body });
    const text = await answer.text();
    if (!answer.ok)
      throw new Error(`ministack refused ${action} of Auto Scaling group ${name}: ${answer.status} ${text}`);
  };
  return {
    /** Makes or changes the group; the tags of one that is there stay as they are. */
    keepScalingGroup: (group: ScalingGroup) => call("KeepNodegroup", group.name, parametersOf(group)),
    /** Removes the group, where there is one. */
    removeScalingGroup: (name: string) => call("DeleteAutoScalingGroup", name),
  };
}
