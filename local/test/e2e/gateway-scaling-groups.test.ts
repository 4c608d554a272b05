import { join } from "node:path";
import { waitUntilNodegroupActive, waitUntilNodegroupDeleted } from "@aws-sdk/client-eks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../../instance/index.ts";
import { ensureToolchain } from "../../toolchain/index.ts";
import {
  adminApi,
  allow,
  arnOf,
  type Clients,
  type GatewayCloud,
  startGatewayCloud,
  trustOf,
} from "../support/gateway.ts";

const wait = { maxWaitTime: 240, minDelay: 1, maxDelay: 1 };
const group = { clusterName: "one", nodegroupName: "main" };
const ofEks = {
  "eks:cluster-name": "one",
  "eks:nodegroup-name": "main",
  "k8s.io/cluster-autoscaler/enabled": "true",
  "k8s.io/cluster-autoscaler/one": "owned",
  "kubernetes.io/cluster/one": "owned",
};

let cloud: GatewayCloud;
let aws: string;
beforeAll(async () => {
  cloud = await startGatewayCloud();
  aws = (await ensureToolchain()).bin("aws");
  await cloud.cluster("one");
});
afterAll(() => cloud.remove());

/** A call of Auto Scaling by the aws CLI, as `by`. */
async function autoscaling({ credentials }: Clients, ...args: string[]) {
  const env = {
    PATH: `${join(aws, "..")}:${process.env["PATH"] ?? ""}`,
    HOME: cloud.instance.dir,
    AWS_ENDPOINT_URL: cloud.instance.awsEndpoint,
    AWS_DEFAULT_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: credentials?.accessKeyId ?? "",
    AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? "",
    ...(credentials?.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: credentials.sessionToken }),
  };
  const said = await run([aws, "autoscaling", ...args, "--output", "json"], { env });
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
    const { iam, eks } = cloud.deployer;
    const AssumeRolePolicyDocument = trustOf({ Service: "ec2.amazonaws.com" });
    await iam.createRole({ RoleName: "node", AssumeRolePolicyDocument });
    const scalingConfig = { minSize: 1, desiredSize: 1, maxSize: 3 };
    const subnets = await cloud.subnets();
    await eks.createNodegroup({ ...group, nodeRole: arnOf("role/node"), subnets, scalingConfig });
    await waitUntilNodegroupActive({ client: eks, ...wait }, group);
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
    const { eks } = cloud.deployer;
    const scalingConfig = { minSize: 1, desiredSize: 2, maxSize: 3 };
    await eks.updateNodegroupConfig({ ...group, scalingConfig });
    await waitUntilNodegroupActive({ client: eks, ...wait }, group);
    const [scaled] = await groups();
    expect(scaled).toMatchObject({ AutoScalingGroupName: name, DesiredCapacity: 2 });
    expect(tagsOf(scaled)).toEqual({ ...ofEks, team: "payments" });
    expect(instancesOf(scaled)).toEqual(await providerIds());
    expect(scaled.Instances).toHaveLength(2);
  });

  test("goes with the node group", async () => {
    const { eks } = cloud.deployer;
    await eks.deleteNodegroup(group);
    await waitUntilNodegroupDeleted({ client: eks, ...wait }, group);
    expect(await groups()).toEqual([]);
  });
});
