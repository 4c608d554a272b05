import {
  type ConnectivityType,
  CreateNatGatewayCommand,
  DeleteNatGatewayCommand,
  DescribeNatGatewaysCommand,
  type NatGateway,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { finishing, resource, type Tagged } from "../handler.ts";
import { poll } from "../poll.ts";
import { tagsFrom } from "../tags.ts";
import { syncEc2Tags, tagSpecifications } from "./tags.ts";

interface Inputs extends Tagged {
  subnetId: string;
  allocationId?: string;
  connectivityType?: ConnectivityType;
  privateIp?: string;
}

/** A deleted NAT gateway is still described for about an hour. */
async function find(aws: Aws, id: string): Promise<NatGateway | undefined> {
  const found = await orGone(aws.ec2.send(new DescribeNatGatewaysCommand({ NatGatewayIds: [id] })));
  const actual = found?.NatGateways?.[0];
  return actual?.State === "deleted" ? undefined : actual;
}

async function available(aws: Aws, id: string): Promise<true | undefined> {
  const actual = await find(aws, id);
  if (!actual || actual.State === "failed" || actual.State === "deleting")
    throw new Error(`NAT gateway ${id} is ${actual?.State ?? "gone"}: ${actual?.FailureMessage ?? "no reason given"}`);
  return actual.State === "available" ? true : undefined;
}

const ready = (aws: Aws, id: string) =>
  poll({ what: `NAT gateway ${id} to become available`, timeout: aws.timeout }, () => available(aws, id));

export const natGateway = resource<Inputs>({
  token: "aws:ec2/natGateway:NatGateway",
  tagged: true,
  inputs: ["subnetId", "allocationId", "connectivityType", "privateIp"],
  computed: ["privateIp"],
  replaceOn: ["subnetId", "allocationId", "connectivityType", "privateIp"],
  defaults: { connectivityType: "public" },

  async create(aws, inputs) {
    const { NatGateway } = await aws.ec2.send(
      new CreateNatGatewayCommand({
        SubnetId: inputs.subnetId,
        AllocationId: inputs.allocationId,
        ConnectivityType: inputs.connectivityType,
        PrivateIpAddress: inputs.privateIp,
        ...tagSpecifications("natgateway", inputs.tagsAll),
      }),
    );
    return finishing(NatGateway?.NatGatewayId, (id) => ready(aws, id));
  },

  ready,

  async read(aws, id, last) {
    const actual = await find(aws, id);
    if (!actual || actual.State === "deleting" || actual.State === "failed") return null;
    const address = actual.NatGatewayAddresses?.find(({ IsPrimary }) => IsPrimary) ?? actual.NatGatewayAddresses?.[0];
    return {
      // ministack names no addresses: then the last known one stands.
      allocationId: address?.AllocationId ?? last.allocationId,
      associationId: address?.AssociationId,
      connectivityType: actual.ConnectivityType,
      networkInterfaceId: address?.NetworkInterfaceId,
      privateIp: address?.PrivateIp,
      publicIp: address?.PublicIp,
      subnetId: actual.SubnetId,
      tagsAll: tagsFrom(actual.Tags),
    };
  },

  update: (aws, id, change) => syncEc2Tags(aws, id, change),

  async delete(aws, id) {
    await orGone(aws.ec2.send(new DeleteNatGatewayCommand({ NatGatewayId: id })));
    await poll({ what: `NAT gateway ${id} to be deleted`, timeout: aws.timeout }, async () =>
      (await find(aws, id)) ? undefined : true,
    );
  },
});
