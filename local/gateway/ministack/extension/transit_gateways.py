"""Transit gateways, and which of them an account may use."""

import random
import re
import time

from .accounts import RAM_SHARES
from .authorization import CALLS
from .network_interfaces import UNTIL, settle
from .shared import replace

# How long a gateway or an attachment is pending, in seconds: minutes in AWS.
PENDING = 3
# The tag by which an owner shares a gateway with other accounts, separated by spaces: in place of AWS RAM, which the emulator lacks.
SHARED_WITH = "fleet.local/shared-with"
LINKED_ROLE = ("AWSServiceRoleForVPCTransitGateway", "transitgateway.amazonaws.com")
_ID = re.compile(r"tgw-[0-9a-f]{8,17}")
# By ID, of all accounts: a gateway has attachments of several.
gateways, attachments = {}, {}


def new_id(prefix):
    return f"{prefix}-" + "".join(random.choices("0123456789abcdef", k=17))


def pending():
    return {"State": "pending", UNTIL: time.time() + PENDING}


def refresh(ec2):
    """What its time has come for: pending ones are available, those that are deleted are told as such."""
    settle(ec2)
    for store in (gateways, attachments):
        for record in store.values():
            if record.get(UNTIL, float("inf")) < time.time():
                del record[UNTIL]
                record["State"] = {"pending": "available", "deleting": "deleted"}[record["State"]]


def visible(ec2, id_):
    """The gateway, where it is the caller's own or shared with it, in the region of the call."""
    gateway = gateways.get(id_)
    own = gateway and gateway["OwnerId"] == ec2.get_account_id()
    return gateway if gateway and gateway["Region"] == ec2.get_region() and (own or _is_shared(ec2, gateway)) else None


def unusable(ec2, id_):
    """Why the caller can't use a gateway."""
    if not _ID.fullmatch(id_):
        return ec2._error("InvalidTransitGatewayID.Malformed", f'Invalid id: "{id_}" (expecting "tgw-...")', 400)
    gateway = visible(ec2, id_)
    if not gateway:
        return unknown(ec2, id_)
    return None if gateway["State"] == "available" else ec2._error("IncorrectState", f"{id_} is in invalid state", 400)


def unknown(ec2, id_):
    return ec2._error("InvalidTransitGatewayID.NotFound", f"Transit Gateway {id_} was deleted or does not exist.", 400)


def set_tags(ec2, params, kind, id_):
    """The tags of a creation: some of these calls have the plural in their parameters."""
    ec2._parse_tag_specs({name.replace("TagSpecifications.", "TagSpecification."): value for name, value in params.items()}, kind, id_)


def _is_shared(ec2, gateway):
    tags = ec2._tags.get_scoped(gateway["OwnerId"], gateway["Region"], gateway["Id"]) or []
    return any(tag["Key"] == SHARED_WITH and ec2.get_account_id() in tag["Value"].split() for tag in tags)


def _arn_of(gateway):
    return f"arn:aws:ec2:{gateway['Region']}:{gateway['OwnerId']}:transit-gateway/{gateway['Id']}"


def extend(_app, _secret):
    """ministack has none.

    EC2 API Reference, TransitGateway, and "Error codes for the Amazon EC2 API": InvalidTransitGatewayID.NotFound and .Malformed, IncorrectState. The message of
    a missing one as in terraform-aws-modules/terraform-aws-transit-gateway#89. An owner's own route tables are unknown to other accounts. No packet passes a gateway here.
    """
    from ministack.services import ec2, iam

    def create_gateway(params):
        id_ = new_id("tgw")
        asked = {name: ec2._p(params, f"Options.{name}") for name in ("AutoAcceptSharedAttachments", "DefaultRouteTableAssociation", "DefaultRouteTablePropagation")}
        gateways[id_] = {
            "Id": id_, "OwnerId": ec2.get_account_id(), "Region": ec2.get_region(), "Description": ec2._p(params, "Description"), "Created": ec2._now_ts(),
            "AutoAccept": asked["AutoAcceptSharedAttachments"] or "disable", "RouteTable": new_id("tgw-rtb"),
            "Association": asked["DefaultRouteTableAssociation"] or "enable", "Propagation": asked["DefaultRouteTablePropagation"] or "enable",
            **pending(),
        }
        set_tags(ec2, params, "transit-gateway", id_)
        return ec2._xml(200, "CreateTransitGatewayResponse", f"<transitGateway>{told_gateway(gateways[id_])}</transitGateway>")

    def told_gateway(gateway):
        id_, table = gateway["Id"], gateway["RouteTable"]
        default = {kind: f"<{word}DefaultRouteTableId>{table}</{word}DefaultRouteTableId>" if gateway[kind] == "enable" else ""
                   for kind, word in (("Association", "association"), ("Propagation", "propagation"))}
        return (
            f"<transitGatewayId>{id_}</transitGatewayId><transitGatewayArn>{_arn_of(gateway)}</transitGatewayArn>"
            f"<state>{gateway['State']}</state><ownerId>{gateway['OwnerId']}</ownerId><description>{ec2._esc(gateway['Description'])}</description>"
            f"<creationTime>{gateway['Created']}</creationTime><options><amazonSideAsn>64512</amazonSideAsn>"
            f"<autoAcceptSharedAttachments>{gateway['AutoAccept']}</autoAcceptSharedAttachments>"
            f"<defaultRouteTableAssociation>{gateway['Association']}</defaultRouteTableAssociation>{default['Association']}"
            f"<defaultRouteTablePropagation>{gateway['Propagation']}</defaultRouteTablePropagation>{default['Propagation']}"
            f"<vpnEcmpSupport>enable</vpnEcmpSupport><dnsSupport>enable</dnsSupport><multicastSupport>disable</multicastSupport></options>{ec2._tag_set_xml(id_)}"
        )

    def describe_gateways(params):
        refresh(ec2)
        ids = ec2._parse_member_list(params, "TransitGatewayIds")
        for id_ in ids:
            if not visible(ec2, id_):
                return unknown(ec2, id_)
        filters = ec2._parse_filters(params)
        found = [
            gateway for id_, gateway in gateways.items()
            if visible(ec2, id_) and (not ids or id_ in ids) and ec2._resource_matches_tag_filters(id_, filters)
        ]
        items = "".join(f"<item>{told_gateway(gateway)}</item>" for gateway in found)
        return ec2._xml(200, "DescribeTransitGatewaysResponse", f"<transitGatewaySet>{items}</transitGatewaySet>")

    def delete_gateway(params):
        refresh(ec2)
        id_ = ec2._p(params, "TransitGatewayId")
        gateway = gateways.get(id_)
        if not gateway or not visible(ec2, id_) or gateway["OwnerId"] != ec2.get_account_id() or gateway["State"] == "deleted":
            return unknown(ec2, id_)
        used = [attachment["Id"] for attachment in attachments.values() if attachment["Gateway"] == id_ and attachment["State"] != "deleted"]
        if used:
            return ec2._error("IncorrectState", f"{id_} has non-deleted VPC Attachments: {', '.join(used)}.", 400)
        del gateways[id_]
        ec2._tags.pop(id_, None)
        return ec2._xml(200, "DeleteTransitGatewayResponse", f"<transitGateway>{told_gateway({**gateway, 'State': 'deleting'})}</transitGateway>")

    def of_route_table(call, element, kind):
        """The attachments that a gateway's default route table has; tables of another account are unknown."""

        def respond(params):
            refresh(ec2)
            table = ec2._p(params, "TransitGatewayRouteTableId")
            gateway = next((each for each in gateways.values() if each["RouteTable"] == table and each["OwnerId"] == ec2.get_account_id()), None)
            if not gateway:
                return ec2._error("InvalidRouteTableID.NotFound", f"Transit Gateway Route Table {table} was deleted or does not exist.", 400)
            joined = [each for each in attachments.values() if each["Gateway"] == gateway["Id"] and each["State"] == "available" and gateway[kind] == "enable"]
            items = "".join(
                f"<item><transitGatewayAttachmentId>{each['Id']}</transitGatewayAttachmentId><resourceId>{each['VpcId']}</resourceId>"
                f"<resourceType>vpc</resourceType><state>{'associated' if kind == 'Association' else 'enabled'}</state></item>" for each in joined)
            return ec2._xml(200, f"{call}Response", f"<{element}>{items}</{element}>")

        return respond

    def shares(arn):
        """AWS RAM lets the accounts with which a gateway is shared attach VPCs to it."""
        gateway = gateways.get(arn.rpartition("/")[2])
        return bool(gateway) and arn == _arn_of(gateway) and _is_shared(ec2, gateway)

    def attaching(named):
        def of(call):
            named(call)
            if call.operation != "CreateTransitGatewayVpcAttachment":
                return
            gateway = visible(ec2, call.param("TransitGatewayId"))
            if gateway:
                own = call.arn(f"transit-gateway/{gateway['Id']}")
                call.resources = [_arn_of(gateway) if arn == own else arn for arn in call.resources]
            if LINKED_ROLE[0] not in iam._roles:
                name, service = LINKED_ROLE
                role = f"arn:aws:iam::{call.account}:role/aws-service-role/{service}/{name}"
                call.also.append(("iam", "iam:CreateServiceLinkedRole", role, {"iam:AWSServiceName": service}))

        return of

    def with_state(original):
        return lambda: {**original(), "transit_gateways": [dict(each) for each in gateways.values()],
                        "transit_gateway_attachments": [dict(each) for each in attachments.values()]}

    def from_state(original):
        def load(data):
            result = original(data)
            for store, name in ((gateways, "transit_gateways"), (attachments, "transit_gateway_attachments")):
                store.update({each["Id"]: each for each in (data or {}).get(name, [])})
            return result

        return load

    replace(ec2, "get_state", with_state)
    replace(ec2, "load_persisted_state", from_state)
    RAM_SHARES.append(shares)
    CALLS["ec2"] = attaching(CALLS["ec2"])
    ec2._ACTION_MAP.update(
        CreateTransitGateway=create_gateway, DescribeTransitGateways=describe_gateways, DeleteTransitGateway=delete_gateway,
        GetTransitGatewayRouteTableAssociations=of_route_table("GetTransitGatewayRouteTableAssociations", "associations", "Association"),
        GetTransitGatewayRouteTablePropagations=of_route_table(
            "GetTransitGatewayRouteTablePropagations", "transitGatewayRouteTablePropagations", "Propagation"),
    )
