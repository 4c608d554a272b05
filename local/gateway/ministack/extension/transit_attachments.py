"""Attachments of VPCs to transit gateways, and routes through them."""

import ipaddress
import time

from .network_interfaces import UNTIL, add
from .transit_gateways import LINKED_ROLE, attachments, gateways, new_id, pending, refresh, set_tags, unusable

# How long an attachment that is deleted still has its interfaces, in seconds: minutes in AWS.
_LINGER = 3


def extend(_app, _secret):
    """ministack has none, and routes to any ID.

    EC2 API Reference, TransitGatewayVpcAttachment, and "Error codes for the Amazon EC2 API": InvalidTransitGatewayAttachmentID.NotFound, IncorrectState,
    DuplicateTransitGatewayAttachment. Amazon VPC Transit Gateways: an attachment to another account's gateway waits in pendingAcceptance, unless the gateway accepts
    shared attachments; the first one of an account makes the service-linked role. EC2 says of a route that its gateway doesn't exist as long as the VPC has no available
    attachment (hashicorp/terraform-provider-aws#9222 and #10025).
    """
    from ministack.services import ec2, iam

    calls = ec2._ACTION_MAP
    originals = {name: calls[name] for name in ("CreateRoute", "ReplaceRoute")}

    def refused(code, message):
        return ec2._error(code, message, 400)

    def unattachable(gateway_id, vpc, subnets):
        """Why a VPC can't be attached in these subnets."""
        refusal = unusable(ec2, gateway_id)
        if refusal:
            return refusal
        if vpc not in ec2._vpcs:
            return refused("InvalidVpcID.NotFound", f"The vpc ID '{vpc}' does not exist")
        if not subnets:
            return refused("MissingParameter", "The request must contain the parameter SubnetIds")
        for subnet in subnets:
            if (ec2._subnets.get(subnet) or {}).get("VpcId") != vpc:
                return refused("InvalidSubnetID.NotFound", f"The subnet ID '{subnet}' does not exist")
        zones = [ec2._subnets[subnet]["AvailabilityZone"] for subnet in subnets]
        if len(set(zones)) < len(zones):
            return refused("DuplicateSubnetsInSameZone", "Duplicate Subnets for same AZ")
        if any(each["Gateway"] == gateway_id and each["VpcId"] == vpc and each["State"] != "deleted" for each in attachments.values()):
            return refused("DuplicateTransitGatewayAttachment", f"{gateway_id} has non-deleted Transit Gateway Attachments with same VPC ID.")
        return None

    def create_attachment(params):
        refresh(ec2)
        gateway_id, vpc, subnets = ec2._p(params, "TransitGatewayId"), ec2._p(params, "VpcId"), ec2._parse_member_list(params, "SubnetIds")
        refusal = unattachable(gateway_id, vpc, subnets)
        if refusal:
            return refusal
        iam._roles.setdefault(LINKED_ROLE[0], linked_role())
        id_, gateway = new_id("tgw-attach"), gateways[gateway_id]
        waits = gateway["OwnerId"] != ec2.get_account_id() and gateway["AutoAccept"] != "enable"
        interfaces = {
            subnet: add(ec2, subnet, [], Description=f"Network Interface for Transit Gateway Attachment {id_}", InterfaceType="transit_gateway")
            for subnet in subnets
        }
        attachments[id_] = {
            "Id": id_, "Gateway": gateway_id, "VpcId": vpc, "VpcOwnerId": ec2.get_account_id(), "Region": ec2.get_region(), "Interfaces": interfaces,
            "Created": ec2._now_ts(), **({"State": "pendingAcceptance"} if waits else pending()),
        }
        set_tags(ec2, params, "transit-gateway-attachment", id_)
        return answer("CreateTransitGatewayVpcAttachment", attachments[id_])

    def linked_role():
        name, service = LINKED_ROLE
        trust = f'{{"Version":"2012-10-17","Statement":[{{"Effect":"Allow","Principal":{{"Service":"{service}"}},"Action":"sts:AssumeRole"}}]}}'
        return {
            "RoleName": name, "Arn": f"arn:aws:iam::{ec2.get_account_id()}:role/aws-service-role/{service}/{name}", "RoleId": iam._gen_id("AROA"), "CreateDate": iam._now(), "Path": f"/aws-service-role/{service}/", "AssumeRolePolicyDocument": trust,
            "Description": "", "MaxSessionDuration": 3600, "AttachedPolicies": [], "InlinePolicies": {}, "Tags": [],
        }

    def answer(call, attachment):
        return ec2._xml(200, f"{call}Response", f"<transitGatewayVpcAttachment>{told(attachment)}</transitGatewayVpcAttachment>")

    def told(attachment):
        subnets = "".join(f"<item>{subnet}</item>" for subnet in attachment["Interfaces"])
        # The other account doesn't see the tags.
        tags = ec2._tag_set_xml(attachment["Id"]) if attachment["VpcOwnerId"] == ec2.get_account_id() else ""
        return (
            f"<transitGatewayAttachmentId>{attachment['Id']}</transitGatewayAttachmentId><transitGatewayId>{attachment['Gateway']}</transitGatewayId>"
            f"<vpcId>{attachment['VpcId']}</vpcId><vpcOwnerId>{attachment['VpcOwnerId']}</vpcOwnerId><state>{attachment['State']}</state>"
            f"<subnetIds>{subnets}</subnetIds><creationTime>{attachment['Created']}</creationTime>"
            f"<options><dnsSupport>enable</dnsSupport><ipv6Support>disable</ipv6Support><applianceModeSupport>disable</applianceModeSupport></options>{tags}"
        )

    def seen(attachment):
        """Whether the caller owns the VPC or the gateway."""
        owners = (attachment["VpcOwnerId"], (gateways.get(attachment["Gateway"]) or {}).get("OwnerId"))
        return attachment["Region"] == ec2.get_region() and ec2.get_account_id() in owners

    def unknown(id_):
        return refused("InvalidTransitGatewayAttachmentID.NotFound", f"Transit Gateway Attachment {id_} was deleted or does not exist.")

    def describe_attachments(params):
        refresh(ec2)
        ids, filters = ec2._parse_member_list(params, "TransitGatewayAttachmentIds"), ec2._parse_filters(params)
        for id_ in ids:
            if id_ not in attachments or not seen(attachments[id_]):
                return unknown(id_)
        fields = {"vpc-id": "VpcId", "transit-gateway-id": "Gateway", "transit-gateway-attachment-id": "Id", "state": "State"}
        found = [
            attachment for id_, attachment in attachments.items()
            if seen(attachment) and (not ids or id_ in ids) and ec2._resource_matches_tag_filters(id_, filters)
            and all(attachment[field] in filters[name] for name, field in fields.items() if name in filters)
        ]
        items = "".join(f"<item>{told(attachment)}</item>" for attachment in found)
        return ec2._xml(200, "DescribeTransitGatewayVpcAttachmentsResponse", f"<transitGatewayVpcAttachments>{items}</transitGatewayVpcAttachments>")

    def accept_attachment(params):
        refresh(ec2)
        id_ = ec2._p(params, "TransitGatewayAttachmentId")
        attachment = attachments.get(id_)
        if not attachment or (gateways.get(attachment["Gateway"]) or {}).get("OwnerId") != ec2.get_account_id():
            return unknown(id_)
        if attachment["State"] != "pendingAcceptance":
            return refused("IncorrectState", f"{id_} is in invalid state")
        attachment.update(pending())
        return answer("AcceptTransitGatewayVpcAttachment", attachment)

    def delete_attachment(params):
        refresh(ec2)
        id_ = ec2._p(params, "TransitGatewayAttachmentId")
        attachment = attachments.get(id_)
        if not attachment or attachment["VpcOwnerId"] != ec2.get_account_id() or attachment["State"] == "deleted":
            return unknown(id_)
        if attachment["State"] not in ("available", "pendingAcceptance"):
            return refused("IncorrectState", f"{id_} is in invalid state")
        until = {UNTIL: time.time() + _LINGER}
        attachment.update(State="deleting", **until)
        for interface in attachment["Interfaces"].values():
            ec2._network_interfaces[interface].update(until)
        for table in ec2._route_tables.values():
            for route in table["Routes"] if table["VpcId"] == attachment["VpcId"] else ():
                if route.get("TransitGatewayId") == attachment["Gateway"]:
                    route["State"] = "blackhole"
        return answer("DeleteTransitGatewayVpcAttachment", attachment)

    def unroutable(params):
        """Why the VPC of a table can't route a destination to a transit gateway."""
        refresh(ec2)
        gateway_id, block = ec2._p(params, "TransitGatewayId"), ec2._p(params, "DestinationCidrBlock")
        vpc = ec2._route_tables[ec2._p(params, "RouteTableId")]["VpcId"]
        if not any(each["Gateway"] == gateway_id and each["VpcId"] == vpc and each["State"] == "available" for each in attachments.values()):
            return refused("InvalidTransitGatewayID.NotFound", f"The transitGateway ID '{gateway_id}' does not exist.")
        local = [route["DestinationCidrBlock"] for route in ec2._route_tables[ec2._p(params, "RouteTableId")]["Routes"] if route.get("GatewayId") == "local"]
        if any(ipaddress.ip_network(block, strict=False).subnet_of(ipaddress.ip_network(each)) for each in local):
            return refused(
                "InvalidParameterValue",
                f"The destination CIDR block {block} is equal to or more specific than one of this VPC's CIDR blocks. This route can target only an interface or an instance.")
        return None

    def routed(name):
        def call(params):
            if not ec2._p(params, "TransitGatewayId") or ec2._p(params, "RouteTableId") not in ec2._route_tables:
                return originals[name](params)
            refusal = unroutable(params)
            if refusal:
                return refusal
            result = originals[name](params)
            for route in ec2._route_tables[ec2._p(params, "RouteTableId")]["Routes"]:
                if route.get("DestinationCidrBlock") == ec2._p(params, "DestinationCidrBlock"):
                    for other in ("GatewayId", "NatGatewayId", "VpcPeeringConnectionId"):
                        route.pop(other, None)
                    route.update(TransitGatewayId=ec2._p(params, "TransitGatewayId"), State="active")
            return result

        return call

    calls.update(
        CreateTransitGatewayVpcAttachment=create_attachment, DescribeTransitGatewayVpcAttachments=describe_attachments,
        AcceptTransitGatewayVpcAttachment=accept_attachment, DeleteTransitGatewayVpcAttachment=delete_attachment,
        CreateRoute=routed("CreateRoute"), ReplaceRoute=routed("ReplaceRoute"),
    )
