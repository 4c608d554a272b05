import {
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  CreateSecurityGroupCommand,
  DeleteInternetGatewayCommand,
  DeleteNetworkInterfaceCommand,
  DeleteSecurityGroupCommand,
  DeleteSubnetCommand,
  DescribeNetworkInterfacesCommand,
  DescribeSubnetsCommand,
  DetachInternetGatewayCommand,
  type EC2Client,
  type NetworkInterface,
} from "@aws-sdk/client-ec2";
import * as classic from "@aws-sdk/client-elastic-load-balancing";
import * as v2 from "@aws-sdk/client-elastic-load-balancing-v2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allow, type Clients, type GatewayCloud, outcome, startGatewayCloud } from "../support/gateway.ts";

/** Load balancers as records: what they hold in a VPC, and who may do what with them. */

let cloud: GatewayCloud;
let ec2: EC2Client;
let subnet: string;
let vpc: string;
beforeAll(async () => {
  cloud = await startGatewayCloud();
  ({ ec2 } = cloud.deployer);
  [subnet = ""] = await cloud.subnets();
  const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({ SubnetIds: [subnet] }));
  vpc = Subnets[0]?.VpcId ?? "";
});
afterAll(() => cloud.remove());

function balancing({ credentials }: Clients) {
  const config = { endpoint: cloud.instance.awsEndpoint, region: "us-east-1", ...(credentials && { credentials }) };
  return {
    classic: new classic.ElasticLoadBalancingClient(config),
    v2: new v2.ElasticLoadBalancingV2Client(config),
  };
}

const tagged = (tags: Readonly<Record<string, string>>) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

async function interfaces(): Promise<readonly NetworkInterface[]> {
  const { NetworkInterfaces = [] } = await ec2.send(new DescribeNetworkInterfacesCommand({}));
  return NetworkInterfaces.filter(({ SubnetId }) => SubnetId === subnet);
}

async function makeGroup(GroupName: string): Promise<string> {
  const made = await ec2.send(new CreateSecurityGroupCommand({ GroupName, VpcId: vpc, Description: GroupName }));
  return made.GroupId ?? "";
}

async function makeNetworkBalancer(
  Name: string,
  tags: Readonly<Record<string, string>>,
  by = cloud.deployer,
): Promise<string> {
  const { LoadBalancers = [] } = await balancing(by).v2.send(
    new v2.CreateLoadBalancerCommand({
      ...{ Name, Type: "network", Scheme: "internal", Subnets: [subnet] },
      Tags: tagged(tags),
    }),
  );
  return LoadBalancers[0]?.LoadBalancerArn ?? "";
}

test("a load balancer's interfaces keep its subnet, security group and internet gateway, a while longer than it is there", async () => {
  const elb = balancing(cloud.deployer).classic;
  const group = await makeGroup("k8s-elb-shop");
  const { InternetGateway } = await ec2.send(new CreateInternetGatewayCommand({}));
  const InternetGatewayId = InternetGateway?.InternetGatewayId;
  await ec2.send(new AttachInternetGatewayCommand({ InternetGatewayId, VpcId: vpc }));
  await elb.send(
    new classic.CreateLoadBalancerCommand({
      ...{ LoadBalancerName: "shop", Subnets: [subnet], SecurityGroups: [group], Listeners: [] },
      Tags: tagged({ "kubernetes.io/cluster/blue": "owned" }),
    }),
  );
  const [found] = await interfaces();
  expect(found).toMatchObject({
    ...{ Description: "ELB shop", RequesterId: "amazon-elb", RequesterManaged: true, Status: "in-use" },
    ...{ Association: { PublicIp: expect.any(String) }, Groups: [{ GroupId: group }] },
  });
  const removing = () =>
    Promise.all([
      outcome(ec2.send(new DetachInternetGatewayCommand({ InternetGatewayId, VpcId: vpc }))),
      outcome(ec2.send(new DeleteInternetGatewayCommand({ InternetGatewayId }))),
      outcome(ec2.send(new DeleteSecurityGroupCommand({ GroupId: group }))),
      outcome(ec2.send(new DeleteSubnetCommand({ SubnetId: subnet }))),
    ]);
  const held = Array.from({ length: 4 }, () => "DependencyViolation");
  expect(await removing()).toEqual(held);
  const { NetworkInterfaceId } = found ?? {};
  expect(await outcome(ec2.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId })))).toBe(
    "InvalidParameterValue",
  );

  await elb.send(new classic.DeleteLoadBalancerCommand({ LoadBalancerName: "shop" }));
  expect((await elb.send(new classic.DescribeLoadBalancersCommand({}))).LoadBalancerDescriptions).toEqual([]);
  expect(await removing()).toEqual(held);
  await expect.poll(interfaces, { timeout: 30_000 }).toEqual([]);
  await ec2.send(new DetachInternetGatewayCommand({ InternetGatewayId, VpcId: vpc }));
  await ec2.send(new DeleteInternetGatewayCommand({ InternetGatewayId }));
  await ec2.send(new DeleteSecurityGroupCommand({ GroupId: group }));
});

test("classic load balancers are no application or network ones, and the other way round", async () => {
  const { classic: elb, v2: elbV2 } = balancing(cloud.deployer);
  const arn = await makeNetworkBalancer("net", { a: "b" });
  expect(arn).toContain(":loadbalancer/net/net/");
  await elb.send(
    new classic.CreateLoadBalancerCommand({
      LoadBalancerName: "old",
      Subnets: [subnet],
      Listeners: [],
      Tags: tagged({ c: "d" }),
    }),
  );
  const { LoadBalancers } = await elbV2.send(new v2.DescribeLoadBalancersCommand({}));
  expect(LoadBalancers).toMatchObject([{ LoadBalancerArn: arn, VpcId: vpc, Type: "network" }]);
  const { LoadBalancerDescriptions } = await elb.send(new classic.DescribeLoadBalancersCommand({}));
  expect(LoadBalancerDescriptions).toMatchObject([{ LoadBalancerName: "old", VPCId: vpc, Subnets: [subnet] }]);
  const tags = await elb.send(new classic.DescribeTagsCommand({ LoadBalancerNames: ["old"] }));
  expect(tags.TagDescriptions).toEqual([{ LoadBalancerName: "old", Tags: [{ Key: "c", Value: "d" }] }]);
  await elb.send(new classic.DeleteLoadBalancerCommand({ LoadBalancerName: "old" }));
  await elbV2.send(new v2.DeleteLoadBalancerCommand({ LoadBalancerArn: arn }));
});

test("a target group goes after the load balancer that uses it, and a protected load balancer stays", async () => {
  const elb = balancing(cloud.deployer).v2;
  const LoadBalancerArn = await makeNetworkBalancer("shop", {});
  const made = await elb.send(new v2.CreateTargetGroupCommand({ Name: "shop", VpcId: vpc, Protocol: "TCP", Port: 80 }));
  const TargetGroupArn = made.TargetGroups?.[0]?.TargetGroupArn ?? "";
  const DefaultActions = [{ Type: "forward" as const, TargetGroupArn }];
  await elb.send(new v2.CreateListenerCommand({ LoadBalancerArn, Protocol: "TCP", Port: 80, DefaultActions }));
  const removing = () => outcome(elb.send(new v2.DeleteLoadBalancerCommand({ LoadBalancerArn })));
  const protect = (Value: string) =>
    elb.send(
      new v2.ModifyLoadBalancerAttributesCommand({
        LoadBalancerArn,
        Attributes: [{ Key: "deletion_protection.enabled", Value }],
      }),
    );
  expect(await outcome(elb.send(new v2.DeleteTargetGroupCommand({ TargetGroupArn })))).toBe("ResourceInUseException");
  await protect("true");
  expect(await removing()).toBe("OperationNotPermittedException");
  await protect("false");
  expect(await removing()).toBe("allowed");
  expect(await outcome(elb.send(new v2.DeleteTargetGroupCommand({ TargetGroupArn })))).toBe("allowed");
});

test("rights to load balancers are bound to their tags, and those that come with a new one need a right too", async () => {
  const own = { "elbv2.k8s.aws/cluster": "blue" };
  const asked = { StringEquals: { "aws:RequestTag/elbv2.k8s.aws/cluster": "blue" } };
  const creating = "elasticloadbalancing:CreateLoadBalancer";
  const maker = await cloud.roleWith("maker", allow({ Action: creating, Condition: asked }));
  expect(await outcome(makeNetworkBalancer("blue", own, maker))).toBe("AccessDenied");
  const tagging = await cloud.roleWith(
    "tagging",
    allow({ Action: [creating, "elasticloadbalancing:AddTags"], Condition: asked }),
  );
  expect(await outcome(makeNetworkBalancer("green", { ...own, "elbv2.k8s.aws/cluster": "green" }, tagging))).toBe(
    "AccessDenied",
  );
  const [blue, green] = [
    await makeNetworkBalancer("blue", own, tagging),
    await makeNetworkBalancer("green", { "elbv2.k8s.aws/cluster": "green" }),
  ];
  await balancing(cloud.deployer).classic.send(
    new classic.CreateLoadBalancerCommand({
      ...{ LoadBalancerName: "blue", Subnets: [subnet], Listeners: [] },
      Tags: tagged({ "kubernetes.io/service-name": "shop/web" }),
    }),
  );
  const Action = "elasticloadbalancing:DeleteLoadBalancer";
  const sweeper = await cloud.roleWith(
    "sweeper",
    allow({ Action, Condition: { StringEquals: { "aws:ResourceTag/elbv2.k8s.aws/cluster": "blue" } } }),
  );
  const removing = (by: Clients, LoadBalancerArn: string) =>
    outcome(balancing(by).v2.send(new v2.DeleteLoadBalancerCommand({ LoadBalancerArn })));
  const removingClassic = (by: Clients) =>
    outcome(balancing(by).classic.send(new classic.DeleteLoadBalancerCommand({ LoadBalancerName: "blue" })));
  expect([await removing(sweeper, green), await removingClassic(sweeper)]).toEqual(["AccessDenied", "AccessDenied"]);
  expect(await removing(sweeper, blue)).toBe("allowed");
  const classicSweeper = await cloud.roleWith(
    "classic-sweeper",
    allow({ Action, Condition: { Null: { "aws:ResourceTag/kubernetes.io/service-name": "false" } } }),
  );
  expect([await removing(classicSweeper, green), await removingClassic(classicSweeper)]).toEqual([
    "AccessDenied",
    "allowed",
  ]);
  await removing(cloud.deployer, green);
});
