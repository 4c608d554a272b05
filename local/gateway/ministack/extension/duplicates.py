"""What EC2 refuses to make a second time."""

from .shared import overlap

# By number, as EC2 takes them too.
_PROTOCOLS = {"1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6", "all": "-1"}


def extend(_app, _secret):
    """ministack makes overlapping subnets, a second association of a subnet, a second route to a destination, and calls a rule made that is there.

    None of these calls is idempotent (EC2 Developer Guide, "Ensuring idempotency in Amazon EC2 API requests"); where the messages are from:
    docs/decisions/0040-the-embedded-cloud-is-never-kinder-than-aws.md. A call makes none of its rules when one of them is there.
    """
    from ministack.services import ec2

    calls = ec2._ACTION_MAP
    originals = dict(calls)

    def create_subnet(params):
        vpc, block = ec2._p(params, "VpcId"), ec2._p(params, "CidrBlock")
        taken = [subnet["CidrBlock"] for subnet in ec2._subnets.values() if subnet["VpcId"] == vpc]
        if block and any(overlap(block, other) for other in taken):
            return ec2._error("InvalidSubnet.Conflict", f"The CIDR '{block}' conflicts with another subnet", 400)
        return originals["CreateSubnet"](params)

    def associate_route_table(params):
        table, subnet = ec2._p(params, "RouteTableId"), ec2._p(params, "SubnetId")
        joined = (each.get("SubnetId") for record in ec2._route_tables.values() for each in record["Associations"])
        if subnet and subnet in joined:
            message = f"the specified association for route table {table} conflicts with an existing association"
            return ec2._error("Resource.AlreadyAssociated", message, 400)
        return originals["AssociateRouteTable"](params)

    def create_route(params):
        table, block = ec2._route_tables.get(ec2._p(params, "RouteTableId")), ec2._p(params, "DestinationCidrBlock")
        if table and block and any(route.get("DestinationCidrBlock") == block for route in table["Routes"]):
            return ec2._error("RouteAlreadyExists", f"The route identified by {block} already exists.", 400)
        return originals["CreateRoute"](params)

    def authorize(action, kept):
        def call(params):
            group = ec2._security_groups.get(ec2._p(params, "GroupId"))
            there = {rule for permission in (group or {}).get(kept, []) for rule in rules(permission)}
            asked = (rule for permission in ec2._parse_ip_permissions(params, "IpPermissions") for rule in rules(permission))
            twice = next((rule for rule in asked if rule in there), None)
            if twice:
                return ec2._error("InvalidPermission.Duplicate", f'the specified rule "{described(*twice)}" already exists', 400)
            return originals[action](params)

        return call

    calls.update(
        CreateSubnet=create_subnet, AssociateRouteTable=associate_route_table, CreateRoute=create_route,
        AuthorizeSecurityGroupIngress=authorize("AuthorizeSecurityGroupIngress", "IpPermissions"),
        AuthorizeSecurityGroupEgress=authorize("AuthorizeSecurityGroupEgress", "IpPermissionsEgress"),
    )


def rules(permission):
    """The rules of a permission, each with one peer: EC2 compares these, without their descriptions."""
    protocol = _PROTOCOLS.get(permission["IpProtocol"].lower(), permission["IpProtocol"].lower())
    ports = () if protocol == "-1" else (permission.get("FromPort"), permission.get("ToPort"))
    peers = (
        peer.get(name) if isinstance(peer, dict) else peer
        for kind, name in (("IpRanges", "CidrIp"), ("Ipv6Ranges", "CidrIpv6"), ("PrefixListIds", "PrefixListId"), ("UserIdGroupPairs", "GroupId"))
        for peer in permission.get(kind, [])
    )
    return [(peer, protocol, *ports) for peer in peers]


def described(peer, protocol, *ports):
    """A rule as EC2 names it in its refusal."""
    if protocol == "-1":
        return f"peer: {peer}, ALL, ALLOW"
    if protocol in ("tcp", "udp"):
        return f"peer: {peer}, {protocol.upper()}, from port: {ports[0]}, to port: {ports[1]}, ALLOW"
    return f"peer: {peer}, protocol: {protocol}, ALLOW"
