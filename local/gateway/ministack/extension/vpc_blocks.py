"""Further IPv4 blocks of a VPC: which EC2 takes, and the subnets in them."""

import ipaddress
import random
import re

from .ec2 import VPC_BLOCKS as _BLOCKS
from .shared import overlap, replace

# Quota of a VPC, the first one included (Amazon VPC quotas, "IPv4 CIDR blocks per VPC").
_MOST = 5
_RFC_1918 = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
_BENCHMARK = "198.19.0.0/16"


def extend(_app, _secret):
    """ministack has one block for each VPC, and makes subnets outside of it.

    Amazon VPC User Guide, "VPC CIDR blocks": sizes, and which ranges go together ("IPv4 CIDR block association restrictions"). EC2 API Reference, "Error
    codes": InvalidVpc.Range, CidrConflict, InvalidVpcCidrBlockAssociationID.NotFound, InvalidSubnet.Range; a block that a subnet is in is not disassociated. A
    local route comes with each block.
    """
    from ministack.services import ec2

    calls = ec2._ACTION_MAP
    originals = {name: calls[name] for name in ("CreateSubnet", "DescribeVpcs", "CreateRouteTable")}

    def refused(code, message):
        return ec2._error(code, message, 400)

    def inside(block, outer):
        return ipaddress.ip_network(block).subnet_of(ipaddress.ip_network(outer))

    def blocks(vpc):
        return [vpc["CidrBlock"], *(block["CidrBlock"] for block in vpc.get(_BLOCKS, {}).values())]

    def range_of(block):
        """Which of the ranges of the guide's table a block is in."""
        return next((each for each in (*_RFC_1918, _BENCHMARK) if inside(block, each)), "routable")

    def forbidden(vpc, block):
        new = range_of(block)
        for old in map(range_of, blocks(vpc)):
            if old != new and new in _RFC_1918 + (_BENCHMARK,):
                return True
        if inside(block, "169.254.0.0/16") or inside(block, "172.31.0.0/16"):
            return True
        return inside(block, "10.0.0.0/16") and any(inside(old, "10.0.0.0/15") for old in blocks(vpc))

    def associate(params):
        vpc = ec2._vpcs.get(ec2._p(params, "VpcId"))
        if not vpc:
            return refused("InvalidVpcID.NotFound", f"The vpc ID '{ec2._p(params, 'VpcId')}' does not exist")
        try:
            block = str(ipaddress.ip_network(ec2._p(params, "CidrBlock"), strict=False))
        except ValueError:
            return refused("InvalidParameterValue", f"Value ({ec2._p(params, 'CidrBlock')}) for parameter cidrBlock is invalid. This is not a valid CIDR block.")
        if not 16 <= ipaddress.ip_network(block).prefixlen <= 28:
            return refused("InvalidVpc.Range", f"The CIDR '{block}' is invalid.")
        if any(overlap(block, other) for other in blocks(vpc)):
            return refused("CidrConflict", f"The CIDR '{block}' conflicts with another CIDR block associated with the VPC")
        if forbidden(vpc, block):
            return refused("InvalidVpc.Range", f"The CIDR '{block}' is restricted. Use a CIDR from the same private address range as the current VPC CIDR, or use a publicly-routable CIDR.")
        if len(blocks(vpc)) >= _MOST:
            return refused("CidrBlockLimitExceeded", "The maximum number of CIDR blocks for the VPC has been reached.")
        for table in tables(vpc):
            table["Routes"].append(local_route(block))
        id_ = "vpc-cidr-assoc-" + "".join(random.choices("0123456789abcdef", k=17))
        vpc.setdefault(_BLOCKS, {})[id_] = {"CidrBlock": block}
        return answer("AssociateVpcCidrBlock", vpc, id_, block, "associating")

    def disassociate(params):
        id_ = ec2._p(params, "AssociationId")
        vpc = next((vpc for vpc in ec2._vpcs.values() if id_ in vpc.get(_BLOCKS, {})), None)
        if not vpc:
            return refused("InvalidVpcCidrBlockAssociationID.NotFound", f"The vpc CIDR block association ID '{id_}' does not exist")
        block = vpc[_BLOCKS][id_]["CidrBlock"]
        if any(subnet["VpcId"] == vpc["VpcId"] and inside(subnet["CidrBlock"], block) for subnet in ec2._subnets.values()):
            return refused("DependencyViolation", f"The vpc CIDR block '{block}' has dependencies and cannot be disassociated.")
        del vpc[_BLOCKS][id_]
        for table in tables(vpc):
            table["Routes"] = [route for route in table["Routes"] if (route.get("DestinationCidrBlock"), route.get("GatewayId")) != (block, "local")]
        return answer("DisassociateVpcCidrBlock", vpc, id_, block, "disassociating")

    def answer(name, vpc, id_, block, state):
        return ec2._xml(200, f"{name}Response", f"<vpcId>{vpc['VpcId']}</vpcId><cidrBlockAssociation>{told(id_, block, state)}</cidrBlockAssociation>")

    def told(id_, block, state):
        return f"<associationId>{id_}</associationId><cidrBlock>{block}</cidrBlock><cidrBlockState><state>{state}</state></cidrBlockState>"

    def local_route(block):
        return {"DestinationCidrBlock": block, "GatewayId": "local", "State": "active", "Origin": "CreateRouteTable"}

    def tables(vpc):
        return [table for table in ec2._route_tables.values() if table["VpcId"] == vpc["VpcId"]]

    def create_route_table(params):
        before = set(ec2._route_tables)
        status, headers, body = originals["CreateRouteTable"](params)
        for id_ in set(ec2._route_tables) - before:
            table = ec2._route_tables[id_]
            for block in blocks(ec2._vpcs[table["VpcId"]])[1:]:
                table["Routes"].append(local_route(block))
        return status, headers, body

    def create_subnet(params):
        vpc, block = ec2._vpcs.get(ec2._p(params, "VpcId")), ec2._p(params, "CidrBlock")
        try:
            network = ipaddress.ip_network(block, strict=False)
        except ValueError:
            return originals["CreateSubnet"](params)
        if vpc and not any(inside(str(network), each) for each in blocks(vpc)):
            return refused("InvalidSubnet.Range", f"The CIDR '{block}' is invalid.")
        return originals["CreateSubnet"](params)

    def describe_vpcs(params):
        """With the filter by an association, which ministack doesn't know."""
        filters = ec2._parse_filters(params)
        wanted = filters.get("cidr-block-association.association-id")
        if wanted is None:
            return originals["DescribeVpcs"](params)
        found = [vpc["VpcId"] for vpc in ec2._vpcs.values() if set(wanted) & set(vpc.get(_BLOCKS, {}))]
        items = "".join(ec2._vpc_fields_xml(ec2._vpcs[id_], tag="item") for id_ in found)
        return ec2._xml(200, "DescribeVpcsResponse", f"<vpcSet>{items}</vpcSet>")

    def as_aws_says(original):
        def xml(vpc, tag="item"):
            more = "".join(f"<item>{told(id_, block['CidrBlock'], 'associated')}</item>" for id_, block in vpc.get(_BLOCKS, {}).items())
            return re.sub(r"</cidrBlockAssociationSet>", f"{more}</cidrBlockAssociationSet>", original(vpc, tag))

        return xml

    replace(ec2, "_vpc_fields_xml", as_aws_says)
    calls.update(
        AssociateVpcCidrBlock=associate, DisassociateVpcCidrBlock=disassociate, CreateSubnet=create_subnet, DescribeVpcs=describe_vpcs,
        CreateRouteTable=create_route_table,
    )
