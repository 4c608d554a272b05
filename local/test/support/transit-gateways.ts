import type { EC2, TransitGatewayRequestOptions } from "@aws-sdk/client-ec2";
import { poll } from "../../aws/poll.ts";

/**
 * Creates a transit gateway, as a company's network team has one, and waits until VPCs can be attached.
 * @param tags `fleet.local/shared-with` shares it with other accounts: the emulator has no AWS RAM
 */
export async function addTransitGateway(
  ec2: EC2,
  tags: Readonly<Record<string, string>> = {},
  Options: TransitGatewayRequestOptions = {},
): Promise<string> {
  const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  const TagSpecifications = Tags.length === 0 ? [] : [{ ResourceType: "transit-gateway" as const, Tags }];
  const { TransitGateway } = await ec2.createTransitGateway({ Options, TagSpecifications });
  const id = TransitGateway?.TransitGatewayId ?? "";
  await poll({ what: `transit gateway ${id} to become available`, timeout: 60_000 }, async () => {
    const { TransitGateways } = await ec2.describeTransitGateways({ TransitGatewayIds: [id] });
    return TransitGateways?.[0]?.State === "available" ? true : undefined;
  });
  return id;
}
