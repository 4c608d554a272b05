import { EC2Client } from "@aws-sdk/client-ec2";
import { EKSClient } from "@aws-sdk/client-eks";
import { ElasticLoadBalancingClient } from "@aws-sdk/client-elastic-load-balancing";
import { ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { STSClient } from "@aws-sdk/client-sts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { look, remove } from "../../../cli/sweep/aws.ts";
import type { Item, Removal } from "../../../cli/sweep/plan.ts";
import { sweepPolicy } from "../../../lib/iam/sweep.ts";

const sought = { cluster: "fleet-spoke-blue", vpc: "vpc-1", region: "eu-west-1" };
const tagged = (tags: Item["tags"]) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

type Input = Readonly<Record<string, unknown>>;
type Answer = (input: Input) => object;
interface Sending {
  send(command: { readonly input: Input }): Promise<object>;
}
interface Call {
  readonly action: string;
  readonly input: Input;
}

const clients = {
  ec2: EC2Client,
  eks: EKSClient,
  elb: ElasticLoadBalancingClient,
  elbv2: ElasticLoadBalancingV2Client,
  sts: STSClient,
};

let calls: Call[];
let answers: Record<string, Answer>;

/** An answer of AWS that is an error. */
const refusing = (name: string, message: string) => () => {
  throw Object.assign(new Error(message), { name });
};

beforeEach(() => {
  calls = [];
  answers = {
    "sts:GetCallerIdentity": () => ({ Account: "111111111111" }),
    "eks:DescribeCluster": refusing("ResourceNotFoundException", "No cluster found"),
  };
  for (const [service, client] of Object.entries(clients))
    vi.spyOn(client.prototype as unknown as Sending, "send").mockImplementation(async (command) => {
      const action = `${service}:${command.constructor.name.replace(/Command$/, "")}`;
      calls.push({ action, input: command.input });
      return answers[action]?.(command.input) ?? {};
    });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const inputsOf = (action: string) => calls.filter((call) => call.action === action).map(({ input }) => input);

describe("what fleet sweep reads of AWS", () => {
  test("are the load balancers and target groups of the VPC, with their tags, of however many there are", async () => {
    const arns = Array.from(
      { length: 25 },
      (_, index) => `arn:aws:elasticloadbalancing:x:y:loadbalancer/net/n/${index}`,
    );
    const elsewhere = { LoadBalancerArn: "arn:elsewhere", VpcId: "vpc-2" };
    Object.assign(answers, {
      "elbv2:DescribeLoadBalancers": () => ({
        LoadBalancers: [
          ...arns.map((LoadBalancerArn) => ({ LoadBalancerArn, VpcId: "vpc-1", Type: "network" })),
          elsewhere,
        ],
      }),
      "elbv2:DescribeTargetGroups": () => ({
        TargetGroups: [
          { TargetGroupArn: "arn:t", VpcId: "vpc-1", LoadBalancerArns: [arns[0]] },
          { TargetGroupArn: "arn:of-lambda" },
        ],
      }),
      "elbv2:DescribeTags": ({ ResourceArns }: Input) => ({
        TagDescriptions: (ResourceArns as string[]).map((ResourceArn) => ({
          ResourceArn,
          Tags: tagged({ of: ResourceArn }),
        })),
      }),
      "elb:DescribeLoadBalancers": () => ({
        LoadBalancerDescriptions: [{ LoadBalancerName: "old", VPCId: "vpc-1" }, { LoadBalancerName: "ec2-classic" }],
      }),
      "elb:DescribeTags": () => ({ TagDescriptions: [{ LoadBalancerName: "old", Tags: tagged({ a: "b" }) }] }),
    } satisfies Record<string, Answer>);
    const { balancers, targetGroups } = await look(sought, {});
    expect(balancers).toEqual([
      { id: "old", isClassic: true, description: "classic load balancer", tags: { a: "b" } },
      ...arns.map((id) => ({ id, isClassic: false, description: "network load balancer", tags: { of: id } })),
    ]);
    expect(targetGroups).toEqual([{ id: "arn:t", description: "", balancers: [arns[0]], tags: { of: "arn:t" } }]);
    for (const { ResourceArns } of inputsOf("elbv2:DescribeTags"))
      expect((ResourceArns as string[]).length).toBeLessThanOrEqual(20);
  });

  test("are volumes that nothing uses and own snapshots, with a tag of the cluster", async () => {
    const by = (tags: Item["tags"]) => tagged({ "ebs.csi.aws.com/cluster": "true", ...tags });
    const claim = { "kubernetes.io/created-for/pvc/namespace": "shop", "kubernetes.io/created-for/pvc/name": "data" };
    Object.assign(answers, {
      "ec2:DescribeVolumes": () => ({
        Volumes: [
          { VolumeId: "vol-1", Size: 8, Tags: by({ "eks-cluster-name": sought.cluster, ...claim }) },
          { VolumeId: "vol-2", Size: 9, Tags: by({ KubernetesCluster: sought.cluster }) },
          { VolumeId: "vol-4", Size: 7, Tags: tagged({ "eks:eks-cluster-name": sought.cluster, ...claim }) },
          { VolumeId: "vol-3", Size: 1, Tags: by({ "eks-cluster-name": "fleet-spoke-green" }) },
        ],
      }),
      "ec2:DescribeSnapshots": () => ({
        Snapshots: [
          { SnapshotId: "snap-1", VolumeSize: 8, Tags: by({ [`kubernetes.io/cluster/${sought.cluster}`]: "owned" }) },
        ],
      }),
    } satisfies Record<string, Answer>);
    const { data } = await look(sought, {});
    expect(data.map(({ id, description }) => `${id}: ${description}`)).toEqual([
      "vol-1: 8 GiB of shop/data",
      "vol-2: 9 GiB",
      "vol-4: 7 GiB of shop/data",
      "snap-1: 8 GiB",
    ]);
    const [volumes] = inputsOf("ec2:DescribeVolumes");
    expect(volumes?.["Filters"]).toContainEqual({ Name: "status", Values: ["available"] });
    expect(volumes?.["Filters"]).toContainEqual({
      ...{ Name: "tag-key", Values: expect.arrayContaining(["eks:eks-cluster-name", "eks-cluster-name"]) },
    });
    expect(inputsOf("ec2:DescribeSnapshots")[0]?.["OwnerIds"]).toEqual(["self"]);
  });
});

test("fleet sweep reads the endpoints of the VPC, with their interfaces", async () => {
  const ServiceName = "com.amazonaws.eu-west-1.guardduty-data";
  answers["ec2:DescribeVpcEndpoints"] = () => ({
    VpcEndpoints: [
      { VpcEndpointId: "vpce-1", VpcId: "vpc-1", ServiceName, State: "available", NetworkInterfaceIds: ["eni-1"] },
      { VpcEndpointId: "vpce-2", VpcId: "vpc-1", ServiceName, State: "Deleting", Tags: tagged({ a: "b" }) },
      { VpcEndpointId: "vpce-3", VpcId: "vpc-2", ServiceName },
    ],
  });
  const of = { service: ServiceName, description: ServiceName };
  expect((await look(sought, {})).endpoints).toEqual([
    { ...of, id: "vpce-1", tags: {}, interfaces: ["eni-1"], isBeingDeleted: false },
    { ...of, id: "vpce-2", tags: { a: "b" }, interfaces: [], isBeingDeleted: true },
  ]);
});

test("fleet sweep knows the interfaces that Elastic Load Balancing made by what nobody else can set", async () => {
  const Description = "ELB net/n/1";
  answers["ec2:DescribeNetworkInterfaces"] = () => ({
    NetworkInterfaces: [
      { NetworkInterfaceId: "eni-1", VpcId: "vpc-1", Description, RequesterId: "amazon-elb" },
      { NetworkInterfaceId: "eni-2", VpcId: "vpc-1", Description, InterfaceType: "network_load_balancer" },
      { NetworkInterfaceId: "eni-3", VpcId: "vpc-1", Description, RequesterId: "AROA:me", InterfaceType: "interface" },
      { NetworkInterfaceId: "eni-4", VpcId: "vpc-1", Description },
    ],
  });
  const { interfaces } = await look(sought, {});
  expect(interfaces.filter(({ isOfElb }) => isOfElb).map(({ id }) => id)).toEqual(["eni-1", "eni-2"]);
});

test("without a VPC fleet sweep asks for nothing but data, and removes it", async () => {
  const without = { ...sought, vpc: undefined };
  const Tags = tagged({ "eks-cluster-name": sought.cluster });
  answers["ec2:DescribeVolumes"] = () => ({ Volumes: [{ VolumeId: "vol-1", Size: 8, Tags }] });
  const found = await look(without, {});
  expect(found.data.map(({ id }) => id)).toEqual(["vol-1"]);
  const nothing = { balancers: [], targetGroups: [], endpoints: [], leaving: [], interfaces: [], groups: [] };
  await remove(without, {}, { ...nothing, data: found.data });
  expect(calls.map(({ action }) => action).sort()).toEqual([
    ...["ec2:DeleteVolume", "ec2:DescribeSnapshots", "ec2:DescribeVolumes"],
    ...["eks:DescribeCluster", "sts:GetCallerIdentity"],
  ]);
});

describe("what fleet sweep removes", () => {
  const bare = (id: string): Item => ({ id, tags: {}, description: "" });
  const arn = "arn:aws:elasticloadbalancing:x:y:loadbalancer/net/n/1";
  const removal: Removal = {
    balancers: [
      { ...bare("old"), isClassic: true },
      { ...bare(arn), isClassic: false },
    ],
    targetGroups: [{ ...bare("arn:t"), balancers: [arn] }],
    endpoints: [{ ...bare("vpce-1"), service: "guardduty-data", interfaces: ["eni-9"], isBeingDeleted: false }],
    leaving: [{ ...bare("eni-9"), description: "ELB net/n/1" }],
    interfaces: [bare("eni-1")],
    groups: [
      { ...bare("sg-1"), rules: [{ IpProtocol: "-1", UserIdGroupPairs: [{ GroupId: "sg-2" }, { GroupId: "sg-3" }] }] },
      { ...bare("sg-2"), rules: [] },
    ],
    data: [bare("vol-1"), bare("snap-1")],
  };

  test("goes in an order in which nothing is in use any more, and waits for the interfaces of load balancers", async () => {
    let looks = 0;
    const held = { NetworkInterfaceId: "eni-9", VpcId: "vpc-1" };
    answers["ec2:DescribeNetworkInterfaces"] = () => ({ NetworkInterfaces: looks++ < 2 ? [held] : [] });
    await remove(sought, {}, removal, 0);
    expect(calls.map(({ action }) => action)).toEqual([
      "elb:DeleteLoadBalancer",
      "elbv2:DeleteLoadBalancer",
      "ec2:DeleteVpcEndpoints",
      "ec2:DeleteVolume",
      "ec2:DeleteSnapshot",
      ...Array.from({ length: 3 }, () => "ec2:DescribeNetworkInterfaces"),
      "elbv2:DeleteTargetGroup",
      "ec2:DeleteNetworkInterface",
      "ec2:RevokeSecurityGroupIngress",
      "ec2:DeleteSecurityGroup",
      "ec2:DeleteSecurityGroup",
    ]);
    expect(inputsOf("ec2:RevokeSecurityGroupIngress")).toEqual([
      { GroupId: "sg-1", IpPermissions: [{ IpProtocol: "-1", UserIdGroupPairs: [{ GroupId: "sg-2" }] }] },
    ]);
    expect(inputsOf("elb:DeleteLoadBalancer")).toEqual([{ LoadBalancerName: "old" }]);
    expect(inputsOf("elbv2:DeleteLoadBalancer")).toEqual([{ LoadBalancerArn: arn }]);
  });

  test("says to come back where AWS takes longer, and leaves what the interfaces use", async () => {
    answers["ec2:DescribeNetworkInterfaces"] = () => ({
      NetworkInterfaces: [{ NetworkInterfaceId: "eni-9", VpcId: "vpc-1" }],
    });
    await expect(remove(sought, {}, removal, 0)).rejects.toThrow(
      "(eni-9): their security groups go after them. Run it again in a few minutes. What was removed before stays removed",
    );
    expect(inputsOf("ec2:DeleteSecurityGroup")).toEqual([]);
  });

  test("names those load balancers that the account does not have, of interfaces that stay", async () => {
    answers["ec2:DescribeNetworkInterfaces"] = () => ({ NetworkInterfaces: [{ NetworkInterfaceId: "eni-8" }] });
    const others = ["app/shared/2", "app/gone/3"].map((name, index) => ({
      ...{ ...bare(`eni-${8 - index}`), description: `ELB ${name}` },
    }));
    const leaving = [...removal.leaving, ...others];
    await expect(remove(sought, {}, { ...removal, leaving }, 0)).rejects.toThrow(
      "yet (eni-8): their security groups go after them. Run it again in a few minutes. This account has no load balancer app/shared/2 (eni-8) in the VPC",
    );
  });

  test("stops where EC2 doesn't delete an endpoint, and goes on without one that no longer exists", async () => {
    const unsuccessful = (Code: string) => () => ({
      Unsuccessful: [{ ResourceId: "vpce-1", Error: { Code, Message: "no" } }],
    });
    answers["ec2:DeleteVpcEndpoints"] = unsuccessful("OperationNotPermitted");
    await expect(remove(sought, {}, { ...removal, leaving: [] }, 0)).rejects.toThrow("vpce-1: no");
    expect(inputsOf("ec2:DeleteSecurityGroup")).toEqual([]);
    answers["ec2:DeleteVpcEndpoints"] = unsuccessful("InvalidVpcEndpoint.NotFound");
    await remove(sought, {}, { ...removal, leaving: [] }, 0);
    expect(inputsOf("ec2:DeleteVpcEndpoints")).toEqual(Array(2).fill({ VpcEndpointIds: ["vpce-1"] }));
    expect(inputsOf("ec2:DeleteSecurityGroup")).toHaveLength(2);
  });

  test("may be gone already", async () => {
    for (const [action, name] of [
      ["elbv2:DeleteLoadBalancer", "LoadBalancerNotFoundException"],
      ["elbv2:DeleteTargetGroup", "TargetGroupNotFoundException"],
      ["ec2:DeleteNetworkInterface", "InvalidNetworkInterfaceID.NotFound"],
      ["ec2:DeleteVolume", "InvalidVolume.NotFound"],
    ] as const)
      answers[action] = refusing(name, "is not there");
    await remove(sought, {}, { ...removal, leaving: [] }, 0);
    expect(inputsOf("ec2:DeleteSnapshot")).toHaveLength(1);
  });

  test("stays whole where a load balancer is protected, and says so", async () => {
    const message = `Load balancer '${arn}' cannot be deleted because deletion protection is enabled`;
    answers["elbv2:DeleteLoadBalancer"] = refusing("OperationNotPermittedException", message);
    await expect(remove(sought, {}, removal, 0)).rejects.toThrow(`${message}. Correct this, then run it again`);
    expect(inputsOf("elbv2:DeleteTargetGroup")).toEqual([]);
  });

  test("is, with what it reads, all that its policy allows", async () => {
    answers["elb:DescribeLoadBalancers"] = () => ({
      LoadBalancerDescriptions: [{ LoadBalancerName: "old", VPCId: "vpc-1" }],
    });
    await look(sought, {});
    await remove(sought, {}, removal, 0);
    // Everybody may ask who he is (AWS STS API Reference, GetCallerIdentity).
    const asked = calls.map(({ action }) => action.replace(/^elb(v2)?:/, "elasticloadbalancing:"));
    const allowed = sweepPolicy().Statement.flatMap(({ Action = [] }) => Action);
    expect([...new Set(asked)].filter((action) => !action.startsWith("sts:")).sort()).toEqual(
      [...new Set(allowed)].sort(),
    );
  });
});
