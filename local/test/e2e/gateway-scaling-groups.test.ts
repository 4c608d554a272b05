import { describe, expect, test } from "vitest";
import { run } from "../../instance/index.ts";
import { ensureToolchain } from "../../toolchain/index.ts";
import {
  adminApi,
  allow,
  type Clients,
  cliEnvironment,
  cloud,
  createNodeGroup,
  createNodeRole,
  eks,
  useGatewayCloud,
  wait,
} from "../support/gateway.ts";

const group = { clusterName: "one", nodegroupName: "main" };
const ofEks = {
  "eks:cluster-name": "one",
  "eks:nodegroup-name": "main",
  "k8s.io/cluster-autoscaler/enabled": "true",
  "k8s.io/cluster-autoscaler/one": "owned",
  "kubernetes.io/cluster/one": "owned",
};

let aws: string;
useGatewayCloud(async () => {
  aws = (await ensureToolchain()).bin("aws");
  await cloud.cluster("one");
});

/** A call of Auto Scaling by the aws CLI, as `by`. */
async function autoscaling(by: Clients, ...args: string[]) {
  const said = await run([aws, "autoscaling", ...args, "--output", "json"], { env: cliEnvironment(aws, by) });
  return said.trim() === "" ? {} : JSON.parse(said);
}
const groups = async () => (await autoscaling(cloud.deployer, "describe-auto-scaling-groups")).AutoScalingGroups;
const tagsOf = ({ Tags }: { Tags: { Key: string; Value: string }[] }) =>
  Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]));
const providerIds = async () =>
  (await adminApi(cloud.instance, "one").listNode()).items.map(({ spec }) => spec?.providerID).sort();
const instancesOf = (scaling: { Instances: { AvailabilityZone: string; InstanceId: string }[] }) =>
  scaling.Instances.map(({ AvailabilityZone, InstanceId }) => `aws:///${AvailabilityZone}/${InstanceId}`).sort();

describe("the Auto Scaling group of a node group", () => {
  test("has EKS's tags, which instances get, the sizes of the node group, and its nodes as instances", async () => {
    await createNodeRole();
    const subnets = await cloud.subnets();
    await createNodeGroup(group, { scalingConfig: { minSize: 1, desiredSize: 1, maxSize: 3 } });
    const { nodegroup } = await eks.describeNodegroup(group);
    const found = await groups();
    expect(found).toMatchObject([
      {
        AutoScalingGroupName: nodegroup?.resources?.autoScalingGroups?.[0]?.name,
        ...{ MinSize: 1, DesiredCapacity: 1, MaxSize: 3, VPCZoneIdentifier: subnets.join(",") },
      },
    ]);
    expect(tagsOf(found[0])).toEqual(ofEks);
    expect(found[0].Tags.every(({ PropagateAtLaunch }: { PropagateAtLaunch: boolean }) => PropagateAtLaunch)).toBe(
      true,
    );
    expect(instancesOf(found[0])).toEqual(await providerIds());
  });

  test("is tagged by who may tag groups of this cluster, and by nobody else; what was added stays when it is scaled", async () => {
    const [{ AutoScalingGroupName: name }] = await groups();
    const tagger = (role: string, clusters: string) => {
      const Condition = { StringLike: { "aws:ResourceTag/eks:cluster-name": clusters } };
      const Resource = "arn:aws:autoscaling:us-east-1:000000000000:autoScalingGroup:*";
      return cloud.roleWith(role, allow({ Action: "autoscaling:CreateOrUpdateTags", Resource, Condition }));
    };
    const tag = (of: string) =>
      `ResourceId=${of},ResourceType=auto-scaling-group,Key=team,Value=payments,PropagateAtLaunch=true`;
    const add = async (by: Clients, ...names: string[]) =>
      autoscaling(by, "create-or-update-tags", "--tags", ...names.map(tag));
    await expect(add(await tagger("other", "two*"), name)).rejects.toThrow("AccessDenied");
    const own = await tagger("own", "one*");
    await expect(add(own, name, "another")).rejects.toThrow("AccessDenied");
    expect(tagsOf((await groups())[0])).toEqual(ofEks);
    await add(own, name);
    const scalingConfig = { minSize: 1, desiredSize: 2, maxSize: 3 };
    await eks.updateNodegroupConfig({ ...group, scalingConfig });
    await eks.waitUntilNodegroupActive(group, wait);
    const [scaled] = await groups();
    expect(scaled).toMatchObject({ AutoScalingGroupName: name, DesiredCapacity: 2 });
    expect(tagsOf(scaled)).toEqual({ ...ofEks, team: "payments" });
    expect(instancesOf(scaled)).toEqual(await providerIds());
    expect(scaled.Instances).toHaveLength(2);
  });

  test("goes with the node group", async () => {
    await eks.deleteNodegroup(group);
    await eks.waitUntilNodegroupDeleted(group, wait);
    expect(await groups()).toEqual([]);
  });
});
