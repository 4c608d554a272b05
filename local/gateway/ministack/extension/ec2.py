"""Tags and resources of EC2 calls."""

import re

from .authorization import CALLS, TAGS
from .shared import replace

# Prefixes of EC2 ids with the resource type in their ARNs.
_TYPES = {
    "eipalloc": "elastic-ip", "eni": "network-interface", "fl": "vpc-flow-log", "i": "instance", "igw": "internet-gateway", "lt": "launch-template",
    "nat": "natgateway", "pcx": "vpc-peering-connection", "rtb": "route-table", "sg": "security-group", "snap": "snapshot", "subnet": "subnet",
    "tgw": "transit-gateway", "tgw-attach": "transit-gateway-attachment", "vol": "volume", "vpc": "vpc", "vpce": "vpc-endpoint",
}
# What a call makes (Service Authorization Reference, "Actions, resources, and condition keys for Amazon EC2").
MAKES = {
    "AllocateAddress": "elastic-ip", "CreateInternetGateway": "internet-gateway", "CreateLaunchTemplate": "launch-template",
    "CreateNatGateway": "natgateway", "CreateNetworkInterface": "network-interface", "CreateRouteTable": "route-table",
    "CreateSecurityGroup": "security-group", "CreateSnapshot": "snapshot", "CreateSubnet": "subnet", "CreateVolume": "volume",
    "CreateFlowLogs": "vpc-flow-log", "CreateTransitGateway": "transit-gateway", "CreateTransitGatewayVpcAttachment": "transit-gateway-attachment", "CreateVpc": "vpc", "CreateVpcEndpoint": "vpc-endpoint", "CreateVpcPeeringConnection": "vpc-peering-connection",
}
# What these make is the only resource that they are asked for, whatever they name.
_ASKED_FOR_THAT_ALONE = ("CreateLaunchTemplate",)
# Where a VPC has the blocks that vpc_blocks.py adds.
VPC_BLOCKS = "_fleet_blocks"
# Where a route leads is no resource of the call that makes it.
_TARGETS = ("CreateRoute", "ReplaceRoute")
_ID = re.compile(r"^([a-z]+|tgw-attach)-[0-9a-f]+$")
_TAGGED = re.compile(r"^TagSpecifications?\.\d+\.Tag\.\d+\.Key$")


def extend(_app, _secret):
    """aws:ResourceTag and aws:RequestTag of EC2 resources; every resource that a call names or makes needs an Allow, and so do the tags it brings.

    AWS asks for fewer: some calls leave out a resource that they name. This is stricter than AWS, never kinder.
    """
    from ministack.core import iam_actions as actions
    from ministack.services import ec2, iam

    def tags(arn):
        return {tag["Key"]: tag["Value"] for tag in ec2._tags.get(arn.rsplit("/", 1)[-1]) or ()}

    def request_context(original):
        def keys(service, iam_action, body, params):
            # Tags for instances of a launch template are no tags of the request.
            asked = {name: value for name, value in params.items() if not name.startswith("LaunchTemplateData.")}
            return original(service, iam_action, body, asked if service == "ec2" else params)

        return keys

    def named(call):
        resources, tagged = request_resources(ec2, call)
        call.resources = [call.arn(resource) for resource in resources] or call.resources
        if tagged:
            call.also.append(("ec2", "ec2:CreateTags", call.resources[0], {"ec2:CreateAction": call.operation}))
        if call.operation in ("RunInstances", "AssociateIamInstanceProfile"):
            name = call.param("IamInstanceProfile.Name") or call.param("IamInstanceProfile.Arn").rsplit("/", 1)[-1]
            roles = (iam._instance_profiles.get(name) or {}).get("Roles", []) if name else []
            for role in filter(None, map(iam._roles.get, roles)):
                call.passes_role(role["Arn"], "ec2.amazonaws.com")

    def of_own_account(original):
        """A group is the same with its account as without: ministack revokes no rule that was told with it, as DescribeSecurityGroups tells it."""

        def parse(params, prefix):
            rules = original(params, prefix)
            for pair in (pair for rule in rules for pair in rule["UserIdGroupPairs"]):
                if pair.get("UserId") == ec2.get_account_id():
                    del pair["UserId"]
            return rules

        return parse

    def with_own_traffic(original):
        """The default group of a VPC admits its own members (VPC User Guide, "Default security groups for your VPCs"); ministack leaves the rule out."""

        def create(params):
            before = set(ec2._security_groups)
            answer = original(params)
            for id_ in set(ec2._security_groups) - before:
                own = {"IpProtocol": "-1", "IpRanges": [], "Ipv6Ranges": [], "PrefixListIds": [], "UserIdGroupPairs": [{"GroupId": id_}]}
                ec2._security_groups[id_]["IpPermissions"] = [own]
            return answer

        return create

    for call in ("CreateVpc", "CreateDefaultVpc"):
        ec2._ACTION_MAP[call] = with_own_traffic(ec2._ACTION_MAP[call])
    replace(ec2, "_parse_ip_permissions", of_own_account)
    # The tags that come with a call are aws:RequestTag.
    replace(actions, "_TAG_MEMBERS", lambda original: original | {"TagSpecifications"})
    replace(actions, "request_tag_context", request_context)
    CALLS["ec2"] = named
    TAGS["ec2"] = tags


def request_resources(ec2, call):
    """The resources of a call, what it makes first, and whether it brings tags for that. Nothing can be named in what only reads."""
    if call.operation.startswith(("Describe", "Get")):
        return (), False
    made = (f"{MAKES[call.operation]}/*",) if call.operation in MAKES else ()
    skipped = ("GatewayId", "NatGatewayId", "TransitGatewayId", "VpcPeeringConnectionId") if call.operation in _TARGETS else ()
    named = () if call.operation in _ASKED_FOR_THAT_ALONE else call.params
    values = [call.param(name) for name in named if name not in skipped]
    ids = dict.fromkeys(id_ for value in values for id_ in identified(ec2, value))
    found = tuple(f"{_TYPES[kind[1]]}/{id_}" for id_ in ids if (kind := _ID.match(id_)) and kind[1] in _TYPES)
    return (*made, *found), bool(made) and any(_TAGGED.match(name) for name in call.params)


def identified(ec2, value):
    """The ids that a value stands for: an association is one of a route table with a subnet, of an address, or of a VPC with a block."""
    if value.startswith("vpc-cidr-assoc-"):
        return [id_ for id_, vpc in ec2._vpcs.items() if value in vpc.get(VPC_BLOCKS, {})]
    if value.startswith("rtbassoc-"):
        return [
            id_ for table, record in ec2._route_tables.items() for joined in record.get("Associations", [])
            if joined["RouteTableAssociationId"] == value for id_ in (table, joined.get("SubnetId") or "")
        ]
    if value.startswith("eipassoc-"):
        return [id_ for id_, address in ec2._addresses.items() if address.get("AssociationId") == value]
    return [value]
