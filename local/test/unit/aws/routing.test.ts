import { expect, test } from "vitest";
import { type Handler, handlers } from "../../../aws/index.ts";
import { awsError, fakeAws } from "./fake.ts";

test("the import id of a route gives the id that a creation gives", async () => {
  const route = handlers.get("aws:ec2/route:Route") as Handler;
  await expect(route.importId?.({} as never, "rtb-1_0.0.0.0/0")).resolves.toEqual({
    // Terraform's id: crc32 of the destination, as in its documentation (r-rtb-656C65616E6F721080289494).
    id: "r-rtb-11080289494",
    properties: { routeTableId: "rtb-1", destinationCidrBlock: "0.0.0.0/0" },
  });
});

test("an association whose route table is gone was not made: there is none to recover", async () => {
  const association = handlers.get("aws:ec2/routeTableAssociation:RouteTableAssociation") as Handler;
  const { aws } = fakeAws({
    DescribeRouteTables: () => {
      throw awsError("InvalidRouteTableID.NotFound");
    },
  });
  const inputs = { routeTableId: "rtb-1", subnetId: "subnet-1" };
  await expect(association.definition?.crossplane?.recover?.(aws, inputs, "name")).resolves.toBeUndefined();
});

test("the id of a route is told before it is waited for, so that an interruption does not lose it", async () => {
  const route = handlers.get("aws:ec2/route:Route") as Handler;
  const { aws } = fakeAws({ CreateRoute: {}, DescribeRouteTables: { RouteTables: [] } }, 10);
  const inputs = { routeTableId: "rtb-1", destinationCidrBlock: "0.0.0.0/0", gatewayId: "igw-1" };
  await expect(route.create(aws, inputs)).rejects.toMatchObject({ id: "r-rtb-11080289494" });
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
