import { describe, expect, test, vi } from "vitest";
import { connectAws, handlers } from "../../aws/index.ts";
import { REGION } from "../../gateway/ministack.ts";
import { deployerPolicies, fleetTag, sweepPolicy } from "../../product.ts";
import { allow, type Clients, cloud, configOf, ec2, outcome, useGatewayCloud } from "../support/gateway.ts";
import { addGuardDuty } from "../support/guardduty.ts";

const FLEET = "fleet";
const HUB_ACCOUNT = "111111111111";

useGatewayCloud();

/** A VPC with a subnet, as the fleet makes it, and what GuardDuty adds. */
async function monitored({ ec2 }: Clients) {
  const Tags = [{ Key: fleetTag, Value: FLEET }];
  const { Vpc } = await ec2.createVpc({ CidrBlock: "10.9.0.0/16", TagSpecifications: [{ ResourceType: "vpc", Tags }] });
  const vpc = Vpc?.VpcId ?? "";
  const { Subnet } = await ec2.createSubnet({
    ...{ VpcId: vpc, CidrBlock: "10.9.1.0/24" },
    TagSpecifications: [{ ResourceType: "subnet", Tags }],
  });
  const subnet = Subnet?.SubnetId ?? "";
  return { vpc, subnet, ...(await addGuardDuty(ec2, vpc, [subnet])) };
}

/** What is left of it. */
async function left({ ec2 }: Clients, vpc: string): Promise<unknown[]> {
  const Filters = [{ Name: "vpc-id", Values: [vpc] }];
  const [vpcs, groups, endpoints] = await Promise.all([
    ec2.describeVpcs({ Filters }),
    ec2.describeSecurityGroups({ Filters }),
    ec2.describeVpcEndpoints({ Filters }),
  ]);
  return [...(vpcs.Vpcs ?? []), ...(groups.SecurityGroups ?? []), ...(endpoints.VpcEndpoints ?? [])];
}

/** Removes subnet and VPC as the AWS provider does. */
async function removeNetwork(by: Clients, { vpc, subnet }: { vpc: string; subnet: string }) {
  const aws = connectAws(configOf(by));
  await handlers.get("aws:ec2/subnet:Subnet")?.delete(aws, subnet, { vpcId: vpc });
  await handlers.get("aws:ec2/vpc:Vpc")?.delete(aws, vpc, {});
}

describe("GuardDuty's endpoint and security group", { timeout: 120_000 }, () => {
  test("block the deletion of a subnet and a VPC", async () => {
    const { vpc, subnet, group } = await monitored(cloud.deployer);
    const deletions = [
      ec2.deleteSubnet({ SubnetId: subnet }),
      ec2.deleteSecurityGroup({ GroupId: group }),
      ec2.deleteVpc({ VpcId: vpc }),
    ];
    expect(await Promise.all(deletions.map(outcome))).toEqual(Array(3).fill("DependencyViolation"));
  });

  test("go with the hub's network by the rights of its deployer", async () => {
    const scope = {
      partition: "aws",
      accountId: HUB_ACCOUNT,
      region: REGION,
      dnsSuffix: "amazonaws.com",
      fleet: FLEET,
    };
    const deployer = await cloud.account(HUB_ACCOUNT, deployerPolicies(scope));
    const root = await cloud.root(HUB_ACCOUNT);
    const network = await monitored(root);
    await removeNetwork(deployer, network);
    expect(await left(root, network.vpc)).toEqual([]);
  });

  test("stay where the caller has no right to them, until the policy of fleet sweep lets someone delete them", async () => {
    const crossplane = await cloud.roleWith(
      "crossplane",
      allow({ Action: ["ec2:Describe*", "ec2:DeleteSubnet", "ec2:DeleteVpc"] }),
    );
    const network = await monitored(cloud.deployer);
    expect(await outcome(removeNetwork(crossplane, network))).toBe("DependencyViolation");

    // In the order of cli/sweep, by its policy, which reaches no other endpoint of the VPC.
    const { ec2: sweeper } = await cloud.roleWith("sweeper", sweepPolicy());
    const deleting = (id: string) => outcome(sweeper.deleteVpcEndpoints({ VpcEndpointIds: [id] }));
    const own = await ec2.createVpcEndpoint({ VpcId: network.vpc, ServiceName: `com.amazonaws.${REGION}.s3` });
    const gateway = own.VpcEndpoint?.VpcEndpointId ?? "";
    expect(await deleting(gateway)).toMatch(/Unauthorized|AccessDenied/);
    expect(await deleting(network.endpoint)).toBe("allowed");
    const group = () => outcome(sweeper.deleteSecurityGroup({ GroupId: network.group }));
    expect(await group()).toBe("DependencyViolation");
    await vi.waitFor(async () => expect(await group()).toBe("allowed"), { timeout: 30_000, interval: 1000 });
    await ec2.deleteVpcEndpoints({ VpcEndpointIds: [gateway] });
    await removeNetwork(crossplane, network);
    expect(await left(cloud.deployer, network.vpc)).toEqual([]);
  });
});
