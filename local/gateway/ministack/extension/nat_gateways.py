"""NAT gateways: their addresses, and those that EC2 fails to make."""

import re

# In these a NAT gateway holds nothing.
ENDED = ("deleted", "failed")

association_of = lambda nat: nat["NatGatewayId"].replace("nat-", "eipassoc-")
interface_of = lambda nat: nat["NatGatewayId"].replace("nat-", "eni-")

_ITEM = re.compile(rb"<natGatewayId>([^<]+)</natGatewayId>.*?<natGatewayAddressSet/>", re.DOTALL)


def extend(_app, _secret):
    """ministack tells no address of a NAT gateway, and makes several with one address.

    EC2 accepts the second one and then fails to make it: `failureCode` and `failureMessage` of NatGateway in the EC2 API Reference say why, in the words
    of kubernetes-sigs/cluster-api-provider-aws#1752. AWS shows a failed one for about an hour (Amazon VPC User Guide, "Troubleshoot NAT gateways"),
    here it stays until somebody deletes it.
    """
    from ministack.services import ec2

    calls = ec2._ACTION_MAP
    create, describe, disassociate = calls["CreateNatGateway"], calls["DescribeNatGateways"], calls["DisassociateAddress"]

    def is_in_use(allocation):
        users = (nat for nat in ec2._nat_gateways.values() if nat["AllocationId"] == allocation and nat["State"] not in ENDED)
        return any(users) or bool((ec2._addresses.get(allocation) or {}).get("AssociationId"))

    def create_nat_gateway(params):
        # In the words of aws-samples/appmod-blueprints#718.
        if ec2._p(params, "VpcId") and ec2._p(params, "AvailabilityMode") != "regional":
            return ec2._error("MissingParameter", "VpcId is not supported for a NAT gateway with availability mode zonal", 400)
        allocation = ec2._p(params, "AllocationId")
        if not allocation or not is_in_use(allocation):
            return create(params)
        before = set(ec2._nat_gateways)
        status, headers, body = create(params)
        for made in set(ec2._nat_gateways) - before:
            message = f"Elastic IP address [{allocation}] is already associated"
            ec2._nat_gateways[made].update(State="failed", FailureCode="Resource.AlreadyAssociated", FailureMessage=message)
        return status, headers, body.replace(b"<state>available</state>", b"<state>pending</state>")

    def describe_nat_gateways(params):
        status, headers, body = describe(params)

        def completed(match):
            return match[0].replace(b"<natGatewayAddressSet/>", more(match[1].decode()).encode())

        return status, headers, _ITEM.sub(completed, body)

    def more(id_):
        """What ministack leaves out: the address, and why it failed. A failed one is associated with none."""
        nat = ec2._nat_gateways.get(id_) or {}
        address = ec2._addresses.get(nat.get("AllocationId") or "")
        failed = nat.get("State") == "failed"
        reason = f"<failureCode>{nat['FailureCode']}</failureCode><failureMessage>{nat['FailureMessage']}</failureMessage>" if failed else ""
        if not address:
            return f"{reason}<natGatewayAddressSet/>"
        allocation = f"<allocationId>{nat['AllocationId']}</allocationId>"
        held = "" if failed else (
            f"<publicIp>{address['PublicIp']}</publicIp><associationId>{association_of(nat)}</associationId>"
            f"<networkInterfaceId>{interface_of(nat)}</networkInterfaceId>"
        )
        return f"{reason}<natGatewayAddressSet><item>{allocation}{held}</item></natGatewayAddressSet>"

    def disassociate_address(params):
        """AWS manages the address of a NAT gateway, and users can't disassociate it (hashicorp/terraform-provider-aws#4675)."""
        association = ec2._p(params, "AssociationId")
        if any(association_of(nat) == association for nat in ec2._nat_gateways.values() if nat["State"] not in ENDED):
            return ec2._error("AuthFailure", "You do not have permission to access the specified resource.", 400)
        return disassociate(params)

    calls.update(CreateNatGateway=create_nat_gateway, DescribeNatGateways=describe_nat_gateways, DisassociateAddress=disassociate_address)
