import { expect, test } from "vitest";
import { ec2, outcome, useGatewayCloud } from "../support/gateway.ts";

useGatewayCloud();

const mode = async () =>
  (await ec2.describeVpcBlockPublicAccessOptions({})).VpcBlockPublicAccessOptions?.InternetGatewayBlockMode;

test("VPC Block Public Access is off by default and accepts EC2's modes only", async () => {
  expect(await mode()).toBe("off");
  const set = (value: string) => ec2.modifyVpcBlockPublicAccessOptions({ InternetGatewayBlockMode: value as never });
  expect(await outcome(set("block"))).toBe("InvalidParameterValue");
  await set("block-bidirectional");
  expect(await mode()).toBe("block-bidirectional");
  await set("off");
});

test("a VPC that exists can be excluded", async () => {
  const VpcId = (await ec2.createVpc({ CidrBlock: "10.70.0.0/16" })).Vpc?.VpcId ?? "";
  const exclude = (id: string) =>
    ec2.createVpcBlockPublicAccessExclusion({ VpcId: id, InternetGatewayExclusionMode: "allow-egress" });
  expect(await outcome(exclude("vpc-00000000000000000"))).toBe("InvalidVpcID.NotFound");
  await exclude(VpcId);
  const { VpcBlockPublicAccessExclusions } = await ec2.describeVpcBlockPublicAccessExclusions({});
  expect(VpcBlockPublicAccessExclusions).toMatchObject([
    {
      InternetGatewayExclusionMode: "allow-egress",
      ResourceArn: `arn:aws:ec2:us-east-1:000000000000:vpc/${VpcId}`,
      State: "create-complete",
    },
  ]);
});
