"""VPC peering: what EC2 refuses, and routes that change to a connection."""

from .shared import overlap


def extend(_app, _secret):
    """ministack peers VPCs that do not exist and VPCs whose blocks overlap, accepts twice, and drops the connection of a replaced route.

    EC2 API Reference, CreateVpcPeeringConnection (overlapping blocks: the connection becomes `failed`) and AcceptVpcPeeringConnection
    (it must be in `pending-acceptance`).
    """
    from ministack.core.responses import get_account_id, get_region
    from ministack.services import ec2

    calls = ec2._ACTION_MAP
    create, accept, replace = (calls[name] for name in ("CreateVpcPeeringConnection", "AcceptVpcPeeringConnection", "ReplaceRoute"))

    def create_peering(params):
        own, peer = ec2._p(params, "VpcId"), ec2._p(params, "PeerVpcId")
        here = (ec2._p(params, "PeerOwnerId") or get_account_id(), ec2._p(params, "PeerRegion") or get_region())
        known = [own] + ([peer] if here == (get_account_id(), get_region()) else [])
        for vpc in known:
            if vpc and vpc not in ec2._vpcs:
                return ec2._error("InvalidVpcID.NotFound", f"The vpc ID '{vpc}' does not exist", 400)
        before = set(ec2._vpc_peering)
        answer = create(params)
        for made in set(ec2._vpc_peering) - before:
            if len(known) == 2 and overlap(ec2._vpcs[own]["CidrBlock"], ec2._vpcs[peer]["CidrBlock"]):
                reason = "Failed due to incorrect VPC-ID, Account ID, or overlapping CIDR range"
                ec2._set_vpc_peering_status(ec2._vpc_peering[made], "failed", reason)
        return answer

    def accept_peering(params):
        connection = ec2._vpc_peering.get(ec2._p(params, "VpcPeeringConnectionId"))
        if connection and connection["Status"]["Code"] != "pending-acceptance":
            state, id_ = connection["Status"]["Code"], connection["VpcPeeringConnectionId"]
            return ec2._error("InvalidStateTransition", f"Invalid state transition for {id_}, attempted to transition from {state} to active", 400)
        return accept(params)

    def replace_route(params):
        answer = replace(params)
        connection = ec2._p(params, "VpcPeeringConnectionId")
        table = ec2._route_tables.get(ec2._p(params, "RouteTableId"))
        for route in table["Routes"] if table and connection else ():
            if route.get("DestinationCidrBlock") == ec2._p(params, "DestinationCidrBlock"):
                route.pop("GatewayId", None)
                route["VpcPeeringConnectionId"] = connection
        return answer

    calls.update(CreateVpcPeeringConnection=create_peering, AcceptVpcPeeringConnection=accept_peering, ReplaceRoute=replace_route)
