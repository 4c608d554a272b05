"""Which resources a request asks for: filters with an empty value, and those of zones, Elastic IP addresses and VPC endpoints."""

import itertools
import re

from .nat_gateways import ENDED, association_of, interface_of
from .shared import replace

# Filters by the fields that ministack has (EC2 API Reference, DescribeAddresses and DescribeVpcEndpoints).
_OF_ADDRESSES = {"allocation-id": "AllocationId", "association-id": "AssociationId", "instance-id": "InstanceId", "public-ip": "PublicIp"}
_OF_ENDPOINTS = {
    "service-name": "ServiceName", "vpc-endpoint-id": "VpcEndpointId", "vpc-endpoint-state": "State", "vpc-endpoint-type": "VpcEndpointType",
    "vpc-id": "VpcId",
}
_TAGS = ("tag-key", "tag-value")
# us-east-1 has six zones, of which EKS offers five (AWS Regions and Availability Zones; EKS User Guide, "VPC and subnet considerations"); ministack has
# three of each region.
_ZONES = {"us-east-1": "abcdef"}


def extend(_app, _secret):
    """ministack tells of all of them whatever the filters, and of no address that a NAT gateway uses it.

    A controller that looks for its own would take, or delete, another's (cluster-api-provider-aws 2.11.1, eips.go and vpc.go).
    """
    from ministack.services import ec2

    def every_value(_original):
        """ministack drops an empty value from the parameters and stops reading there: it takes `["", "1"]` for no value, which nothing matches.

        So the AWS Load Balancer Controller asks for subnets with a role (pkg/networking/subnet_resolver.go).
        """

        def parse(params):
            numbers = itertools.takewhile(lambda at: ec2._p(params, f"Filter.{at}.Name"), itertools.count(1))
            return {ec2._p(params, f"Filter.{at}.Name"): values(params, at) for at in numbers}

        def values(params, filter_):
            named = ((re.fullmatch(rf"Filter\.{filter_}\.Value\.(\d+)", name), name) for name in params)
            return [ec2._p(params, name) for _, name in sorted((int(match[1]), name) for match, name in named if match)]

        return parse

    def describe(records, id_field, fields, response, element, item):
        """A call that tells of the records that a request names and its filters let through."""

        def call(params):
            filters = ec2._parse_filters(params)
            unknown = [name for name in filters if name not in fields and name not in _TAGS and not name.startswith("tag:")]
            if unknown:
                return ec2._error("InvalidParameterValue", f"The filter '{unknown[0]}' is invalid", 400)
            asked = {fields[name]: values for name, values in filters.items() if name in fields}
            ids = ec2._parse_member_list(params, id_field)

            def is_asked_for(record):
                return (
                    (not ids or record[id_field] in ids)
                    and all(any(ec2._glob_match(value, record.get(field) or "") for value in values) for field, values in asked.items())
                    and ec2._resource_matches_tag_filters(record[id_field], filters)
                )

            found = "".join(item(record) for record in records() if is_asked_for(record))
            return ec2._xml(200, response, f"<{element}>{found}</{element}>")

        return call

    def addresses():
        return [{**address, **use(address)} for address in ec2._addresses.values()]

    def use(address):
        """What uses the address: as EC2 does, a NAT gateway by an association too, with its network interface."""
        users = (nat for nat in ec2._nat_gateways.values() if nat["AllocationId"] == address["AllocationId"] and nat["State"] not in ENDED)
        user = next(users, None)
        if address["AssociationId"] or not user:
            return {"AssociationId": address["AssociationId"] or "", "NetworkInterfaceId": ""}
        return {"AssociationId": association_of(user), "NetworkInterfaceId": interface_of(user)}

    def address_item(address):
        optional = "".join(
            f"<{name}>{address[field]}</{name}>"
            for name, field in (("associationId", "AssociationId"), ("instanceId", "InstanceId"), ("networkInterfaceId", "NetworkInterfaceId"))
            if address[field]
        )
        return (
            f"<item><allocationId>{address['AllocationId']}</allocationId><publicIp>{address['PublicIp']}</publicIp>"
            f"<domain>{address['Domain']}</domain>{optional}{ec2._tag_set_xml(address['AllocationId'])}</item>"
        )

    original_zones = ec2._ACTION_MAP["DescribeAvailabilityZones"]

    def names():
        region = ec2.get_region()
        return [f"{region}{letter}" for letter in _ZONES.get(region, "abc")]

    def zone_name(_original):
        return lambda id_: next((name for name in names() if ec2._az_id_for_zone_name(name) == id_), None)

    def zones(params):
        """ministack answers with three zones whatever the request names; the AWS Load Balancer Controller panics at zones that it did not name

        (pkg/networking/az_info_provider.go).
        """
        status, headers, body = original_zones(params)
        first = ec2.get_region() + "a"
        model = re.search(r"<item>.*?</item>", body.decode(), re.DOTALL).group()
        items = [model.replace(f"{first}<", f"{name}<").replace(ec2._az_id_for_zone_name(first), ec2._az_id_for_zone_name(name)) for name in names()]
        asked = set(ec2._parse_member_list(params, "ZoneId")) | set(ec2._parse_member_list(params, "ZoneName"))
        kept = [item for item in items if not asked or asked & set(re.findall(r"<zone(?:Id|Name)>([^<]+)<", item))]
        found = f"<availabilityZoneInfo>{''.join(kept)}</availabilityZoneInfo>"
        return status, headers, re.sub(r"<availabilityZoneInfo>.*</availabilityZoneInfo>", found, body.decode(), flags=re.DOTALL).encode()

    replace(ec2, "_parse_filters", every_value)
    replace(ec2, "_zone_name_for_az_id", zone_name)
    ec2._ACTION_MAP.update(
        DescribeAvailabilityZones=zones,
        DescribeAddresses=describe(addresses, "AllocationId", _OF_ADDRESSES, "DescribeAddressesResponse", "addressesSet", address_item),
        DescribeVpcEndpoints=describe(
            lambda: ec2._vpc_endpoints.values(), "VpcEndpointId", _OF_ENDPOINTS, "DescribeVpcEndpointsResponse", "vpcEndpointSet",
            lambda endpoint: ec2._vpce_fields_xml(endpoint),
        ),
    )
