import { contains, parseCidr } from "../../lib/cidr.ts";
import { sharedNetworkTag } from "../../lib/labels.ts";
import type { Spoke, SpokeSpec } from "./api.ts";
import type { Observed } from "./observed.ts";
import type { SpokeProblem } from "./problems.ts";
import { type Resource, resources } from "./resources.ts";

/** Destination of a default route. */
export const everywhere = "0.0.0.0/0";

/** Whether all traffic that leaves the VPC goes through the transit gateway, to the internet too if the company routes it there. */
export const isEgress = ({ transitGateway }: Partial<Pick<SpokeSpec["network"], "transitGateway">>): boolean =>
  transitGateway?.destinationCidrs.includes(everywhere) === true;

/** The destinations that are part of a block of the VPC: EC2 accepts no transit gateway as the target of such a route. */
const inVpc = ({ transitGateway, podCidr }: SpokeSpec["network"], vpc: string | undefined): readonly string[] => {
  const blocks = [vpc, podCidr].flatMap((text) => parseCidr(text ?? "") ?? []);
  return (transitGateway?.destinationCidrs ?? []).filter((text) => {
    const cidr = parseCidr(text);
    return cidr !== undefined && blocks.some((block) => contains(block, cidr));
  });
};

/** The destinations that get routes in a VPC with the block `vpc`. */
export function routedCidrs(network: SpokeSpec["network"], vpc: string | undefined): readonly string[] {
  const local = inVpc(network, vpc);
  return (network.transitGateway?.destinationCidrs ?? []).filter((cidr) => !local.includes(cidr));
}

/** The routes to the transit gateway: one for each destination and private route table. */
export const transitRoutes = (network: SpokeSpec["network"], vpc: string | undefined): readonly Resource[] =>
  routedCidrs(network, vpc).flatMap((cidr) =>
    Array.from({ length: network.zones }, (_, zone) => resources.transitRoute(cidr, zone)),
  );

/** Destinations inside of the VPC, whose block the pool can have given before the Spoke named them. */
export function transitProblems({ spec: { network } }: Pick<Spoke, "spec">, vpc: string | undefined): SpokeProblem[] {
  const local = inVpc(network, vpc);
  if (local.length === 0) return [];
  const message =
    `spec.network.transitGateway.destinationCidrs ${local.join(", ")} are part of the VPC (${[vpc, network.podCidr].filter(Boolean).join(", ")}): ` +
    "remove them, or name a wider network: traffic inside of the VPC keeps its local route";
  return [{ reason: "InvalidNetwork", message }];
}

const acceptance = (attachment: string, region: string): string =>
  `if another account owns the transit gateway and doesn't accept attachments automatically, its owner has to accept this one: ` +
  `aws ec2 accept-transit-gateway-vpc-attachment --region ${region} --transit-gateway-attachment-id ${attachment}`;

/**
 * What routes wait for although the attachment exists. The provider treats an attachment that waits for acceptance as created and reports no state
 * (terraform-provider-aws, waitTransitGatewayVPCAttachmentCreated; its issue 18412). EC2 creates routes for an available attachment only.
 * @param unready keys of what isn't ready
 */
export function pendingAttachment(
  { spec: { network, region } }: Pick<Spoke, "spec">,
  observed: Observed,
  unready: readonly string[],
): string | undefined {
  const attachment = observed.readyText(resources.transitGateway, "id");
  if (network.transitGateway === undefined || attachment === undefined) return undefined;
  const routes = transitRoutes(network, undefined).filter(({ key }) => unready.includes(key));
  if (routes.length === 0) return undefined;
  return (
    `waiting for routes to ${network.transitGateway.id}, which AWS creates when the attachment ${attachment} is available; ` +
    acceptance(attachment, region)
  );
}

/** The reason of a condition while routes wait for the attachment. */
export const attachmentPending = "AttachmentPending";

/** What AWS's messages about transit gateways mean: a part of the known failures. */
export const transitFailures: readonly Readonly<Record<"reason" | "remedy", string> & { pattern: RegExp }>[] = [
  // Of a route, EC2 reports so of a gateway without an available attachment (terraform-provider-aws#9222 and #10025).
  {
    pattern: /\broute\b.*InvalidTransitGatewayID\.NotFound/is,
    reason: attachmentPending,
    remedy: `AWS creates routes when the attachment of the VPC is available (aws ec2 describe-transit-gateway-vpc-attachments shows its state); ${acceptance("<attachment>", "<region>")}. Crossplane retries automatically`,
  },
  {
    pattern: /InvalidTransitGatewayI[Dd]\.(NotFound|Malformed)/,
    reason: "TransitGatewayNotFound",
    remedy:
      "spec.network.transitGateway.id must be a transit gateway in the Spoke's region that its account owns, or that another account shares with it by AWS RAM. To use another one, remove the field, wait until the Spoke is Ready, and add it again",
  },
  {
    // A message without a resource is of an explicit denial, which this call has for untagged gateways only.
    pattern:
      /not authorized to perform: ec2:CreateTransitGatewayVpcAttachment(?: on resource: \S*:transit-gateway\/|(?! on resource))/i,
    reason: "TransitGatewayNotShared",
    remedy: `the owner of a transit gateway in the Spoke's account permits attachments of the fleet by a tag: aws ec2 create-tags --resources <transit gateway> --tags Key=${sharedNetworkTag},Value=<fleet>. If it has the tag, run pulumi up, also in the stack of the account: Crossplane's role needs the permission`,
  },
  {
    pattern: /DuplicateTransitGatewayAttachment/,
    reason: "AlreadyExists",
    remedy:
      "the VPC has an attachment to this transit gateway that the hub didn't record: after an interrupted creation fleet recover <name> records it; otherwise its owner has to delete it",
  },
];
