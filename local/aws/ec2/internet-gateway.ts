import {
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  DeleteInternetGatewayCommand,
  DescribeInternetGatewaysCommand,
  DetachInternetGatewayCommand,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { hasCode, orGone } from "../errors.ts";
import { finishing, resource, type Tagged } from "../handler.ts";
import { tagsFrom } from "../tags.ts";
import { ec2Arn, syncEc2Tags, tagSpecifications } from "./tags.ts";

interface Inputs extends Tagged {
  vpcId?: string;
}

const attach = (aws: Aws, id: string, vpcId: string) =>
  aws.ec2.send(new AttachInternetGatewayCommand({ InternetGatewayId: id, VpcId: vpcId }));

async function detach(aws: Aws, id: string, vpcId: string): Promise<void> {
  try {
    await orGone(aws.ec2.send(new DetachInternetGatewayCommand({ InternetGatewayId: id, VpcId: vpcId })));
  } catch (error) {
    if (!hasCode(error, "Gateway.NotAttached")) throw error;
  }
}

async function find(aws: Aws, id: string) {
  const found = await orGone(aws.ec2.send(new DescribeInternetGatewaysCommand({ InternetGatewayIds: [id] })));
  return found?.InternetGateways?.[0];
}

export const internetGateway = resource<Inputs>({
  token: "aws:ec2/internetGateway:InternetGateway",
  tagged: true,
  inputs: ["vpcId"],
  computed: ["vpcId"],
  replaceOn: [],

  async create(aws, inputs) {
    const { InternetGateway } = await aws.ec2.send(
      new CreateInternetGatewayCommand(tagSpecifications("internet-gateway", inputs.tagsAll)),
    );
    return finishing(InternetGateway?.InternetGatewayId, async (id) => {
      if (inputs.vpcId) await attach(aws, id, inputs.vpcId);
    });
  },

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual) return null;
    return {
      arn: ec2Arn(aws, actual.OwnerId, "internet-gateway", id),
      ownerId: actual.OwnerId,
      vpcId: actual.Attachments?.[0]?.VpcId,
      tagsAll: tagsFrom(actual.Tags),
    };
  },

  async update(aws, id, change) {
    if (change.has("vpcId")) {
      if (change.old.vpcId) await detach(aws, id, change.old.vpcId);
      if (change.new.vpcId) await attach(aws, id, change.new.vpcId);
    }
    await syncEc2Tags(aws, id, change);
  },

  async delete(aws, id) {
    const actual = await find(aws, id);
    for (const { VpcId } of actual?.Attachments ?? []) if (VpcId) await detach(aws, id, VpcId);
    await orGone(aws.ec2.send(new DeleteInternetGatewayCommand({ InternetGatewayId: id })));
  },
});
