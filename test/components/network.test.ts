import { describe, expect, it } from "vitest";
import { type NatGateways, Network } from "../../components/network.ts";
import { recorded } from "../support/program.ts";

const tags = { owner: "test" };

async function network(natGateways: NatGateways, changes: Partial<ConstructorParameters<typeof Network>[1]> = {}) {
  const args = { cidr: "10.0.0.0/16", zones: 3, natGateways, tags, ...changes };
  const { resources } = await recorded("test", async () => new Network("net", args));
  const of = (type: string) => resources.filter((resource) => resource.type === `aws:ec2/${type}`);
  return { of, named: (type: string, name: string) => of(type).find((resource) => resource.name === name) };
}

describe("Network", () => {
  it.each([
    ["per-zone", { nats: 3, routes: ["net-nat-0-id", "net-nat-1-id", "net-nat-2-id"] }],
    ["single", { nats: 1, routes: ["net-nat-0-id", "net-nat-0-id", "net-nat-0-id"] }],
    ["none", { nats: 0, routes: [] }],
  ] as const)("with NAT %s sends each private subnet out the right way", async (natGateways, expected) => {
    const { of } = await network(natGateways);
    expect(of("natGateway:NatGateway")).toHaveLength(expected.nats);
    expect(of("eip:Eip")).toHaveLength(expected.nats);
    const routes = of("route:Route").filter(({ name }) => name.includes("private"));
    expect(routes.map(({ inputs }) => inputs["natGatewayId"])).toEqual(expected.routes);
  });

  it("puts each zone's subnets into its zone, and only public ones give public addresses", async () => {
    const { of } = await network("single", { zones: 2 });
    expect(
      of("subnet:Subnet").map(({ name, inputs }) => [
        name,
        inputs["availabilityZone"],
        inputs["cidrBlock"],
        inputs["mapPublicIpOnLaunch"],
      ]),
    ).toEqual([
      ["net-public-0", "eu-central-1a", "10.0.192.0/20", true],
      ["net-public-1", "eu-central-1b", "10.0.208.0/20", true],
      ["net-private-0", "eu-central-1a", "10.0.0.0/18", false],
      ["net-private-1", "eu-central-1b", "10.0.64.0/18", false],
    ]);
  });

  it("takes zones and blocks that the caller names", async () => {
    const { named } = await network("none", {
      zones: 2,
      availabilityZones: ["eu-central-1c", "eu-central-1a"],
      privateSubnetCidrs: ["10.0.0.0/20", "10.0.16.0/20"],
      publicSubnetCidrs: ["10.0.32.0/24", "10.0.33.0/24"],
    });
    expect(named("subnet:Subnet", "net-private-0")?.inputs).toMatchObject({
      availabilityZone: "eu-central-1c",
      cidrBlock: "10.0.0.0/20",
    });
    expect(named("subnet:Subnet", "net-public-1")?.inputs).toMatchObject({
      availabilityZone: "eu-central-1a",
      cidrBlock: "10.0.33.0/24",
    });
  });

  it("routes S3 past the NAT gateways, from every subnet", async () => {
    const { named } = await network("per-zone");
    expect(named("vpcEndpoint:VpcEndpoint", "net-s3")?.inputs).toMatchObject({
      serviceName: "com.amazonaws.eu-central-1.s3",
      vpcEndpointType: "Gateway",
      routeTableIds: ["net-public-id", "net-private-0-id", "net-private-1-id", "net-private-2-id"],
    });
  });

  it("nodes get public subnets when there is no NAT gateway, private ones otherwise", async () => {
    const made: Network[] = [];
    await recorded("test", async () => {
      made.push(new Network("a", { natGateways: "none" }), new Network("b", { natGateways: "single" }));
    });
    expect(made[0]?.nodeSubnetIds).toBe(made[0]?.publicSubnetIds);
    expect(made[1]?.nodeSubnetIds).toBe(made[1]?.privateSubnetIds);
  });
});
