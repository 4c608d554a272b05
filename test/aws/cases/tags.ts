import {
  paginateDescribeInstances,
  paginateDescribeNetworkInterfaces,
  paginateDescribeVolumes,
  type Tag,
} from "@aws-sdk/client-ec2";
import type { ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { DescribeTagsCommand, paginateDescribeLoadBalancers } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Tags } from "../../../lib/labels.ts";
import type { Cluster } from "../../support/cluster.ts";
import type { Account } from "../../support/inventory.ts";

/** The tags of a resource in AWS. */
export interface Tagged {
  readonly id: string;
  readonly tags: readonly Pick<Tag, "Key" | "Value">[] | undefined;
}

/** What lacks a tag, each with the tags that it has. */
export const untagged = (found: readonly Tagged[], wanted: Tags): string[] =>
  found.flatMap(({ id, tags = [] }) => {
    const has = ([key, value]: [string, string]) => tags.some(({ Key, Value }) => Key === key && Value === value);
    if (Object.entries(wanted).every(has)) return [];
    return [`${id}: ${tags.map(({ Key, Value }) => `${Key}=${Value}`).join(", ") || "no tags"}`];
  });

/** The nodes of a cluster, by the tag that EKS sets, with what is attached to them. */
export async function nodeResources({ ec2 }: Account, clusterName: string) {
  const instances: Tagged[] = [];
  const running = { Name: "instance-state-name", Values: ["pending", "running"] };
  const ofCluster = { Name: "tag:eks:cluster-name", Values: [clusterName] };
  for await (const { Reservations = [] } of paginateDescribeInstances(
    { client: ec2 },
    { Filters: [running, ofCluster] },
  ))
    for (const { Instances = [] } of Reservations)
      instances.push(...Instances.map(({ InstanceId = "", Tags }) => ({ id: InstanceId, tags: Tags })));
  const attached = { Filters: [{ Name: "attachment.instance-id", Values: instances.map(({ id }) => id) }] };
  const volumes: Tagged[] = [];
  for await (const { Volumes = [] } of paginateDescribeVolumes({ client: ec2 }, attached))
    volumes.push(...Volumes.map(({ VolumeId = "", Tags }) => ({ id: VolumeId, tags: Tags })));
  const interfaces: Tagged[] = [];
  for await (const { NetworkInterfaces = [] } of paginateDescribeNetworkInterfaces({ client: ec2 }, attached))
    interfaces.push(
      ...NetworkInterfaces.map(({ NetworkInterfaceId = "", TagSet }) => ({ id: NetworkInterfaceId, tags: TagSet })),
    );
  return { instances, volumes, interfaces };
}

/** The load balancers with one of these DNS names. */
export async function loadBalancers(client: ElasticLoadBalancingV2Client, hosts: readonly string[]): Promise<Tagged[]> {
  const arns: string[] = [];
  for await (const { LoadBalancers = [] } of paginateDescribeLoadBalancers({ client }, {}))
    for (const { DNSName = "", LoadBalancerArn = "" } of LoadBalancers)
      if (hosts.includes(DNSName)) arns.push(LoadBalancerArn);
  if (arns.length === 0) return [];
  const { TagDescriptions = [] } = await client.send(new DescribeTagsCommand({ ResourceArns: arns }));
  return TagDescriptions.map(({ ResourceArn = "", Tags }) => ({ id: ResourceArn, tags: Tags }));
}

const name = "fleet-proof-volume";

/** A claim, and a pod that uses it: the EBS CSI driver creates the volume where the pod runs. */
const claimWithPod = [
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "pause",
          image: "registry.k8s.io/pause:3.10",
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
          volumeMounts: [{ name: "data", mountPath: "/data" }],
        },
      ],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
    },
  },
];

/** Runs `check` while a pod of the cluster has an EBS volume, and removes both. */
export async function withVolume({ kubectl }: Cluster, seconds: number, check: () => Promise<void>): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: claimWithPod });
  const inDefault = ["--namespace", "default"];
  await kubectl(["apply", ...inDefault, "--filename", "-"], { input });
  try {
    await kubectl(["wait", `pod/${name}`, ...inDefault, "--for=condition=Ready", `--timeout=${seconds}s`]);
    await check();
  } finally {
    await kubectl(["delete", `pod/${name}`, `pvc/${name}`, ...inDefault, "--wait", `--timeout=${seconds}s`]);
  }
}
