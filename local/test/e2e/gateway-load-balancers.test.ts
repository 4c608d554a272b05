import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { NetworkInterface } from "@aws-sdk/client-ec2";
import * as classic from "@aws-sdk/client-elastic-load-balancing";
import * as v2 from "@aws-sdk/client-elastic-load-balancing-v2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../../instance/command.ts";
import { allow, type Clients, cloud, configOf, ec2, outcome, useGatewayCloud } from "../support/gateway.ts";

/** Load balancers: what they hold in a VPC, who may do what with them, and what application load balancers pass on to whom. */

let subnet: string;
let vpc: string;
useGatewayCloud(async () => {
  [subnet = ""] = await cloud.subnets();
  const { Subnets = [] } = await ec2.describeSubnets({ SubnetIds: [subnet] });
  vpc = Subnets[0]?.VpcId ?? "";
});

const balancing = (by: Clients) => ({
  classic: new classic.ElasticLoadBalancing(configOf(by)),
  v2: new v2.ElasticLoadBalancingV2(configOf(by)),
});

const tagged = (tags: Readonly<Record<string, string>>) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

async function interfaces(): Promise<readonly NetworkInterface[]> {
  const { NetworkInterfaces = [] } = await ec2.describeNetworkInterfaces({});
  return NetworkInterfaces.filter(({ SubnetId }) => SubnetId === subnet);
}

async function makeGroup(GroupName: string): Promise<string> {
  const made = await ec2.createSecurityGroup({ GroupName, VpcId: vpc, Description: GroupName });
  return made.GroupId ?? "";
}

async function makeNetworkBalancer(
  Name: string,
  tags: Readonly<Record<string, string>>,
  by = cloud.deployer,
): Promise<string> {
  const { LoadBalancers = [] } = await balancing(by).v2.createLoadBalancer({
    ...{ Name, Type: "network", Scheme: "internal", Subnets: [subnet] },
    Tags: tagged(tags),
  });
  return LoadBalancers[0]?.LoadBalancerArn ?? "";
}

test("a load balancer's interfaces keep its subnet, security group and internet gateway, a while longer than it is there", async () => {
  const elb = balancing(cloud.deployer).classic;
  const group = await makeGroup("k8s-elb-shop");
  const { InternetGateway } = await ec2.createInternetGateway({});
  const InternetGatewayId = InternetGateway?.InternetGatewayId;
  await ec2.attachInternetGateway({ InternetGatewayId, VpcId: vpc });
  await elb.createLoadBalancer({
    ...{ LoadBalancerName: "shop", Subnets: [subnet], SecurityGroups: [group], Listeners: [] },
    Tags: tagged({ "kubernetes.io/cluster/blue": "owned" }),
  });
  const [found] = await interfaces();
  expect(found).toMatchObject({
    ...{ Description: "ELB shop", RequesterId: "amazon-elb", RequesterManaged: true, Status: "in-use" },
    ...{ Association: { PublicIp: expect.any(String) }, Groups: [{ GroupId: group }] },
  });
  const removing = () =>
    Promise.all([
      outcome(ec2.detachInternetGateway({ InternetGatewayId, VpcId: vpc })),
      outcome(ec2.deleteInternetGateway({ InternetGatewayId })),
      outcome(ec2.deleteSecurityGroup({ GroupId: group })),
      outcome(ec2.deleteSubnet({ SubnetId: subnet })),
    ]);
  const held = Array.from({ length: 4 }, () => "DependencyViolation");
  expect(await removing()).toEqual(held);
  const { NetworkInterfaceId } = found ?? {};
  expect(await outcome(ec2.deleteNetworkInterface({ NetworkInterfaceId }))).toBe("InvalidParameterValue");

  await elb.deleteLoadBalancer({ LoadBalancerName: "shop" });
  expect((await elb.describeLoadBalancers({})).LoadBalancerDescriptions).toEqual([]);
  expect(await removing()).toEqual(held);
  await expect.poll(interfaces, { timeout: 30_000 }).toEqual([]);
  await ec2.detachInternetGateway({ InternetGatewayId, VpcId: vpc });
  await ec2.deleteInternetGateway({ InternetGatewayId });
  await ec2.deleteSecurityGroup({ GroupId: group });
});

test("classic load balancers are no application or network ones, and the other way round", async () => {
  const { classic: elb, v2: elbV2 } = balancing(cloud.deployer);
  const arn = await makeNetworkBalancer("net", { a: "b" });
  expect(arn).toContain(":loadbalancer/net/net/");
  await elb.createLoadBalancer({ LoadBalancerName: "old", Subnets: [subnet], Listeners: [], Tags: tagged({ c: "d" }) });
  const { LoadBalancers } = await elbV2.describeLoadBalancers({});
  expect(LoadBalancers).toMatchObject([{ LoadBalancerArn: arn, VpcId: vpc, Type: "network" }]);
  const { LoadBalancerDescriptions } = await elb.describeLoadBalancers({});
  expect(LoadBalancerDescriptions).toMatchObject([{ LoadBalancerName: "old", VPCId: vpc, Subnets: [subnet] }]);
  const tags = await elb.describeTags({ LoadBalancerNames: ["old"] });
  expect(tags.TagDescriptions).toEqual([{ LoadBalancerName: "old", Tags: [{ Key: "c", Value: "d" }] }]);
  await elb.deleteLoadBalancer({ LoadBalancerName: "old" });
  await elbV2.deleteLoadBalancer({ LoadBalancerArn: arn });
});

test("a target group goes after the load balancer that uses it, and a protected load balancer stays", async () => {
  const elb = balancing(cloud.deployer).v2;
  const LoadBalancerArn = await makeNetworkBalancer("shop", {});
  const made = await elb.createTargetGroup({ Name: "shop", VpcId: vpc, Protocol: "TCP", Port: 80 });
  const TargetGroupArn = made.TargetGroups?.[0]?.TargetGroupArn ?? "";
  const DefaultActions = [{ Type: "forward" as const, TargetGroupArn }];
  await elb.createListener({ LoadBalancerArn, Protocol: "TCP", Port: 80, DefaultActions });
  const removing = () => outcome(elb.deleteLoadBalancer({ LoadBalancerArn }));
  const protect = (Value: string) =>
    elb.modifyLoadBalancerAttributes({ LoadBalancerArn, Attributes: [{ Key: "deletion_protection.enabled", Value }] });
  expect(await outcome(elb.deleteTargetGroup({ TargetGroupArn }))).toBe("ResourceInUseException");
  await protect("true");
  expect(await removing()).toBe("OperationNotPermittedException");
  await protect("false");
  expect(await removing()).toBe("allowed");
  expect(await outcome(elb.deleteTargetGroup({ TargetGroupArn }))).toBe("allowed");
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
  await balancing(cloud.deployer).classic.createLoadBalancer({
    ...{ LoadBalancerName: "blue", Subnets: [subnet], Listeners: [] },
    Tags: tagged({ "kubernetes.io/service-name": "shop/web" }),
  });
  const Action = "elasticloadbalancing:DeleteLoadBalancer";
  const sweeper = await cloud.roleWith(
    "sweeper",
    allow({ Action, Condition: { StringEquals: { "aws:ResourceTag/elbv2.k8s.aws/cluster": "blue" } } }),
  );
  const removing = (by: Clients, LoadBalancerArn: string) =>
    outcome(balancing(by).v2.deleteLoadBalancer({ LoadBalancerArn }));
  const removingClassic = (by: Clients) =>
    outcome(balancing(by).classic.deleteLoadBalancer({ LoadBalancerName: "blue" }));
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

test("EC2 answers what their controller asks: subnets by a role, zones by their IDs, rules with the account of a group", async () => {
  await ec2.createTags({ Resources: [subnet], Tags: tagged({ "kubernetes.io/role/elb": "1" }) });
  const Filters = [
    { Name: "vpc-id", Values: [vpc] },
    { Name: "tag:kubernetes.io/role/elb", Values: ["", "1"] },
  ];
  const { Subnets = [] } = await ec2.describeSubnets({ Filters });
  expect(Subnets.map(({ SubnetId }) => SubnetId)).toEqual([subnet]);
  const ZoneIds = ["use1-az2"];
  const { AvailabilityZones = [] } = await ec2.describeAvailabilityZones({ ZoneIds });
  expect(AvailabilityZones.map(({ ZoneId }) => ZoneId)).toEqual(ZoneIds);
  const ofRegion = (await ec2.describeAvailabilityZones()).AvailabilityZones ?? [];
  expect(ofRegion.map(({ ZoneName, ZoneId }) => [ZoneName, ZoneId])).toEqual(
    ["a", "b", "c", "d", "e", "f"].map((letter, index) => [`us-east-1${letter}`, `use1-az${index + 1}`]),
  );
  const [GroupId, other] = [await makeGroup("targets"), await makeGroup("balancers")];
  const rule = (account: object) => [
    { IpProtocol: "tcp", FromPort: 80, ToPort: 80, UserIdGroupPairs: [{ GroupId: other, ...account }] },
  ];
  await ec2.authorizeSecurityGroupIngress({ GroupId, IpPermissions: rule({}) });
  const told = rule({ UserId: "000000000000" });
  await ec2.revokeSecurityGroupIngress({ GroupId, IpPermissions: told });
  const { SecurityGroups } = await ec2.describeSecurityGroups({ GroupIds: [GroupId] });
  expect(SecurityGroups?.[0]?.IpPermissions).toEqual([]);
  for (const each of [GroupId, other]) await ec2.deleteSecurityGroup({ GroupId: each });
});

describe("an application load balancer that faces the internet", () => {
  const Name = "door";
  const answers = new Map<string, Server>();
  let elb: v2.ElasticLoadBalancingV2;
  let LoadBalancerArn: string;
  let ListenerArn: string;
  let url: string;
  /** A server on this machine in the place of a pod; `/healthz` says whether it is well. */
  async function target(name: string, isWell: () => boolean): Promise<v2.TargetDescription> {
    const server = createServer(({ url: path, headers, socket }, to) => {
      if (path === "/healthz") return void to.writeHead(isWell() ? 200 : 500).end();
      const { host, "x-forwarded-for": client, "x-forwarded-port": port } = headers;
      to.end(JSON.stringify({ name, path, host, client, port, from: socket.remoteAddress }));
    });
    await once(server.listen(0, cloud.instance.gatewayAddress), "listening");
    answers.set(name, server);
    return { Id: cloud.instance.gatewayAddress, Port: (server.address() as AddressInfo).port };
  }
  async function group(name: string, ...Targets: v2.TargetDescription[]): Promise<string> {
    const made = await elb.createTargetGroup({
      ...{ Name: name, VpcId: vpc, Protocol: "HTTP", Port: 80, TargetType: "ip", HealthCheckPath: "/healthz" },
      ...{ HealthCheckIntervalSeconds: 5, HealthyThresholdCount: 2, UnhealthyThresholdCount: 2 },
    });
    const TargetGroupArn = made.TargetGroups?.[0]?.TargetGroupArn ?? "";
    if (Targets.length > 0) await elb.registerTargets({ TargetGroupArn, Targets });
    return TargetGroupArn;
  }
  const forward = (TargetGroupArn: string) => ({
    Type: "forward" as const,
    ForwardConfig: { TargetGroups: [{ TargetGroupArn }] },
  });
  const rule = (Priority: number, Conditions: v2.RuleCondition[], ...Actions: v2.Action[]) =>
    elb.createRule({ ListenerArn, Priority, Conditions, Actions });
  const states = async (TargetGroupArn: string) => {
    const { TargetHealthDescriptions = [] } = await elb.describeTargetHealth({ TargetGroupArn });
    return TargetHealthDescriptions.map(({ TargetHealth }) => [TargetHealth?.State, TargetHealth?.Reason]);
  };
  /** fetch sets no Host of ours. */
  const asked = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    new Promise<{ status: number | undefined; body: string; location?: string }>((resolve, reject) => {
      const signal = AbortSignal.timeout(10_000);
      const sent = request(url + path, { headers, agent: false, signal }, (answer) => {
        const { statusCode: status } = answer;
        const { location } = answer.headers;
        buffer(answer).then(
          (read) => resolve({ status, body: read.toString(), ...(location && { location }) }),
          reject,
        );
      });
      sent.once("error", reject).end();
    });
  const healthy = { timeout: 30_000, interval: 500 };

  beforeAll(async () => {
    elb = balancing(cloud.deployer).v2;
    const subnets = await cloud.subnets();
    const made = await elb.createLoadBalancer({
      ...{ Name, Type: "application", Scheme: "internet-facing" },
      SubnetMappings: subnets.map((SubnetId) => ({ SubnetId })),
    });
    const [{ LoadBalancerArn: arn = "", AvailabilityZones = [] } = {}] = made.LoadBalancers ?? [];
    expect(AvailabilityZones.map(({ ZoneName, SubnetId }) => [ZoneName, SubnetId])).toEqual(
      subnets.map((id, at) => [`us-east-1${"ab"[at]}`, id]),
    );
    LoadBalancerArn = arn;
    const DefaultActions = [
      { Type: "fixed-response" as const, FixedResponseConfig: { StatusCode: "404", MessageBody: "nothing here" } },
    ];
    const listening = await elb.createListener({ LoadBalancerArn, Protocol: "HTTP", Port: 80, DefaultActions });
    ListenerArn = listening.Listeners?.[0]?.ListenerArn ?? "";
    // Those of the tests before go a while later.
    const own = (await interfaces()).find(({ Description }) => Description?.startsWith(`ELB app/${Name}/`));
    expect(own?.PrivateIpAddress).toMatch(/^10\.0\.0\./);
    url = `http://${own?.Association?.PublicIp ?? ""}`;
  });
  afterAll(() => {
    for (const server of answers.values()) server.close();
  });

  test("answers at the public address of its interface", async () => {
    await expect.poll(() => asked("/").catch(() => "closed"), healthy).toEqual({ status: 404, body: "nothing here" });
  });

  test("passes requests on to a healthy target by host and path, from an address of its own, and says who asked", async () => {
    const one = await group("one", await target("one", () => true));
    expect(await states(one)).toEqual([["unused", "Target.NotInUse"]]);
    await rule(1, [{ Field: "host-header", HostHeaderConfig: { Values: ["*.example.com"] } }], forward(one));
    await rule(2, [{ Field: "path-pattern", PathPatternConfig: { Values: ["/app/*"] } }], forward(one));
    await expect.poll(() => states(one), healthy).toEqual([["healthy", undefined]]);
    // A new rule counts a moment later.
    await expect.poll(() => asked("/app/1"), healthy).toMatchObject({ status: 200 });
    const { status, body } = await asked("/x?y=%2F", { host: "shop.example.com" });
    const { balancers } = cloud.instance;
    expect([status, JSON.parse(body)]).toEqual([
      200,
      {
        ...{ name: "one", path: "/x?y=%2F", host: "shop.example.com", port: "80", client: expect.any(String) },
        from: balancers.sourceCidr.replace(/0\/24$/, url.split(".").at(-1) ?? ""),
      },
    ]);
    expect(await asked("/else", { host: "example.org" })).toEqual({ status: 404, body: "nothing here" });
  });

  test("sends nothing to a target that is not well while another is, and 503 where there is none", async () => {
    let isWell = false;
    const two = await group("two", await target("bad", () => isWell), await target("good", () => true));
    const none = await group("none");
    const path = (value: string) => [{ Field: "path-pattern", PathPatternConfig: { Values: [value] } }];
    await rule(3, path("/two"), forward(two));
    await rule(4, path("/none"), forward(none));
    const found = async () => (await states(two)).map(([state]) => state);
    await expect.poll(found, healthy).toEqual(expect.arrayContaining(["unhealthy", "healthy"]));
    const names = async () => {
      const all = await Promise.all(Array.from({ length: 12 }, () => asked("/two")));
      return [...new Set(all.map(({ body }) => JSON.parse(body).name))].toSorted();
    };
    await expect.poll(() => asked("/none"), healthy).toMatchObject({ status: 503 });
    expect(await names()).toEqual(["good"]);
    isWell = true;
    await expect.poll(found, healthy).toEqual(["healthy", "healthy"]);
    expect(await names()).toEqual(["bad", "good"]);
  });

  test("redirects, and answers 502 for a target that is gone", async () => {
    const path = (value: string) => [{ Field: "path-pattern", PathPatternConfig: { Values: [value] } }];
    const RedirectConfig = { Protocol: "HTTPS", Port: "443", StatusCode: "HTTP_301" as const };
    await rule(5, path("/old"), { Type: "redirect", RedirectConfig });
    const host = url.replace("http://", "");
    const moved = { status: 301, location: `https://${host}:443/old?a=b` };
    await expect.poll(() => asked("/old?a=b"), healthy).toMatchObject(moved);
    answers.get("one")?.close();
    answers.get("one")?.closeAllConnections();
    expect(await asked("/app/1")).toMatchObject({ status: 502 });
  });

  test("is closed when it is deleted, and its address is nobody's", async () => {
    await elb.deleteLoadBalancer({ LoadBalancerArn });
    const addresses = async () => await run(["ip", "address", "show", "dev", "lo"]);
    await expect.poll(addresses, healthy).not.toContain(`${url.replace("http://", "")}/`);
    // Whoever has the address on the machine's own network.
    expect(await asked("/").catch(() => "closed")).not.toMatchObject({ body: "nothing here" });
  });
});
