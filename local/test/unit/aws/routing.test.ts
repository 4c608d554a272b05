import { expect, test } from "vitest";
import { changeOf, type Handler, handlers, withCallSettings } from "../../../aws/index.ts";
import { fakeAws } from "./fake.ts";

test("the import id of a route gives the id that a creation gives", async () => {
  const route = handlers.get("aws:ec2/route:Route") as Handler;
  await expect(route.importId?.({} as never, "rtb-1_0.0.0.0/0")).resolves.toEqual({
    // Terraform's id: crc32 of the destination, as in its documentation (r-rtb-656C65616E6F721080289494).
    id: "r-rtb-11080289494",
    properties: { routeTableId: "rtb-1", destinationCidrBlock: "0.0.0.0/0" },
  });
});

test("an association that is moved to another table goes on under the id that EC2 gives it then", async () => {
  const association = handlers.get("aws:ec2/routeTableAssociation:RouteTableAssociation") as Handler;
  const held = new Map([["rtb-1", "rtbassoc-old"]]);
  const { aws, calls } = fakeAws({
    DescribeRouteTables: ({ RouteTableIds, Filters }) => ({
      RouteTables: [...held]
        .filter(([table, id]) =>
          RouteTableIds ? (RouteTableIds as string[])[0] === table : JSON.stringify(Filters).includes(id),
        )
        .map(([RouteTableId, RouteTableAssociationId]) => ({
          Associations: [{ RouteTableId, RouteTableAssociationId, SubnetId: "subnet-1" }],
        })),
    }),
    ReplaceRouteTableAssociation: () => {
      held.clear();
      held.set("rtb-2", "rtbassoc-new");
      return { NewAssociationId: "rtbassoc-new" };
    },
    DisassociateRouteTable: {},
  });
  const before = { subnetId: "subnet-1", routeTableId: "rtb-1" };
  const after = { ...before, routeTableId: "rtb-2" };
  const made: string[] = [];
  await withCallSettings({ made: async (id) => void made.push(id) }, async () =>
    association.update?.(aws, "rtbassoc-old", changeOf(association, before, after)),
  );
  expect(made).toEqual(["rtbassoc-new"]);
  await expect(association.read(aws, "rtbassoc-old", after)).resolves.toEqual(after);
  await expect(association.read(aws, "rtbassoc-old", before)).resolves.toBeNull();
  await association.delete(aws, "rtbassoc-old", after);
  expect(calls.at(-1)).toEqual(["DisassociateRouteTable", { AssociationId: "rtbassoc-new" }]);
});

test("the id of a route is told before it is waited for, so that an interruption does not lose it", async () => {
  const route = handlers.get("aws:ec2/route:Route") as Handler;
  const { aws } = fakeAws({ CreateRoute: {}, DescribeRouteTables: { RouteTables: [] } }, 10);
  const inputs = { routeTableId: "rtb-1", destinationCidrBlock: "0.0.0.0/0", gatewayId: "igw-1" };
  await expect(route.create(aws, inputs)).rejects.toMatchObject({ id: "r-rtb-11080289494" });
});

test("a NAT gateway that EC2 fails to make is told with EC2's code and message, and read like any other", async () => {
  const gateway = handlers.get("aws:ec2/natGateway:NatGateway") as Handler;
  const why = {
    FailureCode: "Resource.AlreadyAssociated",
    FailureMessage: "Elastic IP address [e] is already associated",
  };
  const { aws } = fakeAws({
    CreateNatGateway: { NatGateway: { NatGatewayId: "nat-1", State: "pending" } },
    DescribeNatGateways: { NatGateways: [{ NatGatewayId: "nat-1", SubnetId: "subnet-1", State: "failed", ...why }] },
  });
  await expect(gateway.create(aws, { subnetId: "subnet-1", allocationId: "e" })).rejects.toMatchObject({
    id: "nat-1",
    message: expect.stringContaining("Resource.AlreadyAssociated: Elastic IP address [e] is already associated"),
  });
  expect(await gateway.read(aws, "nat-1", {})).toMatchObject({ subnetId: "subnet-1" });
});

test("a launch template without tags of its own carries none of those that its instances get", async () => {
  const template = handlers.get("aws:ec2/launchTemplate:LaunchTemplate") as Handler;
  const fake = fakeAws({ CreateLaunchTemplate: { LaunchTemplate: { LaunchTemplateId: "lt-1" } } });
  const tagSpecifications = [{ resourceType: "instance", tags: { team: "platform" } }];
  // What the fake does not answer comes after the creation.
  await template.create(fake.aws, { name: "nodes", tagSpecifications }).catch(() => {});
  const [, input] = fake.calls.find(([operation]) => operation === "CreateLaunchTemplate") ?? [];
  expect(input).not.toHaveProperty("TagSpecifications");
  expect(input).toHaveProperty("LaunchTemplateData.TagSpecifications.0.ResourceType", "instance");
});
