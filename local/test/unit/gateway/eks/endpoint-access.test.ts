import { describe, expect, test } from "vitest";
import { changesReach } from "../../../../gateway/eks/endpoint-access.ts";
import { clusterBody, eks, roleArn, useEks } from "./fakes.ts";

const HUB = "100.64.254.1";
/** Where nodes and pods come from. */
const [HUB_NODES, SPOKE_NODES] = ["100.64.0.0/21", "100.64.8.0/21"];

useEks();

const create = async (name: string, subnetIds: string[], access: object) => {
  await eks.finish("POST", "/clusters", clusterBody(name, { resourcesVpcConfig: { subnetIds, ...access } }));
};
const hub = (access: object) => create("hub", ["subnet-a", "subnet-b"], access);
const spoke = (access: object) => create("spoke", ["subnet-other-a", "subnet-other"], access);
const update = async (access: object) => {
  await eks.finish("POST", "/clusters/hub/update-config", { resourcesVpcConfig: access });
};

/** Which blocks an endpoint admits; what it does not name is not admitted. */
const admitted = (address = HUB) =>
  (eks.clusters.endpoints.find((endpoint) => endpoint.address === address)?.sources ?? [])
    .filter((source) => source.admitted)
    .map(({ cidr }) => cidr);

/** This machine: packets to one of its own addresses come from that address. */
const MACHINE_TO_HUB = `${HUB}/32`;

describe("the endpoint of a cluster", () => {
  test("is open to everybody by default, as on EKS, before the cluster becomes ACTIVE", async () => {
    const release = eks.clusters.hold();
    await eks.call("POST", "/clusters", clusterBody("hub"));
    release();
    await eks.settle();
    expect(admitted()).toEqual([HUB_NODES, MACHINE_TO_HUB]);
  });

  test("admits named networks only, this machine among them by its public address, and its own nodes by private access", async () => {
    await hub({ publicAccessCidrs: ["5.6.7.0/24"], endpointPrivateAccess: true });
    expect(admitted()).toEqual([HUB_NODES]);
    await update({ publicAccessCidrs: ["5.6.7.0/24", "1.2.3.0/24"] });
    expect(admitted()).toEqual([HUB_NODES, MACHINE_TO_HUB]);
  });

  test("without private access does not admit its own nodes unless their NAT gateways' addresses are named", async () => {
    eks.aws.nat.set("vpc-1", ["5.6.7.8"]);
    await hub({ publicAccessCidrs: ["9.9.9.0/24"] });
    expect(admitted()).toEqual([]);
    await update({ publicAccessCidrs: ["9.9.9.0/24", "5.6.7.8/32"] });
    expect(admitted()).toEqual([HUB_NODES]);
  });

  test("that is private admits its VPC, and of connected networks those that its security group lets in", async () => {
    await hub({ endpointPublicAccess: false, endpointPrivateAccess: true });
    expect(admitted()).toEqual([HUB_NODES]);
    eks.aws.admitted.set("sg-hub", ["10.255.0.0/16"]);
    await eks.keepEndpoints();
    expect(admitted()).toEqual([HUB_NODES, MACHINE_TO_HUB]);
  });

  test("that is public only is not opened by a rule of a security group", async () => {
    eks.aws.admitted.set("sg-hub", ["0.0.0.0/0"]);
    await hub({ publicAccessCidrs: ["5.6.7.0/24"] });
    expect(admitted()).toEqual([]);
  });
});

describe("a call of EC2 has endpoints looked at again", () => {
  const call = (action: string) =>
    changesReach({ body: Buffer.from(`Version=2016-11-15&Action=${action}&VpcId=vpc-1`) });

  test.each([
    ...["AuthorizeSecurityGroupIngress", "RevokeSecurityGroupIngress", "CreateNatGateway", "DeleteNatGateway"],
    ...["CreateRoute", "ReplaceRoute", "DeleteRoute", "AssociateRouteTable", "ReplaceRouteTableAssociation"],
    ...["AcceptVpcPeeringConnection", "DeleteVpcPeeringConnection"],
  ])("%s", (action) => {
    expect(call(action)).toBe(true);
  });

  test.each([
    "DescribeSecurityGroups",
    "DescribeRouteTables",
    "DescribeVpcPeeringConnections",
    "RunInstances",
    "CreateTags",
  ])("not %s", (action) => {
    expect(call(action)).toBe(false);
  });
});

describe("from one cluster to another", () => {
  const access = { endpointPrivateAccess: true, publicAccessCidrs: ["5.6.7.8/32"] };

  test("the way is by the addresses of the VPC's NAT gateways, which the endpoint must name, all of them", async () => {
    await hub(access);
    await spoke(access);
    expect(admitted()).toEqual([HUB_NODES]);
    eks.aws.nat.set("vpc-2", ["5.6.7.8"]);
    await eks.keepEndpoints();
    expect(admitted()).toEqual([HUB_NODES, SPOKE_NODES]);
    eks.aws.nat.set("vpc-2", ["5.6.7.8", "5.6.7.9"]);
    await eks.keepEndpoints();
    expect(admitted()).toEqual([HUB_NODES]);
  });

  test("there is none to a private endpoint while their VPCs are not connected", async () => {
    eks.aws.nat.set("vpc-2", ["5.6.7.8"]);
    eks.aws.admitted.set("sg-hub", ["0.0.0.0/0"]);
    await hub({ endpointPublicAccess: false, endpointPrivateAccess: true });
    await spoke(access);
    expect(admitted()).toEqual([HUB_NODES, MACHINE_TO_HUB]);
    expect(eks.errors).toEqual([]);
  });

  describe("whose VPC is peered", () => {
    const [TO_HUB, BACK] = [
      { cidr: "10.0.0.0/8", vpcId: "vpc-1" },
      { cidr: "10.1.0.0/16", vpcId: "vpc-2" },
    ];
    /** What a way to the private endpoint takes; a test leaves one out. */
    const conditions = {
      "a route of every subnet with nodes": () => eks.aws.peered.set("subnet-other", [TO_HUB]),
      "a route back of each subnet of the control plane": () => eks.aws.peered.set("subnet-b", [BACK]),
      "a rule of the security group for all of their VPC": () => eks.aws.admitted.set("sg-hub", ["10.1.0.0/16"]),
    };
    const privateHub = { endpointPublicAccess: false, endpointPrivateAccess: true };
    const peer = async () => {
      eks.aws.peered.set("subnet-other-a", [TO_HUB]);
      eks.aws.peered.set("subnet-a", [BACK]);
      await spoke(access);
      const nodegroup = {
        nodegroupName: "default",
        nodeRole: roleArn("node"),
        subnets: ["subnet-other-a", "subnet-other"],
      };
      const made = await eks.call("POST", "/clusters/spoke/node-groups", nodegroup);
      expect(made.status).toBe(200);
      await eks.keepEndpoints();
    };

    test("the way to a private endpoint is over the peering connection", async () => {
      for (const meet of Object.values(conditions)) meet();
      await hub(privateHub);
      await peer();
      expect(admitted()).toEqual([HUB_NODES, SPOKE_NODES]);
    });

    test.each(Object.keys(conditions))("there is none without %s", async (missing) => {
      for (const [name, meet] of Object.entries(conditions)) if (name !== missing) meet();
      await hub(privateHub);
      await peer();
      expect(admitted()).toEqual([HUB_NODES]);
    });

    test("the way is not that one while the endpoint is public too, for names then have public addresses", async () => {
      for (const meet of Object.values(conditions)) meet();
      await hub({ publicAccessCidrs: ["9.9.9.0/24"], endpointPrivateAccess: true });
      await peer();
      expect(admitted()).toEqual([HUB_NODES]);
    });
  });

  test("in the same VPC the way is by the private endpoint, where the security group must let it in", async () => {
    await hub({ publicAccessCidrs: ["0.0.0.0/0"], endpointPrivateAccess: true });
    await create("second", ["subnet-a", "subnet-b"], access);
    expect(admitted()).toEqual([HUB_NODES, MACHINE_TO_HUB]);
    eks.aws.admitted.set("sg-hub", ["10.0.0.0/16"]);
    await eks.keepEndpoints();
    expect(admitted()).toEqual([HUB_NODES, SPOKE_NODES, MACHINE_TO_HUB]);
  });

  test("a cluster that is gone is forgotten, also when that fails at first", async () => {
    await hub(access);
    await spoke(access);
    const filter = eks.clusters.filterEndpoints;
    let failures = 0;
    eks.clusters.filterEndpoints = async (endpoints) => {
      if (failures++ === 0) throw new Error("nft failed");
      return filter(endpoints);
    };
    await eks.finish("DELETE", "/clusters/spoke");
    await expect.poll(() => eks.clusters.endpoints.map(({ address }) => address)).toEqual([HUB]);
    expect(eks.errors).toEqual(["spoke: nft failed"]);
  });

  test("a cluster that is gone is forgotten", async () => {
    await hub(access);
    await spoke(access);
    await eks.finish("DELETE", "/clusters/spoke");
    expect(eks.clusters.endpoints.map(({ address }) => address)).toEqual([HUB]);
  });
});
