/** Attachments of VPCs to transit gateways. */
import * as sdk from "@aws-sdk/client-ec2";
import type { Aws } from "../connection.ts";
import { fixed, type Item, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { api, arnOf, ec2Tags } from "./define.ts";

async function attachment(aws: Aws, id: string): Promise<sdk.TransitGatewayVpcAttachment | undefined> {
  const request = new sdk.DescribeTransitGatewayVpcAttachmentsCommand({ TransitGatewayAttachmentIds: [id] });
  const found = (await api(aws).send(request)).TransitGatewayVpcAttachments?.[0];
  // AWS describes a deleted one for some hours.
  return found?.State === "deleted" ? undefined : found;
}

/**
 * Whether the default route tables of the gateway have the attachment. The provider reads them of a gateway in its own account only
 * (terraform-provider-aws, internal/service/ec2/transitgateway_vpc_attachment.go).
 */
async function routeTablesOf(aws: Aws, id: string, { TransitGatewayId, VpcOwnerId }: Item): Promise<Item> {
  const request = new sdk.DescribeTransitGatewaysCommand({ TransitGatewayIds: [TransitGatewayId as string] });
  const { OwnerId, Options } = (await api(aws).send(request)).TransitGateways?.[0] ?? {};
  if (OwnerId !== VpcOwnerId) return { Association: true, Propagation: true };
  const { AssociationDefaultRouteTableId, PropagationDefaultRouteTableId } = Options ?? {};
  const isIn = (found: readonly { TransitGatewayAttachmentId?: string | undefined }[] = []) =>
    found.some(({ TransitGatewayAttachmentId }) => TransitGatewayAttachmentId === id);
  const associations = async (TransitGatewayRouteTableId: string) =>
    (await api(aws).send(new sdk.GetTransitGatewayRouteTableAssociationsCommand({ TransitGatewayRouteTableId })))
      .Associations;
  const propagations = async (TransitGatewayRouteTableId: string) =>
    (await api(aws).send(new sdk.GetTransitGatewayRouteTablePropagationsCommand({ TransitGatewayRouteTableId })))
      .TransitGatewayRouteTablePropagations;
  return {
    Association: AssociationDefaultRouteTableId ? isIn(await associations(AssociationDefaultRouteTableId)) : false,
    Propagation: PropagationDefaultRouteTableId ? isIn(await propagations(PropagationDefaultRouteTableId)) : false,
  };
}

/** An input that only tells whether the provider changes route tables of the gateway: the calls of the fleet don't. */
const routeTable = (member: string) =>
  ({ type: "boolean", api: null, default: true, get: (item: Item) => item[member] }) as const;

export const transitGatewayVpcAttachment = define({
  token: "aws:ec2transitgateway/vpcAttachment:VpcAttachment",
  crossplane: { kind: "ec2/TransitGatewayVPCAttachment", asynchronous: true },
  tags: ec2Tags("transit-gateway-attachment"),
  states: {
    what: "transit gateway attachment",
    of: ({ State }) => State as string,
    // As Terraform does (waitTransitGatewayVPCAttachmentCreated).
    usable: ["available", "pendingAcceptance"],
    pending: ["failing", "pending"],
    leaving: ["deleting"],
  },
  fields: {
    transitGatewayId: { fixed },
    vpcId: { fixed },
    subnetIds: { type: "set", fixed },
    transitGatewayDefaultRouteTableAssociation: routeTable("Association"),
    transitGatewayDefaultRouteTablePropagation: routeTable("Propagation"),
    vpcOwnerId: out(),
    arn: arnOf("transit-gateway-attachment"),
  },
  create: async (aws, request) =>
    (
      await api(aws).send(
        new sdk.CreateTransitGatewayVpcAttachmentCommand(
          request as unknown as sdk.CreateTransitGatewayVpcAttachmentRequest,
        ),
      )
    ).TransitGatewayVpcAttachment?.TransitGatewayAttachmentId,
  find: attachment,
  also: async (aws, id, item) => ({ ...(await routeTablesOf(aws, id, item)), OwnerId: item["VpcOwnerId"] }),
  delete: (aws, id) =>
    api(aws).send(new sdk.DeleteTransitGatewayVpcAttachmentCommand({ TransitGatewayAttachmentId: id })),
});
