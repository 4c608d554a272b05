"""Elastic IP addresses: which of them a request asks for, and what uses them."""

from .nat_gateways import ENDED

# Filters whose field ministack knows (EC2 API Reference, DescribeAddresses).
_FIELDS = {"allocation-id": "AllocationId", "association-id": "AssociationId", "instance-id": "InstanceId", "public-ip": "PublicIp"}
_TAGS = ("tag-key", "tag-value")


def extend(_app, _secret):
    """ministack tells of every address, whatever the filters, and of none that a NAT gateway uses it.

    A controller that looks for a free one of its own would take another's (cluster-api-provider-aws 2.11.1, eips.go).
    """
    from ministack.services import ec2

    def association(address):
        """What uses the address: as EC2 does, a NAT gateway by an association too."""
        users = (nat for nat in ec2._nat_gateways.values() if nat["AllocationId"] == address["AllocationId"] and nat["State"] not in ENDED)
        user = next(users, None)
        return address["AssociationId"] or (user and user["NatGatewayId"].replace("nat-", "eipassoc-")) or ""

    def is_asked_for(address, ids, filters):
        fields = {**address, "AssociationId": association(address)}
        asked = {_FIELDS[name]: values for name, values in filters.items() if name in _FIELDS}
        return (
            (not ids or address["AllocationId"] in ids)
            and all(any(ec2._glob_match(value, fields[field] or "") for value in values) for field, values in asked.items())
            and ec2._resource_matches_tag_filters(address["AllocationId"], filters)
        )

    def describe_addresses(params):
        filters = ec2._parse_filters(params)
        unknown = [name for name in filters if name not in _FIELDS and name not in _TAGS and not name.startswith("tag:")]
        if unknown:
            return ec2._error("InvalidParameterValue", f"The filter '{unknown[0]}' is invalid", 400)
        ids = ec2._parse_member_list(params, "AllocationId")
        found = [address for address in ec2._addresses.values() if is_asked_for(address, ids, filters)]
        return ec2._xml(200, "DescribeAddressesResponse", f"<addressesSet>{''.join(map(item, found))}</addressesSet>")

    def item(address):
        used = association(address)
        return (
            f"<item><allocationId>{address['AllocationId']}</allocationId><publicIp>{address['PublicIp']}</publicIp>"
            f"<domain>{address['Domain']}</domain>{f'<associationId>{used}</associationId>' if used else ''}"
            f"{f'''<instanceId>{address['InstanceId']}</instanceId>''' if address['InstanceId'] else ''}"
            f"{ec2._tag_set_xml(address['AllocationId'])}</item>"
        )

    ec2._ACTION_MAP["DescribeAddresses"] = describe_addresses
