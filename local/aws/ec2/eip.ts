import {
  AllocateAddressCommand,
  AssociateAddressCommand,
  DescribeAddressesCommand,
  DisassociateAddressCommand,
  ReleaseAddressCommand,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { finishing, resource, type Tagged } from "../handler.ts";
import { tagsFrom } from "../tags.ts";
import { syncEc2Tags, tagSpecifications } from "./tags.ts";

interface Inputs extends Tagged {
  domain?: "vpc";
  instance?: string;
  networkInterface?: string;
  associateWithPrivateIp?: string;
}

const associate = (aws: Aws, id: string, inputs: Inputs) =>
  aws.ec2.send(
    new AssociateAddressCommand({
      AllocationId: id,
      InstanceId: inputs.instance,
      NetworkInterfaceId: inputs.networkInterface,
      PrivateIpAddress: inputs.associateWithPrivateIp,
      AllowReassociation: true,
    }),
  );

async function find(aws: Aws, id: string) {
  const found = await orGone(aws.ec2.send(new DescribeAddressesCommand({ AllocationIds: [id] })));
  return found?.Addresses?.[0];
}

async function disassociate(aws: Aws, id: string): Promise<void> {
  const association = (await find(aws, id))?.AssociationId;
  if (association) await orGone(aws.ec2.send(new DisassociateAddressCommand({ AssociationId: association })));
}

export const eip = resource<Inputs>({
  token: "aws:ec2/eip:Eip",
  tagged: true,
  inputs: ["domain", "instance", "networkInterface", "associateWithPrivateIp"],
  computed: ["domain", "instance", "networkInterface"],
  replaceOn: ["domain"],
  unread: ["associateWithPrivateIp"],

  async create(aws, inputs) {
    const { AllocationId } = await aws.ec2.send(
      new AllocateAddressCommand({
        Domain: inputs.domain ?? "vpc",
        ...tagSpecifications("elastic-ip", inputs.tagsAll),
      }),
    );
    return finishing(AllocationId, async (id) => {
      if (inputs.instance || inputs.networkInterface) await associate(aws, id, inputs);
    });
  },

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual) return null;
    return {
      allocationId: id,
      arn: `arn:${aws.partition}:ec2:${aws.region}:${await aws.accountId()}:elastic-ip/${id}`,
      associationId: actual.AssociationId,
      domain: actual.Domain,
      instance: actual.InstanceId,
      networkBorderGroup: actual.NetworkBorderGroup,
      networkInterface: actual.NetworkInterfaceId,
      privateIp: actual.PrivateIpAddress,
      publicIp: actual.PublicIp,
      publicIpv4Pool: actual.PublicIpv4Pool,
      tagsAll: tagsFrom(actual.Tags),
    };
  },

  async update(aws, id, change) {
    if (change.has("instance", "networkInterface", "associateWithPrivateIp")) {
      await disassociate(aws, id);
      if (change.new.instance || change.new.networkInterface) await associate(aws, id, change.new);
    }
    await syncEc2Tags(aws, id, change);
  },

  async delete(aws, id) {
    await disassociate(aws, id);
    await orGone(aws.ec2.send(new ReleaseAddressCommand({ AllocationId: id })));
  },
});
