import {
  CreateSubnetCommand,
  DeleteSubnetCommand,
  DescribeSubnetsCommand,
  ModifySubnetAttributeCommand,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { finishing, resource, type Tagged } from "../handler.ts";
import { tagsFrom } from "../tags.ts";
import { syncEc2Tags, tagSpecifications } from "./tags.ts";

interface Inputs extends Tagged {
  vpcId: string;
  cidrBlock: string;
  availabilityZone?: string;
  availabilityZoneId?: string;
  mapPublicIpOnLaunch?: boolean;
}

const setPublicIp = (aws: Aws, id: string, value: boolean) =>
  aws.ec2.send(new ModifySubnetAttributeCommand({ SubnetId: id, MapPublicIpOnLaunch: { Value: value } }));

export const subnet = resource<Inputs>({
  token: "aws:ec2/subnet:Subnet",
  tagged: true,
  inputs: ["vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId", "mapPublicIpOnLaunch"],
  computed: ["availabilityZone", "availabilityZoneId"],
  replaceOn: ["vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId"],
  defaults: { mapPublicIpOnLaunch: false },

  async create(aws, inputs) {
    const { Subnet } = await aws.ec2.send(
      new CreateSubnetCommand({
        VpcId: inputs.vpcId,
        CidrBlock: inputs.cidrBlock,
        AvailabilityZone: inputs.availabilityZone,
        AvailabilityZoneId: inputs.availabilityZoneId,
        ...tagSpecifications("subnet", inputs.tagsAll),
      }),
    );
    return finishing(Subnet?.SubnetId, async (id) => {
      if (inputs.mapPublicIpOnLaunch) await setPublicIp(aws, id, true);
    });
  },

  async read(aws, id) {
    const found = await orGone(aws.ec2.send(new DescribeSubnetsCommand({ SubnetIds: [id] })));
    const actual = found?.Subnets?.[0];
    if (!actual) return null;
    return {
      arn: actual.SubnetArn,
      vpcId: actual.VpcId,
      cidrBlock: actual.CidrBlock,
      availabilityZone: actual.AvailabilityZone,
      availabilityZoneId: actual.AvailabilityZoneId,
      mapPublicIpOnLaunch: actual.MapPublicIpOnLaunch,
      ownerId: actual.OwnerId,
      tagsAll: tagsFrom(actual.Tags),
    };
  },

  async update(aws, id, change) {
    if (change.has("mapPublicIpOnLaunch")) await setPublicIp(aws, id, change.new.mapPublicIpOnLaunch ?? false);
    await syncEc2Tags(aws, id, change);
  },

  async delete(aws, id) {
    await orGone(aws.ec2.send(new DeleteSubnetCommand({ SubnetId: id })));
  },
});
