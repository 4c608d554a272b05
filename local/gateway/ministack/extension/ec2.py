"""Tags and resources of EC2 calls."""

import contextvars
import re

from .shared import denied_as, replace

# Prefixes of EC2 ids with the resource type in their ARNs.
_TYPES = {
    "eipalloc": "elastic-ip", "eni": "network-interface", "i": "instance", "igw": "internet-gateway", "lt": "launch-template",
    "nat": "natgateway", "pcx": "vpc-peering-connection", "rtb": "route-table", "sg": "security-group", "snap": "snapshot", "subnet": "subnet", "vol": "volume",
    "vpc": "vpc", "vpce": "vpc-endpoint",
}
# What a call makes (Service Authorization Reference, "Actions, resources, and condition keys for Amazon EC2").
_MAKES = {
    "AllocateAddress": "elastic-ip", "CreateInternetGateway": "internet-gateway", "CreateLaunchTemplate": "launch-template",
    "CreateNatGateway": "natgateway", "CreateNetworkInterface": "network-interface", "CreateRouteTable": "route-table",
    "CreateSecurityGroup": "security-group", "CreateSnapshot": "snapshot", "CreateSubnet": "subnet", "CreateVolume": "volume",
    "CreateVpc": "vpc", "CreateVpcEndpoint": "vpc-endpoint", "CreateVpcPeeringConnection": "vpc-peering-connection",
}
# Where a route leads is no resource of the call that makes it.
_TARGETS = ("CreateRoute", "ReplaceRoute")
_ID = re.compile(r"^([a-z]+)-[0-9a-f]+$")
_NAT_GATEWAY = re.compile(rb"<natGatewayId>([^<]+)</natGatewayId>.*?<natGatewayAddressSet/>", re.DOTALL)
_TAGGED = re.compile(r"^TagSpecification\.\d+\.Tag\.\d+\.Key$")


def extend_ec2():
    """aws:ResourceTag and aws:RequestTag of EC2 resources; every resource that a call names or makes needs an Allow, and so do the tags it brings.

    AWS asks for fewer: some calls leave out a resource that they name. This is stricter than AWS, never kinder.
    """
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import get_account_id
    from ministack.services import ec2, tagging

    named = contextvars.ContextVar("fleet_ec2_named", default=((), False))

    def resource_tags(original):
        def tags(arn):
            if not arn.startswith("arn:aws:ec2:"):
                return original(arn)
            found = ec2._tags.get(arn.rsplit("/", 1)[-1])
            return {tag["Key"]: tag["Value"] for tag in found} if found else None

        return tags

    def request_context(original):
        def keys(service, iam_action, body, params):
            call = iam_action.partition(":")[2]
            named.set(request_resources(ec2, call, params, actions._query_param) if service == "ec2" else ((), False))
            # Tags for instances of a launch template are no tags of the request.
            asked = {name: value for name, value in params.items() if not name.startswith("LaunchTemplateData.")}
            return original(service, iam_action, body, asked if service == "ec2" else params)

        return keys

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            resources, tagged = named.get()
            named.set(((), False))
            if service != "ec2" or not resources:
                return original(access_key_id, iam_action, service, region, resource_arn, service_context)
            prefix = f"arn:aws:ec2:{region}:{get_account_id()}:"
            for resource in resources:
                denied = original(access_key_id, iam_action, service, region, prefix + resource, service_context)
                if denied:
                    return denied
            if not tagged:
                return None
            context = {**(service_context or {}), "ec2:CreateAction": iam_action.partition(":")[2]}
            denied = original(access_key_id, "ec2:CreateTags", service, region, prefix + resources[0], context)
            if denied:
                denied_as.set(("ec2:CreateTags", prefix + resources[0]))
            return denied

        return check

    describe = ec2._ACTION_MAP["DescribeNatGateways"]

    def describe_nat_gateways(params):
        """ministack answers without the address that a gateway was made with."""
        status, headers, body = describe(params)

        def with_address(match):
            made_with = (ec2._nat_gateways.get(match[1].decode()) or {}).get("AllocationId")
            address = ec2._addresses.get(made_with or "")
            if not address:
                return match[0]
            item = f"<allocationId>{made_with}</allocationId><publicIp>{address['PublicIp']}</publicIp>"
            addresses = f"<natGatewayAddressSet><item>{item}</item></natGatewayAddressSet>"
            return match[0].replace(b"<natGatewayAddressSet/>", addresses.encode())

        return status, headers, _NAT_GATEWAY.sub(with_address, body)

    ec2._ACTION_MAP["DescribeNatGateways"] = describe_nat_gateways
    # The tags that come with a call are aws:RequestTag.
    replace(actions, "_TAG_MEMBERS", lambda original: original | {"TagSpecifications"})
    replace(tagging, "resource_tags", resource_tags)
    replace(actions, "request_tag_context", request_context)
    replace(evaluator, "enforce", enforce)


def request_resources(ec2, call, params, value_of):
    """The resources of a call, what it makes first, and whether it brings tags for that. Nothing can be named in what only reads."""
    if call.startswith(("Describe", "Get")):
        return (), False
    made = (f"{_MAKES[call]}/*",) if call in _MAKES else ()
    skipped = ("GatewayId", "NatGatewayId", "VpcPeeringConnectionId") if call in _TARGETS else ()
    values = [value_of(params, name) for name in params if name not in skipped]
    ids = dict.fromkeys(id_ for value in values for id_ in identified(ec2, value))
    found = tuple(f"{_TYPES[kind[1]]}/{id_}" for id_ in ids if (kind := _ID.match(id_)) and kind[1] in _TYPES)
    return (*made, *found), bool(made) and any(_TAGGED.match(name) for name in params)


def identified(ec2, value):
    """The ids that a value stands for: an association is one of a route table with a subnet, or of an address."""
    if value.startswith("rtbassoc-"):
        return [
            id_ for table, record in ec2._route_tables.items() for joined in record.get("Associations", [])
            if joined["RouteTableAssociationId"] == value for id_ in (table, joined.get("SubnetId") or "")
        ]
    if value.startswith("eipassoc-"):
        return [id_ for id_, address in ec2._addresses.items() if address.get("AssociationId") == value]
    return [value]
